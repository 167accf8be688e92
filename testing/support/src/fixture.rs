//! Recorded responses.

use crate::repository::root;

/// Reads a recorded response of a real API server from `testing/conformance/fixtures`.
pub fn fixture(name: &str) -> Vec<u8> {
    let path = root().join("testing/conformance/fixtures").join(name);
    std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Returns the lines of `/metrics` of kube-controller-manager 1.36 about the metrics whose names begin with `prefix`.
pub fn upstream_metrics(prefix: &str) -> String {
    let text = String::from_utf8(fixture("kcm-metrics.txt")).expect("metrics are text");
    let is_of = |line: &&str| line.trim_start_matches("# HELP ").trim_start_matches("# TYPE ").starts_with(prefix);
    text.lines().filter(is_of).fold(String::new(), |lines, line| lines + line + "\n")
}
