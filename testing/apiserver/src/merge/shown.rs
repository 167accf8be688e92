//! Values and patches in error messages, as Go and upstream show them.

use serde_json::{Map, Value};

use super::strategic::ELEMENT_ORDER;

/// Returns what upstream shows of a strategic merge patch: the fields that are no directives and no lists that directives
/// order.
pub(crate) fn rest_of_patch(patch: &Value) -> Value {
    let Value::Object(fields) = patch else { return patch.clone() };
    let merged = |field: &str| fields.contains_key(&format!("{ELEMENT_ORDER}{field}"));
    let rest = fields.iter().filter(|(field, _)| !field.starts_with(ELEMENT_ORDER) && !merged(field));
    Value::Object(rest.map(|(field, value)| (field.clone(), rest_of_patch(value))).collect::<Map<_, _>>())
}

/// Formats a value as the verb `%v` of Go's `fmt`.
pub(crate) fn go_text(value: &Value) -> String {
    match value {
        Value::Null => "<nil>".to_owned(),
        Value::String(text) => text.clone(),
        Value::Array(items) => format!("[{}]", items.iter().map(go_text).collect::<Vec<_>>().join(" ")),
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
