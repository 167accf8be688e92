//! Messages of the program that `troubleshooting.md` quotes.

use std::path::Path;

use crate::page::{Page, root};

/// Returns the source files of the binary, with string literals that continue on the next line joined.
fn sources() -> Vec<String> {
    let mut sources = Vec::new();
    for folder in std::fs::read_dir(root().join("crates")).expect("crates") {
        gather(&folder.expect("an entry").path().join("src"), &mut sources);
    }
    sources
}

fn gather(folder: &Path, sources: &mut Vec<String>) {
    for entry in std::fs::read_dir(folder).expect("a source directory") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            gather(&path, sources);
        } else {
            let text = std::fs::read_to_string(&path).expect("a source file");
            let mut lines = text.split("\\\n");
            let first = lines.next().unwrap_or_default().to_owned();
            sources.push(lines.fold(first, |joined, line| joined + line.trim_start()));
        }
    }
}

/// A heading, or the first cell of a row, that starts with code quotes a message of the program; `…` is a part that varies.
#[test]
fn words_that_are_quoted_are_in_the_source() {
    let page = Page::read(&root().join("docs/src/troubleshooting.md"));
    let sources = sources();
    let text = std::fs::read_to_string(&page.path).expect("the page");
    let tables = text.split("| Message | ").skip(1).map(|table| table.split("\n\n").next().unwrap_or_default());
    let cells = tables.flat_map(str::lines).filter_map(|line| line.strip_prefix("| ")?.split(" | ").next());
    let all = page.headings.iter().map(String::as_str).chain(cells);
    let quoted: Vec<&str> = all.filter(|text| text.starts_with('`')).collect();
    assert!(quoted.len() > 40, "{quoted:?}");
    let is_said = |heading: &str| {
        let words: Vec<&str> =
            heading.trim_matches('`').split('…').map(str::trim).filter(|it| !it.is_empty()).collect();
        sources.iter().any(|source| words.iter().all(|words| source.contains(words)))
    };
    let not_said: Vec<&str> = quoted.into_iter().filter(|heading| !is_said(heading)).collect();
    assert!(not_said.is_empty(), "not in the source of the program: {not_said:#?}");
}
