//! Text form of durations.

use std::time::Duration;

/// Returns a duration in at most 6 characters below 1,000 s: whole milliseconds below 1 s, otherwise seconds.
pub(crate) fn short(duration: Duration) -> String {
    let (millis, seconds) = (duration.as_millis(), duration.as_secs_f64());
    match millis {
        0 => "<1 ms".to_owned(),
        1..1_000 => format!("{millis} ms"),
        1_000..9_995 => format!("{seconds:.2} s"),
        9_995..99_950 => format!("{seconds:.1} s"),
        _ => format!("{seconds:.0} s"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case(999, "<1 ms")]
    #[case(1_000, "1 ms")]
    #[case(999_999, "999 ms")]
    #[case(1_000_000, "1.00 s")]
    #[case(9_994_000, "9.99 s")]
    #[case(9_996_000, "10.0 s")]
    #[case(12_340_000, "12.3 s")]
    #[case(99_960_000, "100 s")]
    #[case(600_000_000, "600 s")]
    fn durations_are_short(#[case] micros: u64, #[case] expected: &str) {
        assert_eq!(short(Duration::from_micros(micros)), expected);
    }
}
