//! Checks of an applied configuration against the schema of its kind, as upstream's `typed/validate.go`.

use std::collections::BTreeSet;

use serde_json::Value;

use super::path::Element;
use crate::merge::{go_syntax, go_text, go_type};
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
    if value.is_null() {
        return;
    }
    match (Shape::of(schema), value) {
        (Shape::Any | Shape::Map, Value::Object(map)) => {
            for (name, value) in map {
                let path = format!("{path}.{name}");
                match schema.field(name) {
                    Some(field) => visit(value, field, &path, found),
                    None if schema.is_open() || schema.is_embedded_field(name) => {}
                    None => found.push(format!("{path}: field not declared in schema")),
                }
            }
        }
        (Shape::Any | Shape::List, Value::Array(items)) => visit_items(items, schema, path, found),
        (shape, value) => {
            if let Some(why) = shape.mismatch(value) {
                found.push(if path.is_empty() { why } else { format!("{path}: {why}") });
            }
        }
    }
}

fn visit_items(items: &[Value], schema: Node<'_>, path: &str, found: &mut Vec<String>) {
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
            // As upstream, the items after it are not checked.
            return;
        }
        let element = Element::of(item, &keys, Some(item_schema));
        if !elements.insert(element.clone()) {
            found.push(format!("{path}: duplicate entries for key {element}"));
        }
        visit(item, item_schema, &format!("{path}{element}"), found);
    }
}

/// Types of values that a schema allows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Shape {
    Map,
    List,
    Number,
    Text,
    Boolean,
    /// A scalar of any type, such as a time.
    Scalar,
    Any,
}

impl Shape {
    fn of(schema: Node<'_>) -> Self {
        if matches!(schema.type_name(), "IntOrString" | "Quantity") {
            return Self::Scalar;
        }
        let has_format = !matches!(schema.text_of("format"), "" | "byte");
        match schema.text_of("type") {
            "string" if has_format => Self::Scalar,
            "string" => Self::Text,
            "integer" | "number" => Self::Number,
            "boolean" => Self::Boolean,
            "array" => Self::List,
            "object" if !schema.is_open() => Self::Map,
            _ => Self::Any,
        }
    }

    /// Returns upstream's message about a value of another type. It shows values as Go's `fmt` does.
    fn mismatch(self, value: &Value) -> Option<String> {
        let is_expected = match self {
            Self::Map | Self::List => false,
            Self::Number => value.is_number(),
            Self::Text => value.is_string(),
            Self::Boolean => value.is_boolean(),
            Self::Scalar => !value.is_object() && !value.is_array(),
            Self::Any => true,
        };
        let shown = || format!("&{{{}}}", go_text(value));
        (!is_expected).then(|| match self {
            Self::Map => format!("expected map, got {}", shown()),
            Self::List => format!("expected list, got {}", shown()),
            Self::Number => format!("expected numeric (int or float), got {}", go_type(value)),
            Self::Text => format!("expected string, got &value.valueUnstructured{{Value:{}}}", go_syntax(value)),
            Self::Boolean => format!("expected boolean, got {}", shown()),
            Self::Scalar | Self::Any => format!("expected any scalar, got {}", shown()),
        })
    }
}

/// Returns why an item of a list with keys, or of a set, has no identity.
fn no_element(item: &Value, keys: &[&str], schema: Node<'_>) -> Option<String> {
    let why = match item {
        Value::Object(_) if keys.is_empty() => "associative list without keys has an element that's a map type",
        Value::Array(_) if keys.is_empty() => "not supported: associative list with lists as elements",
        Value::Null if keys.is_empty() => "associative list without keys has an element that's an explicit null",
        _ if keys.is_empty() => return None,
        Value::Object(fields) => {
            let has = |key: &&str| {
                fields.contains_key(*key) || schema.field(key).is_some_and(|field| field.default_value().is_some())
            };
            return (!keys.iter().any(has)).then(|| {
                let keys: Vec<String> = keys.iter().map(|key| format!("{key:?}")).collect();
                format!(
                    "associative list with keys has an element that omits all key fields [{}] (and doesn't have default \
                     values for any key fields)",
                    keys.join(" ")
                )
            });
        }
        Value::Null => "associative list with keys may not have a null element",
        _ => "associative list with keys may not have non-map elements",
    };
    Some(why.to_owned())
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
    #[case::key_with_default(json!({"spec": {"ports": [{"name": "a"}]}}), &[])]
    #[case::missing_keys(json!({"status": {"conditions": [{"reason": "a"}, 1]}}),
        &[".status.conditions: element 0: associative list with keys has an element that omits all key fields [\"type\"] (and doesn't have default values for any key fields)"])]
    #[case::no_map(json!({"spec": {"ports": [80]}}),
        &[".spec.ports: element 0: associative list with keys may not have non-map elements"])]
    #[case::null_item(json!({"spec": {"ports": [null]}}),
        &[".spec.ports: element 0: associative list with keys may not have a null element"])]
    #[case::no_string(json!({"metadata": {"labels": {"a": 1, "b": true, "c": {"d": "e"}}}}), &[
        ".metadata.labels.a: expected string, got &value.valueUnstructured{Value:1}",
        ".metadata.labels.b: expected string, got &value.valueUnstructured{Value:true}",
        ".metadata.labels.c: expected string, got &value.valueUnstructured{Value:map[string]interface {}{\"d\":\"e\"}}"])]
    #[case::no_number(json!({"spec": {"ports": [{"port": "80"}]}}),
        &[".spec.ports[port=\"80\",protocol=\"TCP\"].port: expected numeric (int or float), got string"])]
    #[case::no_boolean(json!({"spec": {"publishNotReadyAddresses": "yes"}}),
        &[".spec.publishNotReadyAddresses: expected boolean, got &{yes}"])]
    #[case::no_list(json!({"spec": {"ports": {"port": 80}}}), &[".spec.ports: expected list, got &{map[port:80]}"])]
    #[case::no_object(json!({"spec": "web"}), &[".spec: expected map, got &{web}"])]
    #[case::no_scalar(json!({"spec": {"ports": [{"port": 80, "targetPort": []}]}}),
        &[".spec.ports[port=80,protocol=\"TCP\"].targetPort: expected any scalar, got &{[]}"])]
    #[case::scalars(json!({"metadata": {"creationTimestamp": null}, "spec": {"ports": [{"port": 80, "targetPort": "x"}]}}), &[])]
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
