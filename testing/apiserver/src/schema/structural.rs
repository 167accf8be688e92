//! Custom resources and their structural schema: pruning, defaults, and validation with upstream's messages for the keywords
//! that definitions commonly have: types, `enum`, `required`, bounds, lengths, sizes and patterns. Other keywords, such as
//! `format` and `anyOf`, are ignored.

use std::cmp::Ordering;

use regex::Regex;
use serde_json::{Map, Number, Value};

use super::Node;
use crate::field::FieldErrors;

/// Removes unknown fields, and nulls that the schema does not allow and that have no default, and sets defaults.
pub(crate) fn prune(value: &mut Value, schema: Node<'_>) {
    match value {
        Value::Object(map) => {
            map.retain(|name, value| match schema.field(name) {
                Some(field) => !value.is_null() || field.is_nullable() || field.default_value().is_some(),
                None => schema.is_open() || schema.is_embedded_field(name),
            });
            for (name, property) in schema.properties().into_iter().flatten() {
                let property = Node::new(property);
                let is_unset = map.get(name).is_none_or(|value| value.is_null() && !property.is_nullable());
                if let Some(default) = property.default_value().filter(|_| is_unset) {
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

pub(crate) fn check(value: &Value, schema: Node<'_>, path: &str, errors: &mut FieldErrors) {
    check_type(value, schema, path, errors);
    match value {
        Value::String(text) => check_text(text, schema, path, errors),
        Value::Number(number) => check_number(number, schema, path, errors),
        Value::Array(items) => check_items(items, schema, path, errors),
        _ => {}
    }
    check_enum(value, schema, path, errors);
    if let Value::Object(map) = value {
        check_fields(map, schema, path, errors);
    }
}

fn check_type(value: &Value, schema: Node<'_>, path: &str, errors: &mut FieldErrors) {
    let is_either = schema.is_true("x-kubernetes-int-or-string");
    let expected = if is_either { "integer,string" } else { schema.text("type").unwrap_or_default() };
    let fits = value.is_null() && schema.is_nullable() || expected.split(',').any(|it| is_of_type(value, it));
    if !fits {
        errors.type_invalid(path, value, expected);
    }
}

fn is_of_type(value: &Value, expected: &str) -> bool {
    match expected {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        // As upstream, 1.0 is an integer.
        "integer" => value.is_i64() || value.is_u64() || value.as_f64().is_some_and(|number| number.fract() == 0.0),
        "number" => value.is_number(),
        _ => true,
    }
}

fn check_enum(value: &Value, schema: Node<'_>, path: &str, errors: &mut FieldErrors) {
    let allowed = schema.get("enum").and_then(Value::as_array).filter(|allowed| !allowed.is_empty());
    if let Some(allowed) = allowed.filter(|allowed| !allowed.contains(value)) {
        let texts: Vec<String> =
            allowed.iter().map(|it| it.as_str().map_or_else(|| it.to_string(), str::to_owned)).collect();
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        errors.unsupported(path, value, &texts);
    }
}

fn limit(schema: Node<'_>, keyword: &str) -> Option<usize> {
    schema.get(keyword).and_then(Value::as_u64).and_then(|limit| usize::try_from(limit).ok())
}

fn check_text(text: &str, schema: Node<'_>, path: &str, errors: &mut FieldErrors) {
    let length = text.chars().count();
    if let Some(most) = limit(schema, "maxLength").filter(|most| length > *most) {
        errors.too_long(path, most);
    } else if let Some(least) = limit(schema, "minLength").filter(|least| length < *least) {
        errors.invalid(path, text, format_args!("{path} in body should be at least {least} chars long"));
    } else if let Some(pattern) = schema.text("pattern").filter(|it| !it.is_empty())
        && !Regex::new(pattern).is_ok_and(|regex| regex.is_match(text))
    {
        errors.invalid(path, text, format_args!("{path} in body should match '{pattern}'"));
    }
}

fn check_number(number: &Number, schema: Node<'_>, path: &str, errors: &mut FieldErrors) {
    let value = number.as_f64().unwrap_or_default();
    for (bound, strict, than, outside) in [
        ("minimum", "exclusiveMinimum", "greater than", Ordering::Less),
        ("maximum", "exclusiveMaximum", "less than", Ordering::Greater),
    ] {
        let Some(bound) = schema.get(bound).and_then(Value::as_f64) else { continue };
        let (order, is_strict) = (value.partial_cmp(&bound), schema.is_true(strict));
        if order == Some(outside) || is_strict && order == Some(Ordering::Equal) {
            let or_equal = if is_strict { "" } else { " or equal to" };
            errors.invalid(path, number, format_args!("{path} in body should be {than}{or_equal} {bound}"));
        }
    }
}

fn check_items(items: &[Value], schema: Node<'_>, path: &str, errors: &mut FieldErrors) {
    if let Some(schema_of_items) = schema.items() {
        for (i, item) in items.iter().enumerate() {
            check(item, schema_of_items, &format!("{path}[{i}]"), errors);
        }
    }
    if let Some(least) = limit(schema, "minItems").filter(|least| items.len() < *least) {
        errors.invalid(path, items.len(), format_args!("{path} in body should have at least {least} items"));
    }
    if let Some(most) = limit(schema, "maxItems").filter(|most| items.len() > *most) {
        errors.too_many(path, items.len(), most);
    }
}

fn check_fields(map: &Map<String, Value>, schema: Node<'_>, path: &str, errors: &mut FieldErrors) {
    let join = |name: &str| if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") };
    for (name, value) in map {
        // The rules of the metadata are those of all kinds.
        if path.is_empty() && name == "metadata" {
            continue;
        }
        if let Some(schema) = schema.field(name) {
            check(value, schema, &join(name), errors);
        }
    }
    for name in schema.required().iter().filter_map(Value::as_str).filter(|name| !map.contains_key(*name)) {
        errors.required(join(name), "");
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use serde_json::json;

    use super::*;

    #[rstest]
    #[case::valid(json!({"type": "string", "minLength": 1, "pattern": "^a"}), json!("ab"), "")]
    #[case::type_of(json!({"type": "integer"}), json!("1"),
        "a: Invalid value: \"string\": a in body must be of type integer: \"string\"")]
    #[case::nullable(json!({"type": "integer", "nullable": true}), Value::Null, "")]
    #[case::int_or_string(json!({"x-kubernetes-int-or-string": true}), json!("1"), "")]
    #[case::too_short(json!({"type": "string", "minLength": 1}), json!(""),
        "a: Invalid value: \"\": a in body should be at least 1 chars long")]
    #[case::too_long(json!({"type": "string", "maxLength": 1}), json!("ab"), "a: Too long: may not be more than 1 bytes")]
    #[case::pattern(json!({"type": "string", "pattern": "^b"}), json!("ab"),
        "a: Invalid value: \"ab\": a in body should match '^b'")]
    #[case::minimum(json!({"type": "integer", "minimum": 1}), json!(0),
        "a: Invalid value: 0: a in body should be greater than or equal to 1")]
    #[case::exclusive(json!({"type": "number", "maximum": 1.5, "exclusiveMaximum": true}), json!(1.5),
        "a: Invalid value: 1.5: a in body should be less than 1.5")]
    #[case::items(json!({"type": "array", "maxItems": 1, "items": {"type": "string"}}), json!(["x", 1]),
        "[a[1]: Invalid value: \"integer\": a[1] in body must be of type string: \"integer\", \
         a: Too many: 2: must have at most 1 items]")]
    #[case::enumeration(json!({"type": "string", "enum": ["x", "y"]}), json!("z"),
        "a: Unsupported value: \"z\": supported values: \"x\", \"y\"")]
    #[case::required(json!({"type": "object", "required": ["b"]}), json!({}), "a.b: Required value")]
    fn violations_are_reported(#[case] schema: Value, #[case] value: Value, #[case] expect: &str) {
        let whole = json!({"type": "object", "properties": {"a": schema}});
        let mut errors = FieldErrors::default();
        check(&json!({"a": value}), Node::new(&whole), "", &mut errors);
        assert_eq!(errors.to_string(), expect);
    }

    #[test]
    fn unknown_fields_are_pruned_and_defaults_set() {
        let schema = json!({"type": "object", "properties": {
            "a": {"type": "string", "default": "x"}, "b": {"type": "integer"},
            "open": {"type": "object", "x-kubernetes-preserve-unknown-fields": true}
        }});
        let mut value = json!({"b": null, "c": 1, "open": {"d": 2}});
        prune(&mut value, Node::new(&schema));
        assert_eq!(value, json!({"a": "x", "open": {"d": 2}}));
    }
}
