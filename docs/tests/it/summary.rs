//! Tests of the table of contents and of the code blocks.

use std::collections::BTreeSet;

use kube_endpoints_testing::repository::{root, text_of};

use crate::page::{Page, book};

#[test]
fn the_summary_names_every_page_once() {
    let summary = Page::read(&root().join("docs/src/SUMMARY.md"));
    let named: BTreeSet<String> = summary.links.iter().cloned().collect();
    assert_eq!(named.len(), summary.links.len(), "duplicate entry: {:?}", summary.links);
    let pages = book().into_iter().map(|page| page.name_in_book());
    let there: BTreeSet<String> = pages.filter(|name| name != "SUMMARY.md").collect();
    assert_eq!(named, there, "left: entries of docs/src/SUMMARY.md, right: files in docs/src");
}

/// Only pages that `docs/lib.rs` includes are compiled. In these, rustdoc compiles code blocks without a language too.
#[test]
fn rust_is_compiled() {
    let compiled = text_of("docs/lib.rs");
    let mut samples = 0;
    for page in book() {
        let known = compiled.contains(&format!("\"src/{}\"", page.name_in_book()));
        for block in &page.blocks {
            let language = block.language.as_deref().unwrap_or_default();
            let is_rust = language.split(',').any(|it| it == "rust");
            samples += usize::from(is_rust);
            assert!(known || !is_rust, "{} contains Rust and is not in docs/lib.rs", page.name());
            assert!(!known || !language.is_empty(), "{}: code block without a language: {}", page.name(), block.text);
            assert!(!language.contains("ignore"), "{}: `ignore` is not allowed: {}", page.name(), block.text);
        }
    }
    assert!(samples > 0);
}
