//! Messages of the program that `troubleshooting.md` quotes.

use kube_endpoints_testing::repository::{root, sources, text_of};

use crate::page::Page;

/// Returns the source files of the binary, with string literals that continue on the next line joined.
fn joined_sources() -> Vec<String> {
    let joined = |file: &String| {
        let text = text_of(file);
        let mut lines = text.split("\\\n");
        let first = lines.next().unwrap_or_default().to_owned();
        lines.fold(first, |joined, line| joined + line.trim_start())
    };
    sources(&["crates"]).iter().map(joined).collect()
}

/// A heading, or the first cell of a row, that starts with code quotes a message of the program; `…` is a part that varies.
#[test]
fn words_that_are_quoted_are_in_the_source() {
    let page = Page::read(&root().join("docs/src/troubleshooting.md"));
    let sources = joined_sources();
    let text = text_of(&page.path);
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
