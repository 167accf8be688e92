//! Decoding of a type from a JSON value, with the path of a value that does not fit.

use std::fmt;

use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

/// Why a value cannot be decoded. Its text is `PATH: REASON`, with `.` for the value itself.
#[derive(Debug)]
pub(crate) struct Unreadable {
    path: String,
    reason: serde_json::Error,
}

impl fmt::Display for Unreadable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = if self.path.is_empty() { "." } else { &self.path };
        write!(f, "{path}: {}", self.reason)
    }
}

/// Decodes a `T`.
///
/// Only a value that does not fit is searched for the path. A decoder that tracks it would be slower, and compiled once
/// more for every kind.
pub(crate) fn decode<T: DeserializeOwned>(value: &Value) -> Result<T, Unreadable> {
    T::deserialize(value).map_err(|reason| {
        let mut path = String::new();
        locate(value, &|part| T::deserialize(&part).is_err(), &mut path);
        Unreadable { path, reason }
    })
}

/// Appends the path of the first value within `value` which makes it fail; none if `value` itself does.
fn locate(value: &Value, fails: &dyn Fn(Value) -> bool, path: &mut String) {
    match value {
        Value::Object(members) => {
            let members: Vec<_> = members.iter().collect();
            let object = |members: &[(&String, &Value)]| {
                Value::Object(members.iter().map(|&(name, value)| (name.clone(), value.clone())).collect())
            };
            if let Some(index) = first_failing(&members, &|members| fails(object(members))) {
                let (name, child) = members[index];
                if !path.is_empty() {
                    path.push('.');
                }
                path.push_str(name);
                locate(child, &|child| fails(Value::Object(Map::from_iter([(name.clone(), child)]))), path);
            }
        }
        Value::Array(items) => {
            if let Some(index) = first_failing(items, &|items| fails(Value::Array(items.to_vec()))) {
                path.extend(["[", &index.to_string(), "]"]);
                locate(&items[index], &|child| fails(Value::Array(vec![child])), path);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// Returns the index of the last part of the shortest prefix that fails, by bisection; none if the empty one does, or if
/// `parts` do not.
fn first_failing<P>(parts: &[P], fails: &dyn Fn(&[P]) -> bool) -> Option<usize> {
    if fails(&[]) || !fails(parts) {
        return None;
    }
    let (mut passing, mut failing) = (0, parts.len());
    while failing - passing > 1 {
        let middle = usize::midpoint(passing, failing);
        if fails(&parts[..middle]) { failing = middle } else { passing = middle }
    }
    Some(passing)
}

#[cfg(test)]
mod tests {
    use k8s_openapi::api::core::v1::Pod;
    use rstest::rstest;
    use serde_json::json;

    use super::*;

    fn member(at: &str, value: &Value) -> Value {
        at.split('/').rev().fold(value.clone(), |child, name| match name.parse::<usize>() {
            Ok(index) => Value::Array((0..index).map(|_| json!({"name": "x"})).chain([child]).collect()),
            Err(_) => json!({name: child, "other": 1}),
        })
    }

    #[rstest]
    #[case::root("", json!([]), ".: ")]
    #[case::object("spec", json!(3), "spec: ")]
    #[case::first_item("spec/containers/0", json!("x"), "spec.containers[0]: ")]
    #[case::later_item("spec/containers/5/ports/3/containerPort", json!("80"), "spec.containers[5].ports[3].containerPort: ")]
    #[case::map_value("metadata/labels/a.b", json!(1), "metadata.labels.a.b: ")]
    #[case::whole_array("spec/containers", json!({"a": 1}), "spec.containers: ")]
    fn path_of_what_does_not_fit(#[case] at: &str, #[case] value: Value, #[case] expect: &str) {
        let value = if at.is_empty() { value } else { member(at, &value) };
        let error = decode::<Pod>(&value).unwrap_err().to_string();
        assert!(error.starts_with(expect), "{error}");
        let tracked = serde_path_to_error::deserialize::<_, Pod>(&value).unwrap_err();
        assert_eq!(error, format!("{}: {}", tracked.path(), tracked.inner()));
    }

    /// The first of several, in the order of the members, as a decoder reports it.
    #[test]
    fn first_of_several() {
        let value = json!({"spec": {"containers": [{"name": "a"}, {"name": 1}, {"name": 2}], "nodeName": 3}});
        assert!(decode::<Pod>(&value).unwrap_err().to_string().starts_with("spec.containers[1].name: "));
    }

    #[test]
    fn bisection_takes_few_decodes() {
        let parts: Vec<usize> = (0..100_000).collect();
        let calls = std::cell::Cell::new(0);
        let found = first_failing(&parts, &|prefix| {
            calls.set(calls.get() + 1);
            prefix.contains(&77_777)
        });
        assert_eq!(found, Some(77_777));
        assert!(calls.get() <= 20, "{}", calls.get());
    }
}
