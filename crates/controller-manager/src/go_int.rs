//! Go's notation for integers (`strconv.ParseInt` with base 0), which the flags of Kubernetes accept: `100`, `1_000`,
//! `0x64`, and `010` for 8.

const SYNTAX: &str = "expected a whole number";
const RANGE: &str = "out of range";

/// Parses an integer in the base that its prefix gives: `0x`, `0o` or `0`, `0b`, otherwise decimal.
pub(crate) fn parse(text: &str) -> Result<i64, &'static str> {
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
        return Err(SYNTAX);
    }
    i64::from_str_radix(&format!("{sign}{}", digits.replace('_', "")), radix).map_err(|_| RANGE)
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
    #[case("9223372036854775808", Err(RANGE))]
    #[case("", Err(SYNTAX))]
    #[case("-", Err(SYNTAX))]
    #[case("--5", Err(SYNTAX))]
    #[case("0x", Err(SYNTAX))]
    #[case("08", Err(SYNTAX))]
    #[case("_1", Err(SYNTAX))]
    #[case("1_", Err(SYNTAX))]
    #[case("1__0", Err(SYNTAX))]
    #[case("1.5", Err(SYNTAX))]
    #[case("five", Err(SYNTAX))]
    fn integers_parse_as_in_go(#[case] text: &str, #[case] expected: Result<i64, &'static str>) {
        assert_eq!(parse(text), expected);
    }
}
