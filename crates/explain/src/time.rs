//! Times as text.

use jiff::Timestamp;
use jiff::tz::TimeZone;

/// Returns a time in UTC, with the date unless it is that of `now`.
pub(crate) fn shown(time: Timestamp, now: Option<Timestamp>) -> String {
    let day = |time: Timestamp| time.to_zoned(TimeZone::UTC).date();
    let format = if now.is_some_and(|now| day(now) == day(time)) { "%H:%M:%S" } else { "%Y-%m-%d %H:%M:%SZ" };
    time.strftime(format).to_string()
}
