//! A strategic merge patch in error messages, as upstream shows it.

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
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(go_text).collect();
            format!("[{}]", items.join(" "))
        }
        Value::Object(fields) => {
            let fields: Vec<String> =
                fields.iter().map(|(field, value)| format!("{field}:{}", go_text(value))).collect();
            format!("map[{}]", fields.join(" "))
        }
        other => other.to_string(),
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
