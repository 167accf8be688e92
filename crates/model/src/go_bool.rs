//! Booleans in annotations and on the command line.

/// Parses a boolean as Go's `strconv.ParseBool` does: `1`, `t`, `T`, `true`, `TRUE`, `True`, and `0`, `f`, `F`,
/// `false`, `FALSE`, `False`. `None` for any other text.
pub fn parse_go_bool(text: &str) -> Option<bool> {
    match text {
        "1" | "t" | "T" | "true" | "TRUE" | "True" => Some(true),
        "0" | "f" | "F" | "false" | "FALSE" | "False" => Some(false),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case("1", Some(true))]
    #[case("T", Some(true))]
    #[case("True", Some(true))]
    #[case("f", Some(false))]
    #[case("FALSE", Some(false))]
    #[case("tRUE", None)]
    #[case("yes", None)]
    #[case(" true", None)]
    #[case("", None)]
    fn parses_like_go(#[case] text: &str, #[case] expected: Option<bool>) {
        assert_eq!(parse_go_bool(text), expected);
    }
}
