//! ARCHITECTURE.md, "Invariants": every `select!` is `biased`, so that the order in which futures are polled
//! depends on nothing but the code. Without it, tokio draws the first branch at random and runs are not repeatable.

use kube_endpoints_testing::repository::{sources, text_of};

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
    let mut files = sources(&["crates", "testing", "tools"]);
    assert!(files.len() > 100, "the sources were not found");
    files.retain(|file| !EXEMPT.iter().any(|exempt| file.starts_with(exempt)));
    let lines = |file: &String| unbiased(&text_of(file)).into_iter().map(|line| format!("{file}:{line}")).collect();
    let found: Vec<String> = files.iter().flat_map::<Vec<_>, _>(lines).collect();
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
