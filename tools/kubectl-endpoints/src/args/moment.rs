//! Value of `--at`.

use jiff::civil::Time;
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};

/// A moment, which may depend on the present time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Moment {
    /// A time with its date.
    At(Timestamp),
    /// A time of today, in UTC.
    Today(Time),
    /// A time before the present one.
    Ago(SignedDuration),
}

impl Moment {
    /// Returns the time, as of `now`.
    pub(crate) fn time(self, now: Timestamp) -> Timestamp {
        match self {
            Moment::At(time) => time,
            Moment::Today(time) => {
                let today = now.to_zoned(TimeZone::UTC).date();
                today.to_datetime(time).to_zoned(TimeZone::UTC).map_or(now, |it| it.timestamp())
            }
            Moment::Ago(passed) => now.saturating_sub(passed).unwrap_or(Timestamp::MIN),
        }
    }
}

/// Parses a time in RFC 3339, a time of the day, or a duration.
pub(super) fn parse(text: &str) -> Result<Moment, String> {
    if let Ok(time) = text.parse() {
        return Ok(Moment::At(time));
    }
    let is_time_of_day = text.contains(':') && text.bytes().all(|it| it.is_ascii_digit() || it == b':');
    if let Some(time) = text.parse().ok().filter(|_| is_time_of_day) {
        return Ok(Moment::Today(time));
    }
    let passed = text.parse::<SignedDuration>().ok().filter(|it| !it.is_negative());
    let expected = "expected a time such as 2026-11-27T14:02:00Z, 14:02 or 14:02:05, or a duration such as 10m";
    passed.map(Moment::Ago).ok_or_else(|| expected.to_owned())
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::rfc3339("2026-11-26T14:02:05Z", Some("2026-11-26T14:02:05Z"))]
    #[case::offset("2026-11-26T14:02:05.5+01:00", Some("2026-11-26T13:02:05.5Z"))]
    #[case::minute("14:02", Some("2026-11-27T14:02:00Z"))]
    #[case::second("14:02:05", Some("2026-11-27T14:02:05Z"))]
    #[case::later_today("23:59", Some("2026-11-27T23:59:00Z"))]
    #[case::ago("10m", Some("2026-11-27T15:05:30Z"))]
    #[case::long_ago("1h30m", Some("2026-11-27T13:45:30Z"))]
    #[case::now("0s", Some("2026-11-27T15:15:30Z"))]
    #[case::in_the_future("-10m", None)]
    #[case::no_such_time("25:00", None)]
    #[case::date("2026-11-27", None)]
    #[case::number("7", None)]
    #[case::word("noon", None)]
    #[case::empty("", None)]
    fn moments_parse(#[case] text: &str, #[case] expect: Option<&str>) {
        let now = "2026-11-27T15:15:30Z".parse().unwrap();
        let time = parse(text).ok().map(|moment| moment.time(now));
        assert_eq!(time, expect.map(|it| it.parse().unwrap()));
    }
}
