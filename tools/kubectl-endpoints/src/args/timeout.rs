//! Value of `--request-timeout`.

use std::time::Duration;

use jiff::SignedDuration;

/// Parses a duration such as `10s`, `1m30s` or `500ms`; a plain number is in seconds, as in kubectl.
pub(super) fn parse(text: &str) -> Result<Duration, String> {
    if let Ok(seconds) = text.parse::<u32>() {
        return Ok(Duration::from_secs(seconds.into()));
    }
    let duration: SignedDuration = text.parse().map_err(|error| format!("{error}"))?;
    Duration::try_from(duration).map_err(|_| "the duration is negative".to_owned())
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("0", Some(0))]
    #[case("7", Some(7_000))]
    #[case("10s", Some(10_000))]
    #[case("1m30s", Some(90_000))]
    #[case("500ms", Some(500))]
    #[case("-1s", None)]
    #[case("-1", None)]
    #[case("soon", None)]
    #[case("", None)]
    fn durations_parse(#[case] text: &str, #[case] millis: Option<u64>) {
        assert_eq!(parse(text).ok(), millis.map(Duration::from_millis));
    }
}
