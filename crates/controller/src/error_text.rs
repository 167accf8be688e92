//! Formats errors for one line of a log.

use std::error::Error;

/// Returns the message of an error and those of its sources, joined by colons. A source is left out if the text so far
/// already ends with its message.
pub(crate) fn with_causes(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let inner = error.to_string();
        if !text.ends_with(&inner) {
            text.push_str(": ");
            text.push_str(&inner);
        }
        cause = error.source();
    }
    text
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[derive(Debug, thiserror::Error)]
    #[error("{0}")]
    struct Outer(&'static str, #[source] std::fmt::Error);

    #[rstest]
    #[case("no cache", "no cache: ")]
    #[case("no cache: an error occurred when formatting an argument", "no cache: ")]
    fn each_cause_is_named_once(#[case] outer: &'static str, #[case] expected: &str) {
        let cause = std::fmt::Error;
        assert_eq!(with_causes(&Outer(outer, cause)), format!("{expected}{cause}"));
    }
}
