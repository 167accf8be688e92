//! Custom resources and their structural schema: defaults, pruning, and validation with upstream's messages.
//!
//! Follows `pkg/validation/validate` of `k8s.io/kube-openapi` and `pkg/apiserver/schema` of
//! `k8s.io/apiextensions-apiserver`.

mod composites;
mod formats;
mod lists;
mod prune;
mod rules;
mod scalars;

#[cfg(test)]
mod tests;

use serde_json::{Map, Value};

use super::Node;
use crate::field::FieldErrors;

pub(crate) use lists::{check_embedded, check_lists};
pub(crate) use prune::prune;
pub(crate) use rules::{Rules, root};

/// Reports the violations of a schema by an object, and returns upstream's count of checks, which decides whose violations
/// are reported if no schema of an `anyOf` or `oneOf` is satisfied.
///
/// As upstream (CRD validation ratcheting), values that equal those at the same place of `old` are not checked.
pub(crate) fn check(
    value: &Value,
    old: Option<&Value>,
    schema: Node<'_>,
    path: &str,
    errors: &mut FieldErrors,
) -> usize {
    if old == Some(value) {
        return 0;
    }
    let mut checks = check_type(value, schema, path, errors);
    if value.is_null() {
        check_enum(value, schema, path, errors);
        return checks;
    }
    checks += 2 + composites::check(value, old, schema, path, errors);
    checks += match value {
        Value::String(text) => scalars::check_text(text, schema, path, errors),
        Value::Number(number) => scalars::check_number(number, schema, path, errors),
        Value::Array(items) => 2 + check_items(items, old, schema, path, errors),
        _ => 0,
    };
    check_enum(value, schema, path, errors);
    checks += 2;
    if let Value::Object(map) = value {
        checks += 1 + check_fields(map, old, schema, path, errors);
    }
    checks
}

fn check_type(value: &Value, schema: Node<'_>, path: &str, errors: &mut FieldErrors) -> usize {
    let expected = if schema.is_true("x-kubernetes-int-or-string") { "integer,string" } else { schema.text_of("type") };
    if expected.is_empty() {
        return 0;
    }
    if value.is_null() && schema.is_nullable() || expected.split(',').any(|expected| is_of_type(value, expected)) {
        return 2;
    }
    errors.type_invalid(path, value, expected);
    1
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
    let Some(allowed) = schema.get("enum").and_then(Value::as_array).filter(|allowed| !allowed.is_empty()) else {
        return;
    };
    // As upstream, null is never one of the values.
    let equals =
        |other: &Value| other == value || other.is_number() && value.is_number() && other.as_f64() == value.as_f64();
    if value.is_null() || !allowed.iter().any(equals) {
        let texts: Vec<String> =
            allowed.iter().map(|it| it.as_str().map_or_else(|| it.to_string(), str::to_owned)).collect();
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        errors.unsupported(path, value, &texts);
    }
}

fn check_items(items: &[Value], old: Option<&Value>, schema: Node<'_>, path: &str, errors: &mut FieldErrors) -> usize {
    let mut checks = 0;
    if let Some(schema_of_items) = schema.items() {
        for (i, item) in items.iter().enumerate() {
            let old = old_item(item, old, schema);
            checks += check(item, old, schema_of_items, &format!("{path}[{i}]"), errors);
        }
    }
    let (size, limit) = (items.len(), |keyword: &str| schema.get(keyword).and_then(Value::as_u64));
    if let Some(least) = limit("minItems").filter(|least| (size as u64) < *least) {
        errors.invalid(path, size, format_args!("{path} in body should have at least {least} items"));
    }
    if let Some(most) = limit("maxItems").and_then(|most| usize::try_from(most).ok()).filter(|most| size > *most) {
        errors.too_many(path, size, most);
    }
    checks
}

/// Returns the item of the old list with the same keys; `None` if items of the list cannot be told apart.
fn old_item<'a>(item: &Value, old: Option<&'a Value>, schema: Node<'_>) -> Option<&'a Value> {
    let keys = schema.list_map_keys();
    let mut old = old?.as_array()?.iter();
    if keys.is_empty() { None } else { old.find(|old| keys.iter().all(|key| old.get(key) == item.get(key))) }
}

fn check_fields(
    map: &Map<String, Value>,
    old: Option<&Value>,
    schema: Node<'_>,
    path: &str,
    errors: &mut FieldErrors,
) -> usize {
    let (size, limit) = (map.len(), |keyword: &str| schema.get(keyword).and_then(Value::as_u64));
    if let Some(least) = limit("minProperties").filter(|least| (size as u64) < *least) {
        errors.invalid(path, size, format_args!("{path} in body should have at least {least} properties"));
    }
    if let Some(most) = limit("maxProperties").filter(|most| size as u64 > *most) {
        errors.invalid(path, size, format_args!("{path} in body should have at most {most} properties"));
    }
    let mut checks = 0;
    for (name, value) in map {
        // The rules of the metadata are those of all kinds.
        if path.is_empty() && name == "metadata" {
            continue;
        }
        if let Some(schema) = schema.field(name) {
            checks += check(value, old.and_then(|old| old.get(name)), schema, &join(path, name), errors);
        }
    }
    for name in schema.required().iter().filter_map(Value::as_str).filter(|name| !map.contains_key(*name)) {
        errors.required(join(path, name), "");
    }
    checks
}

fn join(path: &str, name: &str) -> String {
    if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") }
}
