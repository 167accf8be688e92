//! Go's notation for integers (`strconv.ParseInt` with base 0), which the flags of Kubernetes accept: `100`, `1_000`,
//! `0x64`, and `010` for 8.

/// Why a text cannot be parsed as an integer.
#[derive(Clone, Copy, Debug, thiserror::Error, PartialEq, Eq)]
pub(crate) enum IntError {
    #[error("expected a whole number")]
    Syntax,
    #[error("out of range")]
    Range,
}

/// Parses an integer in the base that its prefix gives: `0x`, `0o` or `0`, `0b`, otherwise decimal.
pub(crate) fn parse(text: &str) -> Result<i64, IntError> {
    let (sign, rest) = match text.as_bytes().first() {
        Some(b'-') => ("-", &text[1..]),
        Some(b'+') => ("", &text[1..]),
        _ => ("", text),
    };
    let lower = rest.to_ascii_lowercase();
    let prefixes = [("0x", 16), ("0o", 8), ("0b", 2)];
    let prefixed = prefixes.iter().find_map(|(prefix, radix)| Some((lower.strip_prefix(prefix)?, *radix)));
    let (digits, radix) = match prefixed {
        Some((digits, radix)) => (digits.strip_prefix('_').unwrap_or(digits), radix),
        None if lower.len() > 1 && lower.starts_with('0') => (lower.as_str(), 8),
        None => (lower.as_str(), 10),
    };
    // Go allows one underscore between two digits, and between prefix and digits.
    let is_valid = |group: &str| !group.is_empty() && group.chars().all(|it| it.is_digit(radix));
    if !digits.split('_').all(is_valid) {
        return Err(IntError::Syntax);
    }
    i64::from_str_radix(&format!("{sign}{}", digits.replace('_', "")), radix).map_err(|_| IntError::Range)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case("0", Ok(0))]
    #[case("100", Ok(100))]
    #[case("+5", Ok(5))]
    #[case("-5", Ok(-5))]
    #[case("010", Ok(8))]
    #[case("0o10", Ok(8))]
    #[case("0x64", Ok(100))]
    #[case("-0X64", Ok(-100))]
    #[case("0b101", Ok(5))]
    #[case("1_000", Ok(1_000))]
    #[case("0x_ff", Ok(255))]
    #[case("0_7", Ok(7))]
    #[case("-9223372036854775808", Ok(i64::MIN))]
    #[case("9223372036854775808", Err(IntError::Range))]
    #[case("", Err(IntError::Syntax))]
    #[case("-", Err(IntError::Syntax))]
    #[case("--5", Err(IntError::Syntax))]
    #[case("0x", Err(IntError::Syntax))]
    #[case("08", Err(IntError::Syntax))]
    #[case("_1", Err(IntError::Syntax))]
    #[case("1_", Err(IntError::Syntax))]
    #[case("1__0", Err(IntError::Syntax))]
    #[case("1.5", Err(IntError::Syntax))]
    #[case("five", Err(IntError::Syntax))]
    fn integers_parse_as_in_go(#[case] text: &str, #[case] expected: Result<i64, IntError>) {
        assert_eq!(parse(text), expected);
    }
}
