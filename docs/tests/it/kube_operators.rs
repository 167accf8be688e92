//! The page on operators of kube: its diffs, and the operator that they result in.

use std::fs;

use kube_endpoints_testing::repository::{root, text_of};

use crate::page::Page;

/// The operator of the page.
#[expect(clippy::disallowed_methods, clippy::unwrap_used, reason = "code of an author, with its tests")]
mod operator {
    mod conflicts;

    include!("../../samples/kube_operator.rs");

    #[tokio::test(start_paused = true)]
    async fn it_writes_and_repairs() -> TestResult {
        writes_and_repairs().await
    }

    #[tokio::test(start_paused = true)]
    async fn it_survives_failures() -> TestResult {
        survives_failures().await
    }
}

fn blocks(page: &str, language: &str) -> Vec<String> {
    let page = Page::read(&root().join("docs/src").join(page));
    let blocks = page.blocks.into_iter().filter(|block| block.language.as_deref() == Some(language));
    blocks.map(|block| block.text).collect()
}

/// Returns the lines of a part of a diff without those that start with `other`.
fn side(part: &str, other: char) -> String {
    part.lines()
        .filter(|line| !line.starts_with(other))
        .flat_map(|line| [line.get(1..).unwrap_or_default(), "\n"])
        .collect()
}

/// `UPDATE_DOCS=1` writes the file.
#[test]
fn the_diffs_of_the_page_make_the_operator() {
    let before = blocks("testing-an-operator.md", "rust").swap_remove(0);
    let is_shown = |line: &&str| *line != "#" && !line.starts_with("# ");
    let mut code: String = before.lines().filter(is_shown).flat_map(|line| [line, "\n"]).collect();
    let diffs = blocks("kube-operators.md", "diff");
    assert!(diffs.len() >= 2, "{diffs:?}");
    for part in diffs.iter().flat_map(|diff| diff.split("@@\n")) {
        let (old, new) = (side(part, '+'), side(part, '-'));
        assert_eq!(code.matches(&old).count(), 1, "not once in the code so far:\n{old}");
        code = code.replace(&old, &new);
    }
    let path = root().join("docs/samples/kube_operator.rs");
    if std::env::var_os("UPDATE_DOCS").is_some() {
        fs::write(&path, &code).expect("the file");
    }
    assert_eq!(text_of(&path), code, "run the tests with UPDATE_DOCS=1");
}
