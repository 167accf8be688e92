//! When an object was last written, as far as it says so itself.

use std::fmt;
use std::time::{Duration, SystemTime};

use jiff::Timestamp;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ManagedFieldsEntry;
use kube_wire::protobuf::Field;
use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

use crate::json::Str;
use crate::protobuf::Result;
use crate::time;

/// When an object was last written, or that this is not known. For measurements only: no rule reads it, and it is never
/// written.
///
/// The API server dates every write that changes something in `metadata.managedFields`, one entry a writer, by its own
/// clock, cut off to whole seconds. Requests to delete are not among them (see [`LastWrite::or_deletion`]). Four bytes,
/// for there are as many of these as there are objects: years 1970 to 2106. Any other time, and text that is no time,
/// counts as unknown, which is older than any time.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct LastWrite(u32);

impl LastWrite {
    /// Not known.
    pub const UNKNOWN: LastWrite = LastWrite(0);

    /// So many seconds after 1970 began.
    pub fn from_second(second: i64) -> Self {
        u32::try_from(second).map_or(Self::UNKNOWN, LastWrite)
    }

    /// The time, if it is known.
    pub fn time(self) -> Option<SystemTime> {
        let since_1970 = Duration::from_secs(self.0.into());
        (self != Self::UNKNOWN).then(|| SystemTime::UNIX_EPOCH + since_1970)
    }

    /// The request to delete the object, if that came later. The API server tells of it by `deletionTimestamp` alone,
    /// which is when the object is to be gone: `grace` seconds after the request.
    #[must_use]
    pub fn or_deletion(self, deletion: Option<Timestamp>, grace: Option<i64>) -> Self {
        let request = deletion.map(|at| at.as_second().saturating_sub(grace.unwrap_or_default()));
        self.max(request.map_or(Self::UNKNOWN, Self::from_second))
    }

    /// The newest of a full object.
    pub(crate) fn of(managed_fields: Option<&Vec<ManagedFieldsEntry>>) -> Self {
        let times = managed_fields.into_iter().flatten().filter_map(|entry| entry.time.as_ref());
        times.map(|time| Self::from_second(time.0.as_second())).max().unwrap_or_default()
    }

    /// Of an entry of `managedFields` in protobuf, up to the first field that is malformed.
    pub(crate) fn of_entry(entry: &Field<'_>) -> Self {
        let mut last = Self::UNKNOWN;
        let _ = read_entry(entry, &mut last);
        last
    }
}

fn read_entry(entry: &Field<'_>, last: &mut LastWrite) -> Result<()> {
    const TIME: u32 = 4;
    for field in entry.message()? {
        let field = field?;
        if field.number == TIME {
            *last = field.time()?.map_or(LastWrite::UNKNOWN, |time| LastWrite::from_second(time.seconds));
        }
    }
    Ok(())
}

impl fmt::Debug for LastWrite {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match Timestamp::from_second(self.0.into()) {
            Ok(time) if *self != Self::UNKNOWN => write!(f, "{time}"),
            _ => f.write_str("unknown"),
        }
    }
}

/// For `deserialize_with`: the newest of `managedFields`. No shape of them fails an object.
pub(crate) fn of_managed_fields<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> std::result::Result<LastWrite, D::Error> {
    Place::List.deserialize(deserializer)
}

/// Where in `managedFields`. Any value may stand in each place; what is not expected there is passed over.
#[derive(Clone, Copy, PartialEq)]
enum Place {
    List,
    Entry,
    Time,
}

impl<'de> DeserializeSeed<'de> for Place {
    type Value = LastWrite;
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> std::result::Result<LastWrite, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Place {
    type Value = LastWrite;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("anything")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> std::result::Result<LastWrite, A::Error> {
        let mut newest = LastWrite::UNKNOWN;
        if self == Place::List {
            while let Some(time) = list.next_element_seed(Place::Entry)? {
                newest = newest.max(time);
            }
        } else {
            while list.next_element::<IgnoredAny>()?.is_some() {}
        }
        Ok(newest)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> std::result::Result<LastWrite, A::Error> {
        let mut time = LastWrite::UNKNOWN;
        while let Some(Str(key)) = map.next_key()? {
            if self == Place::Entry && key == "time" {
                time = map.next_value_seed(Place::Time)?;
            } else {
                map.next_value::<IgnoredAny>()?;
            }
        }
        Ok(time)
    }

    fn visit_str<E>(self, text: &str) -> std::result::Result<LastWrite, E> {
        let time = if self == Place::Time { time::from_text(text) } else { None };
        Ok(time.map_or(LastWrite::UNKNOWN, |time| LastWrite::from_second(time.as_second())))
    }

    fn visit_unit<E>(self) -> std::result::Result<LastWrite, E> {
        Ok(LastWrite::UNKNOWN)
    }

    fn visit_bool<E>(self, _: bool) -> std::result::Result<LastWrite, E> {
        Ok(LastWrite::UNKNOWN)
    }

    fn visit_i64<E>(self, _: i64) -> std::result::Result<LastWrite, E> {
        Ok(LastWrite::UNKNOWN)
    }

    fn visit_u64<E>(self, _: u64) -> std::result::Result<LastWrite, E> {
        Ok(LastWrite::UNKNOWN)
    }

    fn visit_f64<E>(self, _: f64) -> std::result::Result<LastWrite, E> {
        Ok(LastWrite::UNKNOWN)
    }
}

#[cfg(test)]
mod tests {
    use kube_wire::protobuf::Fields;
    use rstest::rstest;
    use serde_json::{Value, json};

    use super::*;

    fn at(text: &str) -> Timestamp {
        text.parse().unwrap()
    }

    #[rstest]
    #[case::one(json!([{"manager": "m", "time": "1970-01-01T00:00:05Z", "fieldsV1": {"f:time": {"time": "x"}}}]), 5)]
    #[case::the_newest(json!([{"time": "1970-01-01T00:00:05Z"}, {"time": "1970-01-01T00:00:09Z"},
        {"time": "1970-01-01T00:00:07Z"}]), 9)]
    #[case::below_a_second(json!([{"time": "1970-01-01T00:00:05.9Z"}]), 5)]
    #[case::with_an_offset(json!([{"time": "1970-01-01T02:00:05+02:00"}]), 5)]
    #[case::without_a_time(json!([{"manager": "m"}, {"time": null}]), 0)]
    #[case::before_there_was_time(json!([{"time": "1969-12-31T23:59:59Z"}]), 0)]
    #[case::too_late(json!([{"time": "2106-02-07T06:28:16Z"}, {"time": "1970-01-01T00:00:05Z"}]), 5)]
    #[case::no_time(json!([{"time": "yesterday"}, {"time": "1970-01-01T00:00:05Z"}, {"time": ""}]), 5)]
    #[case::not_a_text(json!([{"time": 7}, {"time": -7}, {"time": 0.5}, {"time": true}, {"time": {"time": "x"}},
        {"time": [["1970-01-01T00:00:05Z"]]}]), 0)]
    #[case::not_an_entry(json!([7, "1970-01-01T00:00:05Z", null, [{"time": "1970-01-01T00:00:05Z"}]]), 0)]
    #[case::not_a_list(json!({"time": "1970-01-01T00:00:05Z"}), 0)]
    #[case::nothing(Value::Null, 0)]
    fn from_json(#[case] managed_fields: Value, #[case] second: i64) {
        let text = managed_fields.to_string();
        let read = of_managed_fields(&mut serde_json::Deserializer::from_str(&text)).unwrap();
        assert_eq!(read, LastWrite::from_second(second));
    }

    // Field 17 as of metadata; field 4 of an entry is the time, whose field 1 are the seconds.
    #[rstest]
    #[case::one(b"\x8a\x01\x07\x0a\x01m\x22\x02\x08\x05", 5)]
    #[case::the_rest_does_not_matter(b"\x8a\x01\x06\x22\x02\x08\x05\x3a\x7f", 5)]
    #[case::empty_time(b"\x8a\x01\x02\x22\x00", 0)]
    #[case::without_a_time(b"\x8a\x01\x03\x0a\x01m", 0)]
    #[case::cut(b"\x8a\x01\x03\x22\x09\x08", 0)]
    #[case::time_of_the_wrong_type(b"\x8a\x01\x02\x20\x05", 0)]
    #[case::entry_of_the_wrong_type(b"\x88\x01\x05", 0)]
    #[case::too_late(b"\x8a\x01\x08\x22\x06\x08\x80\x80\x80\x80\x10", 0)]
    fn from_protobuf(#[case] entry: &[u8], #[case] second: i64) {
        let entry = Fields::new(entry).next().unwrap().unwrap();
        assert_eq!(LastWrite::of_entry(&entry), LastWrite::from_second(second));
    }

    #[rstest]
    #[case::not_asked_to_end(None, None, 100)]
    #[case::asked_later(Some(200), Some(30), 170)]
    #[case::asked_before_the_last_write(Some(120), Some(30), 100)]
    #[case::at_once(Some(120), Some(0), 120)]
    #[case::without_grace(Some(120), None, 120)]
    #[case::longer_than_there_is_time(Some(120), Some(i64::MAX), 100)]
    #[case::less_than_none(Some(120), Some(i64::MIN), 100)]
    fn asked_to_end(#[case] deletion: Option<i64>, #[case] grace: Option<i64>, #[case] second: i64) {
        let deletion = deletion.map(|second| Timestamp::from_second(second).unwrap());
        let last = LastWrite::from_second(100).or_deletion(deletion, grace);
        assert_eq!(last, LastWrite::from_second(second));
    }

    #[test]
    fn a_time_is_told_as_such() {
        let last = LastWrite::from_second(at("2026-11-20T10:41:07Z").as_second());
        assert_eq!(last.time(), Some(at("2026-11-20T10:41:07Z").into()));
        assert_eq!(
            (format!("{last:?}"), format!("{:?}", LastWrite::UNKNOWN)),
            ("2026-11-20T10:41:07Z".into(), "unknown".into())
        );
        assert_eq!(LastWrite::UNKNOWN.time(), None);
    }
}
