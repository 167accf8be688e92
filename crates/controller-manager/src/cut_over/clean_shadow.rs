//! `--require-clean-shadow`: the result that a leader leaves in an annotation of the Lease.

use jiff::Timestamp;

/// Annotation of the Lease: version of the program whose comparison was clean, and the time. A later leader of the same
/// version writes at once.
pub(super) const ANNOTATION: &str = "kube-endpoints.github.io/clean-shadow";

const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Returns the value of the annotation for this program.
pub(super) fn evidence(now: Timestamp) -> String {
    format!("{VERSION} {now:.0}")
}

/// Returns whether the value of the annotation is evidence for this program.
pub(super) fn is_evidence(value: &str) -> bool {
    value.split_once(' ').is_some_and(|(version, _)| version == VERSION)
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::own(evidence(Timestamp::UNIX_EPOCH), true)]
    #[case::other_version("0.0.1-other 2026-01-01T00:00:00Z".to_owned(), false)]
    #[case::no_time(VERSION.to_owned(), false)]
    #[case::empty(String::new(), false)]
    fn evidence_holds_for_one_version(#[case] value: String, #[case] expected: bool) {
        assert_eq!(is_evidence(&value), expected);
    }
}
