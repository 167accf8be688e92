//! Durations as Go writes them: `500ms`, `1m30s`, `1.5h`, `0`.

use std::time::Duration;

/// Why a text is no duration.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub(crate) enum DurationError {
    #[error("invalid duration {0:?}: expected a number with a unit, such as 500ms or 1m30s")]
    Syntax(String),
    #[error("unknown unit {unit:?} in duration {text:?}: expected ns, us, ms, s, m or h")]
    Unit { text: String, unit: String },
    #[error("duration {0:?} is out of range")]
    Range(String),
}

/// Reads a duration. A negative one is zero: it is for the batch periods, which upstream treats so (K-4).
pub(crate) fn parse(text: &str) -> Result<Duration, DurationError> {
    let syntax = || DurationError::Syntax(text.to_owned());
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
    let mut nanoseconds = 0f64;
    while !rest.is_empty() {
        let end = rest.find(|c: char| !c.is_ascii_digit() && c != '.').ok_or_else(syntax)?;
        let (number, after) = rest.split_at(end);
        let number: f64 = number.parse().map_err(|_| syntax())?;
        let unit_end = after.find(|c: char| c.is_ascii_digit() || c == '.').unwrap_or(after.len());
        let (unit, after) = after.split_at(unit_end);
        let scale = match unit {
            "ns" => 1.0,
            "us" | "µs" | "μs" => 1e3,
            "ms" => 1e6,
            "s" => 1e9,
            "m" => 60e9,
            "h" => 3_600e9,
            _ => return Err(DurationError::Unit { text: text.to_owned(), unit: unit.to_owned() }),
        };
        nanoseconds += number * scale;
        rest = after;
    }
    let range = || DurationError::Range(text.to_owned());
    // Go counts nanoseconds in 63 bits.
    let limit = Duration::from_nanos(i64::MAX.unsigned_abs());
    let duration = Duration::try_from_secs_f64(nanoseconds / 1e9).map_err(|_| range())?;
    match (duration > limit, negative) {
        (true, _) => Err(range()),
        (false, true) => Ok(Duration::ZERO),
        (false, false) => Ok(duration),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case("0", Some(0))]
    #[case("0s", Some(0))]
    #[case("500ms", Some(500))]
    #[case("1m30s", Some(90_000))]
    #[case("1.5h", Some(5_400_000))]
    #[case("+2s", Some(2_000))]
    #[case("-2s", Some(0))]
    #[case("1500us", Some(1))]
    #[case("", None)]
    #[case("-", None)]
    #[case("5", None)]
    #[case("5 s", None)]
    #[case("s", None)]
    #[case("1d", None)]
    #[case("1.2.3s", None)]
    #[case("9999999999h", None)]
    fn durations(#[case] text: &str, #[case] milliseconds: Option<u128>) {
        assert_eq!(parse(text).ok().map(|it| it.as_millis()), milliseconds);
    }
}
