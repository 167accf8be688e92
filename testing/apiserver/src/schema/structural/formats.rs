//! Formats of strings that upstream validates, as `strfmt.Default` of `k8s.io/kube-openapi`.

use std::net::{Ipv4Addr, Ipv6Addr};
use std::sync::LazyLock;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use regex::Regex;

use crate::address;
use crate::names;

/// Maximum length of a host name (RFC 1123).
const HOSTNAME_MAX: usize = 255;

/// Returns whether a text has a format. Other formats, such as `credit-card`, allow everything.
pub(super) fn is_valid(format: &str, text: &str) -> bool {
    match format {
        "byte" => STANDARD.decode(text).is_ok(),
        "cidr" => is_network(text),
        "date" => is_date(text),
        "date-time" | "datetime" => is_date_time(text),
        "duration" => is_duration(text),
        "email" => text.split_once('@').is_some_and(|(local, host)| !local.is_empty() && !host.is_empty()),
        "hostname" => {
            let has_short_labels = text.split('.').all(|label| label.len() <= names::LABEL_MAX);
            text.len() <= HOSTNAME_MAX && has_short_labels && HOSTNAME.is_match(text)
        }
        "ipv4" => text.contains('.') && address::parse(text).is_some(),
        "ipv6" => text.contains(':') && text.parse::<Ipv6Addr>().is_ok(),
        "k8s-long-name" => names::is_subdomain(text),
        "k8s-short-name" => text.len() <= names::LABEL_MAX && names::is_subdomain(text) && !text.contains('.'),
        "mac" => MAC.is_match(text),
        "uri" => text.starts_with('/') || text.split_once(':').is_some_and(|(scheme, _)| SCHEME.is_match(scheme)),
        "uuid" => UUID.is_match(text),
        "uuid3" | "uuid4" | "uuid5" => UUID.is_match(text) && version(text) == format.chars().last(),
        _ => true,
    }
}

static HOSTNAME: LazyLock<Regex> = LazyLock::new(|| pattern(r"^[\p{L}\p{S}0-9]([\p{L}\p{S}0-9.-]*[\p{L}\p{S}0-9])?$"));
static MAC: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"^([0-9A-Fa-f]{2}[:-]){5}([0-9A-Fa-f]{2}|[0-9A-Fa-f]{2}([:-][0-9A-Fa-f]{2}){2})$"));
static SCHEME: LazyLock<Regex> = LazyLock::new(|| pattern("^[A-Za-z][A-Za-z0-9+.-]*$"));
static UUID: LazyLock<Regex> =
    LazyLock::new(|| pattern("(?i)^[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}$"));
/// As Go's `time.ParseDuration`.
static GO_DURATION: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"^[+-]?(0|(([0-9]+(\.[0-9]*)?|\.[0-9]+)(ns|us|µs|μs|ms|s|m|h))+)$"));
static NUMBER_WITH_UNIT: LazyLock<Regex> = LazyLock::new(|| pattern(r"[0-9]+\s*([A-Za-zµ]+)"));
static TIME_OF_DAY: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"^([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](.[0-9]+)?([Zz]|[+-][0-9]{2}:[0-9]{2})$"));

#[expect(clippy::expect_used, reason = "constants, compiled by the tests")]
fn pattern(text: &str) -> Regex {
    Regex::new(text).expect("a valid pattern")
}

/// Returns whether a text is a duration of Go, or contains a number with a unit in words, such as `3 days`.
fn is_duration(text: &str) -> bool {
    let is_unit = |unit: &str| {
        let unit = unit.to_lowercase();
        ["ns", "us", "µs", "ms", "s", "m", "h", "hr", "d", "w", "wk"].contains(&unit.as_str())
            || ["nano", "micro", "milli", "sec", "min", "hour", "day", "week"].iter().any(|it| unit.starts_with(it))
    };
    GO_DURATION.is_match(text) || NUMBER_WITH_UNIT.captures_iter(text).any(|it| is_unit(&it[1]))
}

fn is_date(text: &str) -> bool {
    text.len() == "0000-00-00".len() && jiff::fmt::strtime::parse("%Y-%m-%d", text).is_ok_and(|it| it.to_date().is_ok())
}

/// Returns whether a text is a date and a time with a zone. Unlike in the times of built-in types, `t` and `z` may be
/// lower-case.
fn is_date_time(text: &str) -> bool {
    text.split_once(['T', 't']).is_some_and(|(date, time)| is_date(date) && TIME_OF_DAY.is_match(time))
}

fn is_network(text: &str) -> bool {
    text.split_once('/').is_some_and(|(ip, length)| {
        let most = if ip.contains(':') { Ipv6Addr::BITS } else { Ipv4Addr::BITS };
        address::parse(ip).is_some() && length.parse::<u32>().is_ok_and(|length| length <= most)
    })
}

/// Returns the digit of the version of a UUID.
fn version(uuid: &str) -> Option<char> {
    uuid.chars().filter(|it| *it != '-').nth(12)
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("byte", "aGk=", "a")]
    #[case("cidr", "10.0.0.0/8", "10.0.0.0/33")]
    #[case("cidr", "fd00::/108", "fd00::")]
    #[case("date", "2027-02-28", "2027-02-29")]
    #[case("date-time", "2027-01-15T08:00:00Z", "2027-01-15")]
    #[case("date-time", "9999-12-31t23:59:59.5z", "2027-01-15T08:00:60Z")]
    #[case("date-time", "2027-01-15T08:00:00+01:00", "2027-01-15 08:00:00Z")]
    #[case("duration", "1h30m", "1 fortnight")]
    #[case("duration", "3 days", "days")]
    #[case("email", "a@example.com", "example.com")]
    #[case("hostname", "www.example.com", "-www")]
    #[case("ipv4", "10.1.2.3", "10.1.2.300")]
    #[case("ipv6", "fd00::1", "10.1.2.3")]
    #[case("k8s-long-name", "a.b-c", "A.b")]
    #[case("k8s-short-name", "b-c", "a.b")]
    #[case("mac", "00:1b:44:11:3a:b7", "00:1b:44")]
    #[case("uri", "https://example.com/a", "example")]
    #[case("uuid", "6fa459ea-ee8a-3ca4-894e-db77e160355e", "6fa459ea")]
    #[case("uuid3", "6fa459ea-ee8a-3ca4-894e-db77e160355e", "6fa459ea-ee8a-4ca4-894e-db77e160355e")]
    fn formats(#[case] format: &str, #[case] valid: &str, #[case] invalid: &str) {
        assert!(is_valid(format, valid), "{valid}");
        assert!(!is_valid(format, invalid), "{invalid}");
    }

    #[test]
    fn other_formats_allow_everything() {
        assert!(is_valid("password", "x") && is_valid("", "x"));
    }
}
