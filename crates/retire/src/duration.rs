//! Durations in sentences.

use jiff::SignedDuration;

const DAY: i64 = 24 * 60;

/// Returns a duration in days and hours, or in hours and minutes if it is shorter than two days.
pub(crate) fn shown(duration: SignedDuration) -> String {
    let minutes = duration.as_secs().max(0) / 60;
    let (days, hours, rest) = (minutes / DAY, minutes % DAY / 60, minutes % 60);
    match (days, hours, rest) {
        (2.., 0, _) => format!("{days} days"),
        (2.., ..) => format!("{days} days {hours} h"),
        (.., 0) if minutes > 0 => format!("{} h", minutes / 60),
        _ if minutes < 60 => format!("{minutes} min"),
        _ => format!("{} h {rest} min", minutes / 60),
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case(7 * 24 * 60, "7 days")]
    #[case(50 * 60, "2 days 2 h")]
    #[case(26 * 60, "26 h")]
    #[case(90, "1 h 30 min")]
    #[case(5, "5 min")]
    #[case(0, "0 min")]
    #[case(-5, "0 min")]
    fn durations_are_short(#[case] minutes: i64, #[case] expected: &str) {
        assert_eq!(shown(SignedDuration::from_mins(minutes)), expected);
    }
}
