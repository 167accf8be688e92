//! Conversion of times to the range and syntax that upstream accepts.
//!
//! `metav1.Time` is parsed by Go's `time.Parse(time.RFC3339, …)`: years 0000 to 9999, upper-case `T` and `Z`, no second
//! 60. [`Timestamp`], which `k8s-openapi` uses, ends at 9999-12-30T22:00:00.999999999Z and accepts other formats. Times
//! are therefore checked here, and later ones have a placeholder year while the object is a Rust value.

use jiff::Timestamp;
use serde_json::{Map, Value};

use crate::schema::Node;

/// Placeholder for the year 9999. It cannot collide: times with negative years are rejected.
const PLACEHOLDER_YEAR: &str = "-004000-";
/// The placeholder as printed by `Timestamp`.
const PLACEHOLDER_YEAR_PRINTED: &str = "-4000-";
const LAST_YEAR: &str = "9999-";
/// Year with the same calendar as 9999, since the Gregorian calendar repeats every 400 years. Used to convert times of
/// 9999 to UTC.
const EQUIVALENT_YEAR: &str = "9599-";
/// Go's zero `time.Time{}`, which `metav1.Time` encodes as null.
const ZERO: &str = "0001-01-01T00:00:00Z";

/// Pattern of the common format without fraction and zone; `0` is any digit.
const PLAIN: &[u8] = b"0000-00-00T00:00:00";
/// Strings below this length are not checked. The shortest time with seconds that `Timestamp` parses is
/// `20270101T000000Z`.
const MIN_LENGTH: usize = 15;

/// Checks and normalizes the times of an object before it is converted to its Rust type, and shifts those after the
/// maximum of `Timestamp`. [`restore`] undoes the shift.
///
/// # Errors
/// A message with the field path and the text of a time that Go does not parse, or whose year in UTC is not 0000 to
/// 9999.
pub(super) fn normalize(object: &mut Value, schema: Option<Node<'_>>) -> Result<(), String> {
    let Some(schema) = schema.filter(|_| any_text(object, &is_unusual)) else { return Ok(()) };
    visit(object, schema, &mut String::new(), &mut |text, optional| {
        let normalized = normalize_time(text)?;
        Some(if optional && normalized == ZERO { Value::Null } else { Value::String(normalized) })
    })
}

/// Replaces the placeholder year of the times that [`normalize`] shifted with 9999.
pub(super) fn restore(object: &mut Map<String, Value>, schema: Option<Node<'_>>) {
    let is_shifted = |text: &str| text.starts_with(PLACEHOLDER_YEAR_PRINTED);
    let Some(schema) = schema.filter(|_| object.values().any(|value| any_text(value, &is_shifted))) else { return };
    let mut whole = Value::Object(std::mem::take(object));
    // Cannot fail: the closure returns a value for every time.
    let _ = visit(&mut whole, schema, &mut String::new(), &mut |text, _| {
        let rest = text.strip_prefix(PLACEHOLDER_YEAR_PRINTED);
        Some(Value::String(rest.map_or_else(|| text.to_owned(), |rest| [LAST_YEAR, rest].concat())))
    });
    if let Value::Object(whole) = whole {
        *object = whole;
    }
}

/// Returns `true` if any string in `value` satisfies `is`.
fn any_text(value: &Value, is: &dyn Fn(&str) -> bool) -> bool {
    match value {
        Value::String(text) => is(text),
        Value::Array(items) => items.iter().any(|item| any_text(item, is)),
        Value::Object(map) => map.values().any(|value| any_text(value, is)),
        _ => false,
    }
}

/// Returns `true` if a string may be a time that is not in the common format. Called for every string of every object,
/// so it must be cheap.
fn is_unusual(text: &str) -> bool {
    let bytes = text.as_bytes();
    let starts_like_one = bytes.first().is_some_and(|byte| matches!(byte, b'0'..=b'9' | b'+' | b'-' | b' '));
    starts_like_one
        && bytes.len() >= MIN_LENGTH
        && bytes.iter().any(|byte| matches!(byte, b'T' | b't' | b' '))
        && !is_plain(bytes)
}

/// Returns `true` for `yyyy-mm-ddThh:mm:ssZ`, with or without a fraction of six digits, except in years 0000, 0001 and
/// 9999.
fn is_plain(bytes: &[u8]) -> bool {
    let Some((date, end)) = bytes.split_at_checked(PLAIN.len()) else { return false };
    let ordinary = |year: &[u8]| !matches!(year, b"0000" | b"0001" | b"9999");
    has_shape(date, PLAIN)
        && (end == b"Z" || has_shape(end, b".000000Z"))
        && ordinary(&date[..4])
        && &date[17..] < b"60".as_slice()
        && &date[11..13] < b"24".as_slice()
}

/// Returns `true` if a string matches a pattern in which `0` is any digit and other bytes are literal.
fn has_shape(text: &[u8], pattern: &[u8]) -> bool {
    let fits = |(byte, shape): (&u8, &u8)| if *shape == b'0' { byte.is_ascii_digit() } else { byte == shape };
    text.len() == pattern.len() && text.iter().zip(pattern).all(fits)
}

/// Converts a time to a string that the Rust type accepts; `None` if the time is invalid.
fn normalize_time(text: &str) -> Option<String> {
    if text.starts_with(PLACEHOLDER_YEAR) || text.starts_with(PLACEHOLDER_YEAR_PRINTED) {
        return None;
    }
    let text = checked(text)?;
    if let Ok(time) = text.parse::<Timestamp>() {
        // With a positive offset, a time in year 0000 can be in year -1 in UTC.
        let printed = time.to_string();
        return (!printed.starts_with('-')).then_some(printed);
    }
    let equivalent = [EQUIVALENT_YEAR, text.strip_prefix(LAST_YEAR)?].concat();
    let time = equivalent.parse::<Timestamp>().ok()?.to_string();
    Some([PLACEHOLDER_YEAR, time.strip_prefix(EQUIVALENT_YEAR)?].concat())
}

/// Returns the time with at most nine fractional digits; `None` if Go does not parse it. The day of the month is
/// checked by the parser.
fn checked(text: &str) -> Option<String> {
    let (date, rest) = text.split_at_checked(PLAIN.len())?;
    let number = |range: std::ops::Range<usize>| date[range].parse::<u8>().ok();
    if !has_shape(date.as_bytes(), PLAIN) || number(11..13)? > 23 || number(14..16)? > 59 || number(17..19)? > 59 {
        return None;
    }
    let (fraction, zone) = match rest.strip_prefix(['.', ',']) {
        None => ("", rest),
        Some(rest) => {
            let end = rest.find(|it: char| !it.is_ascii_digit()).filter(|end| *end > 0)?;
            rest.split_at(end)
        }
    };
    let is_offset = has_shape(zone.as_bytes(), b"+00:00") || has_shape(zone.as_bytes(), b"-00:00");
    let in_range = |zone: &str| Some(zone[1..3].parse::<u8>().ok()? < 24 && zone[4..6].parse::<u8>().ok()? < 60);
    if zone != "Z" && !(is_offset && in_range(zone)?) {
        return None;
    }
    let fraction = &fraction[..fraction.len().min(9)];
    Some(if fraction.is_empty() { format!("{date}{zone}") } else { format!("{date}.{fraction}{zone}") })
}

/// Replaces every time in a value. The second argument of `replace` tells whether the field is optional.
///
/// # Errors
/// A message with the path of the first time for which `replace` returns `None`.
fn visit(
    value: &mut Value,
    schema: Node<'_>,
    path: &mut String,
    replace: &mut dyn FnMut(&str, bool) -> Option<Value>,
) -> Result<(), String> {
    let length = path.len();
    match value {
        Value::Object(map) => {
            let required = schema.required();
            for (name, value) in map {
                let Some(field) = schema.field(name) else { continue };
                if length > 0 {
                    path.push('.');
                }
                path.push_str(name);
                match value {
                    Value::String(text) if field.is_time() => {
                        let optional = !required.iter().any(|it| it == name);
                        let refused = || format!("{path}: parsing time {text:?} as \"2006-01-02T15:04:05Z07:00\"");
                        *value = replace(text, optional).ok_or_else(refused)?;
                    }
                    value => visit(value, field, path, replace)?,
                }
                path.truncate(length);
            }
        }
        Value::Array(items) => {
            let Some(schema) = schema.items() else { return Ok(()) };
            for (i, item) in items.iter_mut().enumerate() {
                path.extend(["[", &i.to_string(), "]"]);
                visit(item, schema, path, replace)?;
                path.truncate(length);
            }
        }
        _ => {}
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use serde_json::json;

    use super::*;

    fn pod(time: &str) -> Value {
        json!({"status": {"conditions": [{"type": "Ready", "lastTransitionTime": time}]},
            "metadata": {"annotations": {"since": time}}})
    }

    fn through(time: &str) -> Result<Value, String> {
        let schema = Node::of_type("io.k8s.api.core.v1.Pod");
        let mut object = pod(time);
        normalize(&mut object, schema)?;
        let typed: k8s_openapi::api::core::v1::Pod = serde_json::from_value(object).map_err(|it| it.to_string())?;
        let Value::Object(mut object) = serde_json::to_value(typed).unwrap() else { panic!("a pod is an object") };
        restore(&mut object, schema);
        assert_eq!(object["metadata"]["annotations"]["since"], time, "strings in other fields are unchanged");
        Ok(object["status"]["conditions"][0].get("lastTransitionTime").cloned().unwrap_or_default())
    }

    #[rstest]
    #[case("2027-01-15T08:00:00Z", json!("2027-01-15T08:00:00Z"))]
    #[case("2027-01-15T08:00:00.5+01:00", json!("2027-01-15T07:00:00Z"))]
    #[case("2027-01-15T08:00:00,1234567890123Z", json!("2027-01-15T08:00:00Z"))]
    #[case("9999-12-31T23:59:59Z", json!("9999-12-31T23:59:59Z"))]
    #[case("9999-12-31T23:59:59.999999Z", json!("9999-12-31T23:59:59Z"))]
    #[case("9999-12-31T20:00:00-03:30", json!("9999-12-31T23:30:00Z"))]
    #[case("0001-01-01T00:00:00Z", Value::Null)]
    #[case("0001-01-01T00:00:01Z", json!("0001-01-01T00:00:01Z"))]
    #[case("0000-02-29T00:00:00Z", json!("0000-02-29T00:00:00Z"))]
    fn valid_times_are_normalized(#[case] time: &str, #[case] expect: Value) {
        assert_eq!(through(time), Ok(expect));
    }

    #[rstest]
    #[case::second_60("2027-01-15T08:00:60Z")]
    #[case::lower_case_t("2027-01-15t08:00:00Z")]
    #[case::lower_case_z("2027-01-15T08:00:00z")]
    #[case::space("2027-01-15 08:00:00Z")]
    #[case::hour_24("2027-01-15T24:00:00Z")]
    #[case::no_such_day("2027-02-29T08:00:00Z")]
    #[case::no_zone("2027-01-15T08:00:00")]
    #[case::long_year("+002027-01-15T08:00:00Z")]
    #[case::without_dashes("20270115T080000Z")]
    #[case::zone_in_brackets("2027-01-15T08:00:00Z[UTC]")]
    #[case::year_10000_in_utc("9999-12-31T23:59:59-01:00")]
    #[case::year_minus_1_in_utc("0000-01-01T00:00:00+01:00")]
    #[case::stand_in("-004000-12-31T08:00:00Z")]
    fn invalid_times_are_rejected(#[case] time: &str) {
        assert!(through(time).is_err(), "{:?}", through(time));
    }
}
