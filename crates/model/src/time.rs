//! Decoding of `metav1.Time`, whose range is wider than that of [`Timestamp`].
//!
//! RFC 3339 ends with the year 9999, `Timestamp` 26 hours earlier, so that its local time has a four-digit year in
//! every time zone. Users can write any time into a Pod's status. Times are used for metrics and one annotation only,
//! so a time out of range is treated as unknown instead of failing the object.

use jiff::Timestamp;
use kube_wire::protobuf::{Field, MalformedProtobuf};
use serde::{Deserialize, Deserializer};

use crate::json::Str;

/// `0001-01-01T00:00:00Z`, for which `metav1.Time.IsZero` is true.
const ZERO: i64 = -62_135_596_800;

/// Returns the value of a `metav1.Time` held by value; `None` for the zero time, a time out of range and invalid text.
pub(crate) fn from_text(text: &str) -> Option<Timestamp> {
    text.parse().ok().filter(|time: &Timestamp| time.as_second() != ZERO || time.subsec_nanosecond() != 0)
}

/// Returns the value of a `*metav1.Time` that is not nil; [`Timestamp::MAX`] for a time out of range and invalid text,
/// because the presence of a deletion timestamp matters more than its value.
fn of_pointer(text: &str) -> Timestamp {
    text.parse().unwrap_or(Timestamp::MAX)
}

/// For `deserialize_with`: a `metav1.Time` by value, see [`from_text`].
pub(crate) fn value<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Timestamp>, D::Error> {
    Str::deserialize(deserializer).map(|text| from_text(&text.0))
}

/// For `deserialize_with`: a `*metav1.Time`; `None` for null only.
pub(crate) fn pointer<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Timestamp>, D::Error> {
    Option::<Str<'_>>::deserialize(deserializer).map(|text| text.map(|text| of_pointer(&text.0)))
}

/// Returns the value of a message that Go holds by value. Nanoseconds are ignored, as by Go's `Time.Unmarshal`.
pub(crate) fn value_of_field(field: &Field<'_>) -> Result<Option<Timestamp>, MalformedProtobuf> {
    let seconds = field.time()?.map(|time| time.seconds).filter(|seconds| *seconds != ZERO);
    Ok(seconds.and_then(|seconds| Timestamp::from_second(seconds).ok()))
}

/// Returns the value of a message that Go decodes into a pointer, which is not nil even if the message is empty.
pub(crate) fn pointer_of_field(field: &Field<'_>) -> Result<Option<Timestamp>, MalformedProtobuf> {
    let seconds = field.time()?.map_or(ZERO, |time| time.seconds);
    Ok(Some(Timestamp::from_second(seconds).unwrap_or(Timestamp::MAX)))
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::in_range("2026-02-03T04:00:00Z", Some("2026-02-03T04:00:00Z"))]
    #[case::offset("2026-02-03T04:00:00+01:30", Some("2026-02-03T02:30:00Z"))]
    #[case::first_year("0000-01-01T00:00:00Z", Some("0000-01-01T00:00:00Z"))]
    #[case::fraction("2026-02-03T04:00:00.123456789Z", Some("2026-02-03T04:00:00.123456789Z"))]
    #[case::zero("0001-01-01T00:00:00Z", None)]
    #[case::last_of_rfc_3339("9999-12-31T23:59:59Z", None)]
    #[case::after_the_year_9999("10000-01-01T22:58:59Z", None)]
    #[case::no_time("yesterday", None)]
    #[case::empty("", None)]
    fn parses_times(#[case] text: &str, #[case] expect: Option<&str>) {
        let expect = expect.map(|it| it.parse::<Timestamp>().unwrap());
        assert_eq!(from_text(text), expect);
        let present = if text.starts_with("0001") { text.parse().unwrap() } else { expect.unwrap_or(Timestamp::MAX) };
        assert_eq!(of_pointer(text), present);
    }
}
