//! Checks of an applied configuration against the schema of its kind, as upstream's `typed/validate.go`.

use std::collections::BTreeSet;

use serde_json::Value;

use super::path::Element;
use crate::schema::Node;

/// Returns what upstream rejects in an applied configuration, whatever `fieldValidation` is: fields outside of the schema,
/// and items of lists that cannot be told apart. One message for each, or none.
pub(crate) fn violations(config: &Value, schema: Node<'_>) -> Vec<String> {
    let mut found = Vec::new();
    visit(config, schema, "", &mut found);
    found
}

/// Formats violations as upstream's `ValidationErrors`.
pub(crate) fn violation_text(violations: &[String]) -> String {
    match violations {
        [only] => only.clone(),
        all => {
            let all: Vec<String> = all.iter().map(|it| format!("\n  {it}")).collect();
            format!("errors:{}", all.concat())
        }
    }
}

fn visit(value: &Value, schema: Node<'_>, path: &str, found: &mut Vec<String>) {
    match value {
        Value::Object(map) => {
            for (name, value) in map {
                let path = format!("{path}.{name}");
                match schema.field(name) {
                    Some(field) => visit(value, field, &path, found),
                    None if schema.is_open() || schema.is_embedded_field(name) => {}
                    None => found.push(format!("{path}: field not declared in schema")),
                }
            }
        }
        Value::Array(items) => {
            let (keys, Some(item_schema)) = (schema.list_map_keys(), schema.items()) else { return };
            if keys.is_empty() && !schema.is_set() {
                for (i, item) in items.iter().enumerate() {
                    visit(item, item_schema, &format!("{path}[{i}]"), found);
                }
                return;
            }
            let mut elements = BTreeSet::new();
            for (i, item) in items.iter().enumerate() {
                if let Some(why) = no_element(item, &keys, item_schema) {
                    found.push(format!("{path}: element {i}: {why}"));
                    continue;
                }
                let element = Element::of(item, &keys, Some(item_schema));
                visit(item, item_schema, &format!("{path}{element}"), found);
                if !elements.insert(element.clone()) {
                    found.push(format!("{path}: duplicate entries for key {element}"));
                }
            }
        }
        _ => {}
    }
}

/// Returns why an item of a list with keys, or of a set, has no identity.
fn no_element(item: &Value, keys: &[&str], schema: Node<'_>) -> Option<String> {
    if keys.is_empty() {
        return match item {
            Value::Null => Some("associative list without keys has an element that's an explicit null".to_owned()),
            Value::Object(_) => Some("associative list without keys has an element that's a map type".to_owned()),
            Value::Array(_) => Some("not supported: associative list with lists as elements".to_owned()),
            _ => None,
        };
    }
    let Value::Object(fields) = item else {
        let what = if item.is_null() { "explicit null" } else { "element that's not a map" };
        return Some(format!("associative list with keys may not have non-map elements, but has an {what}"));
    };
    let is_absent =
        |key: &&&str| !fields.contains_key(**key) && schema.field(key).and_then(Node::default_value).is_none();
    let absent = keys.iter().find(is_absent)?;
    Some(format!(
        "associative list with keys has an element that omits key field {absent:?} (and doesn't have default value)"
    ))
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use serde_json::json;

    use super::*;

    #[rstest]
    #[case::declared(json!({"kind": "Service", "metadata": {"labels": {"a": "b"}}, "spec": {"ports": [{"port": 80}]}}), &[])]
    #[case::undeclared(json!({"spec": {"foo": 1}, "bar": {}}),
        &[".bar: field not declared in schema", ".spec.foo: field not declared in schema"])]
    #[case::in_an_item(json!({"spec": {"ports": [{"port": 80, "x": 1}]}}),
        &[".spec.ports[port=80,protocol=\"TCP\"].x: field not declared in schema"])]
    #[case::duplicate_keys(json!({"spec": {"ports": [{"port": 80}, {"port": 80, "protocol": "TCP"}]}}),
        &[".spec.ports: duplicate entries for key [port=80,protocol=\"TCP\"]"])]
    #[case::missing_key(json!({"spec": {"ports": [{"name": "a"}]}}),
        &[".spec.ports: element 0: associative list with keys has an element that omits key field \"port\" (and doesn't have default value)"])]
    #[case::duplicate_values(json!({"metadata": {"finalizers": ["x/a", "x/a"]}}),
        &[".metadata.finalizers: duplicate entries for key [=\"x/a\"]"])]
    fn services(#[case] config: Value, #[case] expect: &[&str]) {
        let schema = Node::of_type("io.k8s.api.core.v1.Service").unwrap();
        assert_eq!(violations(&config, schema), expect);
    }

    #[test]
    fn several_violations_have_a_line_each() {
        assert_eq!(violation_text(&["a".to_owned()]), "a");
        assert_eq!(violation_text(&["a".to_owned(), "b".to_owned()]), "errors:\n  a\n  b");
    }
}
