//! ARCHITECTURE.md, "Invariants": every `select!` is `biased`, so that the order in which futures are polled
//! depends on nothing but the code. Without it, tokio draws the first branch at random and runs are not repeatable.

use std::path::Path;

use crate::sources::rust_files;

/// Crates and files whose `select!` may be unbiased.
const EXEMPT: &[&str] =
    &["tools/devcluster/", "testing/apiserver/src/namespace_cleanup.rs", "testing/apiserver/src/http/connection.rs"];

/// Line numbers of every `select!` that is not biased; comments are ignored.
fn unbiased(source: &str) -> Vec<usize> {
    let code = |line: &&str| !line.is_empty() && !line.starts_with("//");
    let lines: Vec<&str> = source.lines().map(str::trim).collect();
    let is_unbiased = |at: &usize| {
        let Some((_, rest)) = lines[*at].split_once("select! {") else { return lines[*at].contains("select!") };
        let first = std::iter::once(rest.trim()).chain(lines[at + 1..].iter().copied()).find(code);
        !first.is_some_and(|line| line.starts_with("biased;"))
    };
    (0..lines.len()).filter(|at| code(&lines[*at])).filter(is_unbiased).map(|at| at + 1).collect()
}

#[test]
fn every_select_is_biased() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let (mut files, mut found) = (Vec::new(), Vec::new());
    let folders =
        ["crates", "testing", "tools"].map(|it| std::fs::read_dir(root.join(it)).expect("a folder of crates"));
    for entry in folders.into_iter().flatten() {
        let source = entry.expect("an entry").path().join("src");
        if source.is_dir() {
            rust_files(&source, &mut files);
        }
    }
    files.sort();
    assert!(files.len() > 100, "the sources were not found");
    for file in files {
        let name = file.strip_prefix(&root).expect("a file in the folder").display().to_string();
        if !EXEMPT.iter().any(|exempt| name.starts_with(exempt)) {
            let source = std::fs::read_to_string(&file).expect("a source");
            found.extend(unbiased(&source).into_iter().map(|line| format!("{name}:{line}")));
        }
    }
    assert!(found.is_empty(), "start with `biased;` and order the branches so that none starves: {found:#?}");
}

#[test]
fn an_unbiased_select_is_found() {
    let source = "\
tokio::select! {
    // Why.
    biased;
    () = one => {}
}
let it = select! {
    () = one => {}
    () = two => {}
};
// select! { in a comment
select!(() = one => {});
select! { biased; () = one => {} }
";
    assert_eq!(unbiased(source), [6, 11]);
}
