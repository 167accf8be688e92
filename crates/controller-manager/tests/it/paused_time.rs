//! CONTRIBUTING.md, "Tests": where time is paused, no result depends on the speed of the machine.

use kube_endpoints_testing::repository::{files, text_of};

/// Files that pause time beside sockets without [`wait_for_bytes`](kube_endpoints_testing::wait_for_bytes), with the reason.
const EXEMPT: &[(&str, &str)] = &[
    ("crates/client/tests/it/events.rs", "the tests with a socket are not the one with paused time"),
    ("crates/client/tests/it/read_only.rs", "no request is sent while time is paused"),
    ("crates/client/tests/it/service_account.rs", "the tests with a socket are not the one with paused time"),
    ("crates/controller/tests/executor.rs", "the test with paused time has a server without a socket"),
    ("crates/informer/tests/it/read_timeouts.rs", "time advances only by hand"),
    ("crates/program/tests/it/controllers.rs", "time advances only by hand, and goes on before the server is asked"),
    ("testing/apiserver/tests/it/in_process/mod.rs", "the test with a socket is not the one with paused time"),
];

/// Returns whether a file pauses the clock and has a server on a socket, but never calls `wait_for_bytes`. Checks files, not tests.
fn forgets_bytes(source: &str) -> bool {
    let contains = |any: &[&str]| any.iter().any(|it| source.contains(it));
    contains(&["start_paused = true", "time::pause()", " pause();"])
        && contains(&["Server::start(", "TestApi::start(", "Script::serve(", "TcpListener::bind(", "cluster()"])
        && !source.contains("wait_for_bytes()")
}

#[test]
fn paused_time_waits_for_bytes_of_sockets() {
    let mut found = files(&["crates", "docs", "testing", "tools"], &["rs"]);
    assert!(found.len() > 500, "the sources were not found");
    found.retain(|file| forgets_bytes(&text_of(file)));
    let exempt: Vec<_> = EXEMPT.iter().map(|(name, _)| *name).collect();
    assert_eq!(found, exempt, "keep the result of wait_for_bytes(), or add the file with the reason");
}
