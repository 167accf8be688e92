//! Values of labels.

/// Longest label value in bytes.
pub const LONGEST_LABEL_VALUE: usize = 63;

/// Returns whether a text is a label value that the API server accepts (Go: `IsValidLabelValue`) and is not empty.
pub fn is_label_value(text: &str) -> bool {
    let inner = |it: u8| it.is_ascii_alphanumeric() || matches!(it, b'-' | b'_' | b'.');
    let has_ends = text.starts_with(|it: char| it.is_ascii_alphanumeric())
        && text.ends_with(|it: char| it.is_ascii_alphanumeric());
    text.len() <= LONGEST_LABEL_VALUE && text.bytes().all(inner) && has_ends
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::letters("web", true)]
    #[case::inner_characters("a.b_c-d", true)]
    #[case::empty("", false)]
    #[case::space("a b", false)]
    #[case::dash_at_the_end("web-", false)]
    #[case::dot_at_the_start(".web", false)]
    #[case::longest(&"a".repeat(LONGEST_LABEL_VALUE), true)]
    #[case::too_long(&"a".repeat(LONGEST_LABEL_VALUE + 1), false)]
    fn values_that_the_server_accepts(#[case] text: &str, #[case] accepted: bool) {
        assert_eq!(is_label_value(text), accepted);
    }
}
