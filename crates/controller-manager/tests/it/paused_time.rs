//! CONTRIBUTING.md, "Tests": where time is paused, no result depends on the speed of the machine.

use std::path::Path;

use crate::sources::rust_files;

/// Files that need no [`wait_for_bytes`](kube_endpoints_testing::wait_for_bytes), with the reason.
const EXEMPT: &[(&str, &str)] = &[
    ("crates/client/src/connector.rs", "a blocking call holds the clock"),
    ("testing/apiserver/tests/it/in_process/mod.rs", "the test with a socket is not the one with paused time"),
];

/// Returns whether tests pause the clock beside sockets, and may go on to the next timer while bytes are on their way.
fn forgets_bytes(source: &str) -> bool {
    let contains = |any: &[&str]| any.iter().any(|it| source.contains(it));
    contains(&["start_paused = true", "time::pause()"])
        && contains(&["Server::start(", "TestApi::start(", "TcpListener::bind("])
        && !source.contains("wait_for_bytes()")
}

#[test]
fn paused_time_waits_for_bytes_of_sockets() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut files = Vec::new();
    for folder in ["crates", "docs", "testing", "tools"] {
        rust_files(&root.join(folder), &mut files);
    }
    assert!(files.len() > 500, "the sources were not found");
    let mut found = Vec::new();
    for file in files {
        let name = file.strip_prefix(&root).expect("a file in the folder").display().to_string();
        if forgets_bytes(&std::fs::read_to_string(&file).expect("a source")) {
            found.push(name);
        }
    }
    found.sort();
    assert_eq!(found, EXEMPT.iter().map(|(name, _)| *name).collect::<Vec<_>>());
}
