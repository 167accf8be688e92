//! Validation and pruning of custom resources by their structural schema.

use serde_json::Value;

use super::Node;
use crate::field::FieldErrors;

/// Reports violations of types, required fields and enumerations. Patterns, bounds, formats and CEL rules are not
/// checked.
pub(crate) fn check(value: &Value, schema: Node<'_>, path: &str, errors: &mut FieldErrors) {
    let is_true = |keyword: &str| schema.get(keyword) == Some(&Value::Bool(true));
    if value.is_null() && is_true("nullable") {
        return;
    }
    if is_true("x-kubernetes-int-or-string") {
        if !(value.is_string() || value.is_i64() || value.is_u64()) {
            errors.type_invalid(path, value, "integer,string");
        }
        return;
    }
    if let Some(expected) = schema.type_name().filter(|expected| !is_of_type(value, expected)) {
        errors.type_invalid(path, value, expected);
        return;
    }
    if let Some(allowed) = schema.get("enum").and_then(Value::as_array)
        && !allowed.contains(value)
    {
        let allowed: Vec<&str> = allowed.iter().filter_map(Value::as_str).collect();
        errors.unsupported(path, value.as_str().unwrap_or_default(), &allowed);
    }
    match value {
        Value::Object(map) => {
            let join = |name: &str| if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") };
            for name in schema.get("required").and_then(Value::as_array).into_iter().flatten() {
                if let Some(name) = name.as_str().filter(|name| !map.contains_key(*name)) {
                    errors.required(join(name), "");
                }
            }
            for (name, value) in map {
                if let Some(schema) = schema.field(name) {
                    check(value, schema, &join(name), errors);
                }
            }
        }
        Value::Array(items) => {
            let Some(schema) = schema.items() else { return };
            for (i, item) in items.iter().enumerate() {
                check(item, schema, &format!("{path}[{i}]"), errors);
            }
        }
        _ => {}
    }
}

fn is_of_type(value: &Value, expected: &str) -> bool {
    match expected {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        _ => true,
    }
}

/// Removes unknown fields and sets defaults, as upstream does for custom resources.
pub(crate) fn prune(value: &mut Value, schema: Node<'_>) {
    match value {
        Value::Object(map) => {
            if !schema.is_open() {
                map.retain(|name, _| schema.field(name).is_some());
            }
            for (name, property) in schema.properties().into_iter().flatten() {
                if let Some(default) = property.get("default")
                    && !map.contains_key(name)
                {
                    map.insert(name.clone(), default.clone());
                }
            }
            for (name, value) in map {
                if let Some(schema) = schema.field(name) {
                    prune(value, schema);
                }
            }
        }
        Value::Array(items) => {
            let Some(schema) = schema.items() else { return };
            for item in items {
                prune(item, schema);
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use serde_json::json;

    use super::*;

    fn schema() -> Value {
        json!({"type": "object", "properties": {
            "spec": {"type": "object", "required": ["size"], "properties": {
                "size": {"type": "integer"},
                "mode": {"type": "string", "enum": ["fast", "safe"], "default": "safe"},
                "target": {"x-kubernetes-int-or-string": true},
                "tags": {"type": "array", "items": {"type": "string"}},
                "any": {"type": "object", "x-kubernetes-preserve-unknown-fields": true}
            }}
        }})
    }

    #[rstest]
    #[case(json!({"spec": {"size": 1, "mode": "fast", "target": "http", "tags": ["a"]}}), "")]
    #[case(json!({"spec": {}}), "spec.size: Required value")]
    #[case(json!({"spec": {"size": "1"}}), r#"spec.size: Invalid value: "string": spec.size in body must be of type integer: "string""#)]
    #[case(json!({"spec": {"size": 1, "mode": "x"}}), r#"spec.mode: Unsupported value: "x": supported values: "fast", "safe""#)]
    #[case(json!({"spec": {"size": 1, "tags": [1]}}), r#"spec.tags[0]: Invalid value: "integer": spec.tags[0] in body must be of type string: "integer""#)]
    fn structural_schema_is_enforced(#[case] object: Value, #[case] expect: &str) {
        let mut errors = FieldErrors::default();
        check(&object, Node::new(&schema()), "", &mut errors);
        assert_eq!(errors.to_string(), expect);
    }

    #[test]
    fn unknown_fields_are_pruned() {
        let mut object = json!({"spec": {"size": 1, "other": 2, "any": {"x": 1}}});
        prune(&mut object, Node::new(&schema()));
        assert_eq!(object, json!({"spec": {"size": 1, "mode": "safe", "any": {"x": 1}}}));
    }
}
