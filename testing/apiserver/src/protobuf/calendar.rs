//! Times as seconds and nanoseconds, up to the end of year 9999. `Timestamp` ends at 9999-12-30T22:00:00.999999999Z.

use jiff::Timestamp;

/// Seconds in 400 years, the period of the Gregorian calendar.
const CYCLE: i64 = 146_097 * 86_400;
/// 9999-12-31T23:59:59Z.
const LAST: i64 = 253_402_300_799;
const LAST_YEAR: &str = "9999-";
const YEAR_BEFORE_A_CYCLE: &str = "9599-";

/// Formats a time as `metav1.Time` or, with a fraction, as `metav1.MicroTime`. `None` if it is after year 9999.
pub(super) fn print(seconds: i64, nanoseconds: i32, with_fraction: bool) -> Option<String> {
    let print = |time: Timestamp| if with_fraction { format!("{time:.6}") } else { format!("{time:.0}") };
    if let Ok(time) = Timestamp::new(seconds, nanoseconds) {
        return Some(print(time));
    }
    let earlier = Timestamp::new(seconds.checked_sub(CYCLE).filter(|_| seconds <= LAST)?, nanoseconds).ok()?;
    Some([LAST_YEAR, print(earlier).strip_prefix(YEAR_BEFORE_A_CYCLE)?].concat())
}

/// Parses a time into seconds and nanoseconds; `None` if it is invalid.
pub(super) fn parse(text: &str) -> Option<(i64, i32)> {
    let parts = |time: Timestamp| (time.as_second(), time.subsec_nanosecond());
    if let Ok(time) = text.parse::<Timestamp>() {
        return Some(parts(time));
    }
    let earlier = [YEAR_BEFORE_A_CYCLE, text.strip_prefix(LAST_YEAR)?].concat().parse::<Timestamp>().ok()?;
    let (seconds, nanoseconds) = parts(earlier);
    Some((seconds + CYCLE, nanoseconds))
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("9999-12-31T23:59:59Z", LAST)]
    #[case("9999-12-30T21:59:59Z", LAST - 26 * 3_600)]
    #[case("1970-01-01T00:00:00Z", 0)]
    #[case("0001-01-01T00:00:01Z", -62_135_596_799)]
    fn times_round_trip(#[case] text: &str, #[case] seconds: i64) {
        assert_eq!(parse(text), Some((seconds, 0)));
        assert_eq!(print(seconds, 0, false).as_deref(), Some(text));
    }

    #[test]
    fn the_year_10000_has_no_text() {
        assert_eq!(print(LAST + 1, 0, false), None);
        assert_eq!(print(i64::MIN, 0, false), None);
    }
}
