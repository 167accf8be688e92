//! Sizes in command lines.

/// Parses a number of bytes, with the suffix `Ki`, `Mi` or `Gi` or none.
///
/// # Errors
///
/// What is expected, as a message.
pub fn parse_size(text: &str) -> Result<u64, String> {
    let units = [("Ki", 10), ("Mi", 20), ("Gi", 30)];
    let unit = units.iter().find_map(|(suffix, shift)| Some((text.strip_suffix(suffix)?, *shift)));
    let (digits, shift) = unit.unwrap_or((text, 0));
    let number = digits.parse::<u64>().ok().filter(|_| digits.bytes().all(|it| it.is_ascii_digit()));
    let size = number.and_then(|number| number.checked_mul(1 << shift));
    size.ok_or_else(|| "expected a number of bytes, such as 1048576, 512Mi or 2Gi".to_owned())
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("0", Some(0))]
    #[case("1048576", Some(1 << 20))]
    #[case("64Ki", Some(64 << 10))]
    #[case("512Mi", Some(512 << 20))]
    #[case("2Gi", Some(2 << 30))]
    #[case("512M", None)]
    #[case("1.5Gi", None)]
    #[case("+1Ki", None)]
    #[case("-1", None)]
    #[case("Ki", None)]
    #[case("", None)]
    #[case("17179869184Gi", None)]
    fn sizes_parse(#[case] text: &str, #[case] size: Option<u64>) {
        assert_eq!(parse_size(text).ok(), size);
    }
}
