//! Conversion of times to the range and syntax that upstream accepts.
//!
//! `metav1.Time` is parsed by Go's `time.Parse(time.RFC3339, …)`: years 0000 to 9999, upper-case `T` and `Z`, no second
//! 60. [`Timestamp`], which `k8s-openapi` uses, ends at 9999-12-30T22:00:00.999999999Z and accepts other formats. Times
//! are therefore checked here, and later ones have a placeholder year while the object is a Rust value.

use std::sync::LazyLock;

use jiff::Timestamp;
use regex::Regex;
use serde_json::{Map, Value};

use crate::schema::Node;

/// Placeholder for the year 9999. It cannot collide: times with negative years are rejected.
const PLACEHOLDER_YEAR: &str = "-004000-";
/// The placeholder as printed by `Timestamp`.
const PLACEHOLDER_YEAR_PRINTED: &str = "-4000-";
const LAST_YEAR: &str = "9999-";
/// Year with the same calendar as 9999 (which repeats every 400 years), to convert times of 9999 to UTC.
const EQUIVALENT_YEAR: &str = "9599-";
/// Go's zero `time.Time{}`, which `metav1.Time` encodes as null.
const ZERO: &str = "0001-01-01T00:00:00Z";

/// Strings below this length are no times: the shortest that `Timestamp` parses is `20270101T000000Z`.
const MIN_LENGTH: usize = 15;

/// Time that Go parses: date and time of day, at most nine digits of the fraction, and the zone. The parser of [`Timestamp`]
/// checks the day of the month.
static TIME: LazyLock<Regex> = LazyLock::new(|| {
    let pattern = "^([0-9]{4}-[0-9]{2}-[0-9]{2}T(?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9])\
                   (?:[.,]([0-9]{1,9})[0-9]*)?(Z|[+-](?:[01][0-9]|2[0-3]):[0-5][0-9])$";
    Regex::new(pattern).expect("a constant pattern")
});

/// Time in the common format, of `metav1.Time` or `metav1.MicroTime`, in a year that [`Timestamp`] can hold.
static COMMON: LazyLock<Regex> = LazyLock::new(|| {
    let pattern = "^[12][0-9]{3}-[0-9]{2}-[0-9]{2}T(?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](?:\\.[0-9]{6})?Z$";
    Regex::new(pattern).expect("a constant pattern")
});

/// Checks and normalizes the times of an object before it is converted to its Rust type, and shifts those after the
/// maximum of `Timestamp`. [`restore`] undoes the shift. Fails with a message with the field path and the text of a
/// time that Go does not parse, or whose year in UTC is not 0000 to 9999.
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

fn any_text(value: &Value, is: &dyn Fn(&str) -> bool) -> bool {
    match value {
        Value::String(text) => is(text),
        Value::Array(items) => items.iter().any(|item| any_text(item, is)),
        Value::Object(map) => map.values().any(|value| any_text(value, is)),
        _ => false,
    }
}

/// Returns `true` if a string may be a time not in the common format. Must be cheap: called for every string.
fn is_unusual(text: &str) -> bool {
    text.len() >= MIN_LENGTH
        && text.starts_with(|first: char| first.is_ascii_digit() || "+- ".contains(first))
        && text.contains(['T', 't', ' '])
        && !COMMON.is_match(text)
}

/// Converts a time to a string that the Rust type accepts; `None` if the time is invalid.
fn normalize_time(text: &str) -> Option<String> {
    let parts = TIME.captures(text)?;
    let fraction = parts.get(2).map(|digits| format!(".{}", digits.as_str())).unwrap_or_default();
    let text = [&parts[1], &fraction, &parts[3]].concat();
    if let Ok(time) = text.parse::<Timestamp>() {
        // With a positive offset, a time in year 0000 can be in year -1 in UTC.
        let printed = time.to_string();
        return (!printed.starts_with('-')).then_some(printed);
    }
    let equivalent = [EQUIVALENT_YEAR, text.strip_prefix(LAST_YEAR)?].concat();
    let time = equivalent.parse::<Timestamp>().ok()?.to_string();
    Some([PLACEHOLDER_YEAR, time.strip_prefix(EQUIVALENT_YEAR)?].concat())
}

/// Replaces every time in a value. The second argument of `replace` tells whether the field is optional. Fails with a
/// message with the path of the first time for which `replace` returns `None`.
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
