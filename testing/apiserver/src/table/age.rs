//! Ages in the format of kubectl, as `duration.HumanDuration` of `k8s.io/apimachinery`.

use jiff::Timestamp;

/// Returns the time since `time`; `<unknown>` if it cannot be parsed.
pub(super) fn since(time: &str, now: Timestamp) -> String {
    match time.parse::<Timestamp>() {
        Ok(time) => human(now.duration_since(time).as_secs()),
        Err(_) => "<unknown>".to_owned(),
    }
}

fn human(seconds: i64) -> String {
    let (minutes, hours) = (seconds / 60, seconds / 3_600);
    let (days, years) = (hours / 24, hours / 24 / 365);
    let two = |big: i64, unit: &str, small: i64, small_unit: &str| match small {
        0 => format!("{big}{unit}"),
        _ => format!("{big}{unit}{small}{small_unit}"),
    };
    match seconds {
        // As upstream, up to one second in the future is clock skew.
        ..-1 => "<invalid>".to_owned(),
        -1..0 => "0s".to_owned(),
        0..120 => format!("{seconds}s"),
        _ if minutes < 10 => two(minutes, "m", seconds % 60, "s"),
        _ if minutes < 180 => format!("{minutes}m"),
        _ if hours < 8 => two(hours, "h", minutes % 60, "m"),
        _ if hours < 48 => format!("{hours}h"),
        _ if days < 8 => two(days, "d", hours % 24, "h"),
        _ if days < 2 * 365 => format!("{days}d"),
        _ if days < 8 * 365 => two(years, "y", days % 365, "d"),
        _ => format!("{years}y"),
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case(-5, "<invalid>")]
    #[case(-1, "0s")]
    #[case(119, "119s")]
    #[case(120, "2m")]
    #[case(185, "3m5s")]
    #[case(10 * 60, "10m")]
    #[case(179 * 60, "179m")]
    #[case(3 * 3_600 + 60, "3h1m")]
    #[case(8 * 3_600, "8h")]
    #[case(49 * 3_600, "2d1h")]
    #[case(8 * 86_400, "8d")]
    #[case(3 * 365 * 86_400 + 86_400, "3y1d")]
    #[case(9 * 365 * 86_400, "9y")]
    fn ages_match_kubectl(#[case] seconds: i64, #[case] expect: &str) {
        assert_eq!(human(seconds), expect);
    }
}
