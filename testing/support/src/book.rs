//! Tables of the book that tests write.

use std::fs;

use crate::repository::{root, text_of};

/// Fails unless the part of a page of the book between the comments `NAME:start` and `NAME:end` is this table. If the
/// environment has `UPDATE_DOCS`, writes it there.
#[track_caller]
pub fn assert_table(page: &str, name: &str, table: &str) {
    let path = root().join(format!("docs/src/{page}.md"));
    let text = text_of(&path);
    let (before, rest) = text.split_once(&format!("<!-- {name}:start -->\n")).expect("the start of the table");
    let (found, after) = rest.split_once(&format!("<!-- {name}:end -->")).expect("the end of the table");
    let expected = format!("\n{table}\n");
    if std::env::var_os("UPDATE_DOCS").is_some() {
        let text = format!("{before}<!-- {name}:start -->\n{expected}<!-- {name}:end -->{after}");
        fs::write(&path, text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    } else {
        assert_eq!(found, expected, "run the tests with UPDATE_DOCS=1");
    }
}
