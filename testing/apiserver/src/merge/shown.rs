//! Values and patches in error messages, as Go and upstream show them.

use serde_json::{Map, Value};

use super::strategic::ELEMENT_ORDER;

/// Returns what upstream shows of a patch that it has applied: without the lists that have an element order, which are
/// removed from the patch when they are merged.
pub(crate) fn rest_of_patch(patch: &Value) -> Value {
    let Value::Object(fields) = patch else { return patch.clone() };
    let merged = |field: &str| fields.contains_key(&format!("{ELEMENT_ORDER}{field}"));
    let rest = fields.iter().filter(|(field, _)| !field.starts_with(ELEMENT_ORDER) && !merged(field));
    Value::Object(rest.map(|(field, value)| (field.clone(), rest_of_patch(value))).collect::<Map<_, _>>())
}

/// Formats a value as the verb `%v` of Go's `fmt`, such as `map[labels:map[a:b] names:[x y]]`.
pub(crate) fn go_text(value: &Value) -> String {
    match value {
        Value::Null => "<nil>".to_owned(),
        Value::String(text) => text.clone(),
        Value::Array(items) => go_list(items),
        Value::Object(fields) => go_map(fields),
        other => other.to_string(),
    }
}

pub(super) fn go_list(items: &[Value]) -> String {
    let items: Vec<String> = items.iter().map(go_text).collect();
    format!("[{}]", items.join(" "))
}

pub(super) fn go_map(fields: &Map<String, Value>) -> String {
    let fields: Vec<String> = fields.iter().map(|(field, value)| format!("{field}:{}", go_text(value))).collect();
    format!("map[{}]", fields.join(" "))
}

/// Formats a value as the verb `%#v` of Go's `fmt`, such as `map[string]interface {}{"a":1}`.
pub(crate) fn go_syntax(value: &Value) -> String {
    match value {
        Value::Null => "interface {}(nil)".to_owned(),
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(go_syntax).collect();
            format!("{}{{{}}}", go_type(value), items.join(", "))
        }
        Value::Object(fields) => {
            let fields: Vec<String> =
                fields.iter().map(|(field, value)| format!("{field:?}:{}", go_syntax(value))).collect();
            format!("{}{{{}}}", go_type(value), fields.join(", "))
        }
        scalar => scalar.to_string(),
    }
}

/// Returns Go's error of decoding a value as an object; `None` for an object, and for null, which leaves it empty.
pub(crate) fn no_object(value: &Value) -> Option<String> {
    let found = match value {
        Value::Null | Value::Object(_) => return None,
        Value::Array(_) => "array",
        Value::String(_) => "string",
        Value::Bool(_) => "bool",
        Value::Number(_) => "number",
    };
    Some(format!("json: cannot unmarshal {found} into Go value of type map[string]interface {{}}"))
}

/// Returns the name of the Go type of a decoded JSON value.
pub(crate) fn go_type(value: &Value) -> &'static str {
    match value {
        Value::Null => "%!s(<nil>)",
        Value::Bool(_) => "bool",
        Value::Number(number) if number.is_f64() => "float64",
        Value::Number(_) => "int64",
        Value::String(_) => "string",
        Value::Array(_) => "[]interface {}",
        Value::Object(_) => "map[string]interface {}",
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn merged_lists_are_left_out() {
        let patch = json!({
            "metadata": {"labels": {"tier": "front"}, "finalizers": ["a", "b"]},
            "spec": {"$setElementOrder/ports": [{"port": 80}], "ports": [{"port": 80}], "replicas": 2, "paused": null}
        });
        let expect = "map[metadata:map[finalizers:[a b] labels:map[tier:front]] spec:map[paused:<nil> replicas:2]]";
        assert_eq!(go_text(&rest_of_patch(&patch)), expect);
    }
}
