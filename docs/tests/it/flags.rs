//! Flags that the pages mention.

use std::collections::BTreeSet;

use crate::page::{Page, book, elsewhere};

/// Flags of other programs that pages mention without the program.
const OF_OTHERS: &[&str] = &[
    // Helm
    "set",
    // kubectl endpoints
    "accept-unknown",
    "all",
    "at",
    "batch-size",
    "endpoints-retired",
    "for",
    "history",
    "max-age",
    "max-size",
    "merged-log",
    "pause",
    "pod",
    "quiet",
    "since",
    "timeout",
    "token",
    "top",
    "until",
    "url",
    "wait",
    "watch",
    "watch-audit",
    // kubelet, kube-apiserver
    "node-ip",
    "request-timeout",
];

/// Returns the names of the binary's flags and of those of kube-controller-manager that it recognizes.
fn known() -> BTreeSet<String> {
    let reference = include_str!("../../src/flags.md");
    let names = reference.match_indices("--").map(|(at, _)| name(&reference[at..]));
    names.filter(|name| !name.is_empty()).chain(OF_OTHERS.iter().map(|it| (*it).to_owned())).collect()
}

/// Returns the name in `--name=value`.
fn name(text: &str) -> String {
    let name = text.trim_start_matches('-');
    name.chars().take_while(|it| it.is_ascii_alphanumeric() || *it == '-').collect()
}

/// Returns whether a flag exists. In `--leader-elect-*`, the text before `*` is a prefix.
fn is_known(known: &BTreeSet<String>, word: &str) -> bool {
    let name = name(word);
    if word.contains('*') { known.iter().any(|it| it.starts_with(&name)) } else { known.contains(&name) }
}

/// Returns the flags that a page mentions: alone, or in command lines and manifests of the binary or of
/// kube-controller-manager. Command lines of other programs are ignored.
fn named(page: &Page) -> Vec<String> {
    let commands = page.blocks.iter().map(|block| block.text.replace("\\\n", " "));
    let lines: Vec<String> = commands.flat_map(|text| text.lines().map(str::to_owned).collect::<Vec<_>>()).collect();
    let mut found = Vec::new();
    for text in page.spans.iter().chain(&lines) {
        let text = text.trim().trim_start_matches("$ ").trim_start_matches("- ");
        let command = text.split_whitespace().next().filter(|it| !it.contains('=')).unwrap_or_default();
        // `-- --exit` are arguments of a program that `cargo run` starts; `---` separates YAML documents.
        if (text.starts_with("--") && command != "--" && command != "---") || command.ends_with("controller-manager") {
            found.extend(text.split_whitespace().filter(|word| word.starts_with("--")).map(str::to_owned));
        }
    }
    found
}

const LIBRARIES_AND_TOOLS: [&str; 5] =
    ["crates/", "testing/apiserver/", "testing/simulation/", "testing/support/", "tools/"];

#[test]
fn flags_that_are_named_exist() {
    let known = known();
    assert!(known.contains("leader-elect") && known.contains("cluster-cidr"), "{known:?}");
    // The other pages are about libraries, benchmarks and simulations.
    let for_operators = |page: &Page| {
        !LIBRARIES_AND_TOOLS.iter().any(|folder| page.name().starts_with(folder))
            && !["conformance.md", "devcluster.md", "flags.md", "scale.md", "simulation.md"].contains(&page.file())
    };
    let mut unknown = Vec::new();
    for page in book().iter().chain(&elsewhere()).filter(|page| for_operators(page)) {
        let words = named(page).into_iter().filter(|word| !is_known(&known, word));
        unknown.extend(words.map(|word| format!("{}: {word}", page.name())));
    }
    assert!(unknown.is_empty(), "unknown flags: {}", unknown.join(", "));
}
