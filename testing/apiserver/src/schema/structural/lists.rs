//! Lists whose items must be distinct, and embedded objects.

use serde_json::{Map, Value};

use super::join;
use crate::field::FieldErrors;
use crate::schema::Node;

/// Reports duplicates in lists of the types `set` and `map`, as upstream's `ValidateListSetsAndMaps`.
pub(crate) fn check_lists(value: &Value, schema: Node<'_>, path: &str, errors: &mut FieldErrors) {
    match value {
        Value::Object(map) => {
            for (name, value) in map {
                if let Some(schema) = schema.field(name) {
                    check_lists(value, schema, &join(path, name), errors);
                }
            }
        }
        Value::Array(items) => {
            let (keys, is_set) = (schema.list_map_keys(), schema.is_set());
            let mut seen: Vec<Value> = Vec::new();
            for (i, item) in items.iter().enumerate().filter(|_| is_set || !keys.is_empty()) {
                let identity = if is_set { item.clone() } else { keys_of(item, &keys, schema.items()) };
                if seen.contains(&identity) {
                    errors.duplicate(format!("{path}[{i}]"), &identity);
                } else {
                    seen.push(identity);
                }
            }
            let Some(schema) = schema.items() else { return };
            for (i, item) in items.iter().enumerate() {
                check_lists(item, schema, &format!("{path}[{i}]"), errors);
            }
        }
        _ => {}
    }
}

/// Returns the key fields of an item, with their defaults.
fn keys_of(item: &Value, keys: &[&str], schema: Option<Node<'_>>) -> Value {
    let key = |name: &str| {
        let default = || schema.and_then(|schema| schema.field(name)).and_then(Node::default_value);
        item.get(name).or_else(default).cloned()
    };
    Value::Object(keys.iter().filter_map(|name| Some(((*name).to_owned(), key(name)?))).collect::<Map<_, _>>())
}

/// Reports embedded objects (`x-kubernetes-embedded-resource`) without apiVersion or kind.
pub(crate) fn check_embedded(value: &Value, schema: Node<'_>, path: &str, errors: &mut FieldErrors) {
    match value {
        Value::Object(map) => {
            if schema.is_true("x-kubernetes-embedded-resource") {
                for field in ["apiVersion", "kind"] {
                    if map.get(field).and_then(Value::as_str).unwrap_or_default().is_empty() {
                        errors.required(join(path, field), "must not be empty");
                    }
                }
            }
            for (name, value) in map {
                if let Some(schema) = schema.field(name) {
                    check_embedded(value, schema, &join(path, name), errors);
                }
            }
        }
        Value::Array(items) => {
            let Some(schema) = schema.items() else { return };
            for (i, item) in items.iter().enumerate() {
                check_embedded(item, schema, &format!("{path}[{i}]"), errors);
            }
        }
        _ => {}
    }
}
