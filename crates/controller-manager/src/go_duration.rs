//! Go's notation for durations (`time.ParseDuration`): `500ms`, `1m30s`, `1.5h`, `0`.

use std::fmt::{self, Display, Write};
use std::time::Duration;

/// Units and their lengths in nanoseconds. The two spellings of `µs` are U+00B5 and U+03BC.
const UNITS: [(&str, u64); 8] = [
    ("ns", 1),
    ("us", 1_000),
    ("µs", 1_000),
    ("μs", 1_000),
    ("ms", 1_000_000),
    ("s", 1_000_000_000),
    ("m", 60_000_000_000),
    ("h", 3_600_000_000_000),
];

/// Maximum in nanoseconds: Go's `time.Duration` is an `int64`.
const MAX_NANOSECONDS: u128 = i64::MAX as u128;

/// Parses a duration. A negative one becomes zero: upstream treats negative batch periods as zero, and for every
/// other flag zero either disables the function or is out of bounds.
pub(crate) fn parse(text: &str) -> Result<Duration, String> {
    let syntax = || format!("invalid duration {text:?}: expected a number with a unit, such as 500ms or 1m30s");
    let (negative, mut rest) = match text.as_bytes().first().ok_or_else(syntax)? {
        b'-' => (true, &text[1..]),
        b'+' => (false, &text[1..]),
        _ => (false, text),
    };
    if rest == "0" {
        return Ok(Duration::ZERO);
    }
    if rest.is_empty() {
        return Err(syntax());
    }
    let mut nanoseconds = 0u128;
    while !rest.is_empty() {
        let end = rest.find(|c: char| !c.is_ascii_digit() && c != '.').ok_or_else(syntax)?;
        let (number, after) = rest.split_at(end);
        if !number.bytes().any(|it| it.is_ascii_digit()) || number.matches('.').count() > 1 {
            return Err(syntax());
        }
        let unit_end = after.find(|c: char| c.is_ascii_digit() || c == '.').unwrap_or(after.len());
        let (unit, after) = after.split_at(unit_end);
        let Some((_, scale)) = UNITS.iter().find(|(name, _)| *name == unit) else {
            return Err(format!("unknown unit {unit:?} in duration {text:?}: expected ns, us, ms, s, m or h"));
        };
        nanoseconds = nanoseconds.saturating_add(scale_decimal(number, u128::from(*scale)));
        rest = after;
    }
    match u64::try_from(nanoseconds) {
        Ok(_) if negative && nanoseconds <= MAX_NANOSECONDS + 1 => Ok(Duration::ZERO),
        Ok(total) if nanoseconds <= MAX_NANOSECONDS => Ok(Duration::from_nanos(total)),
        _ => Err(format!("duration {text:?} is out of range")),
    }
}

/// Parses the value of a flag: [`parse`] as a clap value parser.
pub(crate) fn value(text: &str) -> Result<GoDuration, String> {
    parse(text).map(GoDuration)
}

/// Returns a decimal number times `scale`, rounded down.
fn scale_decimal(number: &str, scale: u128) -> u128 {
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    let digits =
        |text: &str| text.bytes().fold(0u128, |sum, it| sum.saturating_mul(10).saturating_add(u128::from(it - b'0')));
    // Digits beyond the 18th are less than a nanosecond even for hours.
    let fraction = &fraction[..fraction.len().min(18)];
    let part = fraction.bytes().fold(digits(fraction) * scale, |part, _| part / 10);
    digits(whole).saturating_mul(scale).saturating_add(part)
}

/// A duration whose `Display` is that of Go's `time.Duration`: `12h0m0s`, `1.5s`, `500ms`, `0s`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct GoDuration(pub(crate) Duration);

impl Display for GoDuration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let total = self.0.as_nanos();
        let (unit, scale) = match total {
            0 => return f.write_str("0s"),
            1..1_000 => ("ns", 1),
            1_000..1_000_000 => ("µs", 1_000),
            1_000_000..1_000_000_000 => ("ms", 1_000_000),
            _ => ("s", 1_000_000_000u128),
        };
        let (minutes, rest) = if unit == "s" { (total / 60_000_000_000, total % 60_000_000_000) } else { (0, total) };
        if minutes >= 60 {
            write!(f, "{}h", minutes / 60)?;
        }
        if minutes > 0 {
            write!(f, "{}m", minutes % 60)?;
        }
        write!(f, "{}", rest / scale)?;
        let (mut fraction, mut digit) = (rest % scale, scale / 10);
        if fraction > 0 {
            f.write_char('.')?;
        }
        while fraction > 0 {
            write!(f, "{}", fraction / digit)?;
            fraction %= digit;
            digit /= 10;
        }
        f.write_str(unit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use rstest::rstest;

    #[rstest]
    #[case("0", Some(0))]
    #[case("0s", Some(0))]
    #[case("500ms", Some(500_000_000))]
    #[case("1m30s", Some(90_000_000_000))]
    #[case("1.5h", Some(5_400_000_000_000))]
    #[case(".5s", Some(500_000_000))]
    #[case("1.s", Some(1_000_000_000))]
    #[case("+2s", Some(2_000_000_000))]
    #[case("-2s", Some(0))]
    #[case("1500us", Some(1_500_000))]
    #[case("1µs2μs", Some(3_000))]
    #[case("0.3333333333333333333h", Some(1_199_999_999_999))]
    #[case("9223372036854775807ns", Some(9_223_372_036_854_775_807))]
    #[case("9223372036854775808ns", None)]
    #[case("", None)]
    #[case("-", None)]
    #[case("5", None)]
    #[case("5 s", None)]
    #[case("s", None)]
    #[case(".s", None)]
    #[case("1d", None)]
    #[case("1.2.3s", None)]
    #[case("9999999999h", None)]
    #[case("99999999999999999999999999999999999999999999h", None)]
    fn durations_parse_as_in_go(#[case] text: &str, #[case] nanoseconds: Option<u128>) {
        assert_eq!(parse(text).ok().map(|it| it.as_nanos()), nanoseconds);
    }

    #[rstest]
    #[case(0, "0s")]
    #[case(1, "1ns")]
    #[case(1_500, "1.5µs")]
    #[case(500_000_000, "500ms")]
    #[case(1_050_000_000, "1.05s")]
    #[case(90_000_000_000, "1m30s")]
    #[case(43_200_000_000_000, "12h0m0s")]
    #[case(31_536_000_000_000_000, "8760h0m0s")]
    fn durations_print_as_in_go(#[case] nanoseconds: u64, #[case] expected: &str) {
        assert_eq!(GoDuration(Duration::from_nanos(nanoseconds)).to_string(), expected);
    }

    proptest! {
        #[test]
        fn printed_durations_parse_to_the_same_value(nanoseconds in 0..=i64::MAX.unsigned_abs()) {
            let duration = Duration::from_nanos(nanoseconds);
            prop_assert_eq!(parse(&GoDuration(duration).to_string()), Ok(duration));
        }

        #[test]
        fn any_text_parses_or_fails(text in "[-+]?([0-9.]{0,24}([nuµm]?s|m|h|[a-z]?)){0,4}|\\PC*") {
            let _ = parse(&text);
        }
    }
}
