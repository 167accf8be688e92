//! Strategic merge patches: merge patches with list keys from the schema, and with directives (Go: `strategicpatch`).

use serde_json::{Map, Value};

use super::lists::{merge_list, merge_ordered, without_directives, without_nulls};
use crate::schema::Node;

pub(super) const DIRECTIVE: &str = "$patch";
const RETAIN_KEYS: &str = "$retainKeys";
pub(super) const ELEMENT_ORDER: &str = "$setElementOrder/";
const DELETE_FROM: &str = "$deleteFromPrimitiveList/";

/// Result of a merge, or why a patch cannot be applied.
pub(super) type Merge<T> = Result<T, String>;

/// Applies a patch to an object. Lists without merge keys in the schema are replaced.
pub(crate) fn merge_strategic(object: &mut Value, patch: Value, schema: Option<Node<'_>>) -> Merge<()> {
    let Value::Object(patch) = patch else { return Err("a strategic merge patch is an object".to_owned()) };
    let mut merged = Map::new();
    if let Value::Object(map) = object {
        std::mem::swap(map, &mut merged);
    }
    *object = Value::Object(merge_map(merged, patch, schema)?);
    Ok(())
}

pub(super) fn merge_map(
    mut map: Map<String, Value>,
    mut patch: Map<String, Value>,
    schema: Option<Node<'_>>,
) -> Merge<Map<String, Value>> {
    if let Some(directive) = patch.remove(DIRECTIVE) {
        return match directive.as_str() {
            Some("replace") => Ok(without_nulls(patch)),
            Some("delete") => Ok(Map::new()),
            _ => Err(format!("unknown patch type: {directive}")),
        };
    }
    if let Some(Value::Array(retained)) = patch.remove(RETAIN_KEYS) {
        map.retain(|field, _| retained.iter().any(|it| it.as_str() == Some(field)));
    }
    merge_ordered_lists(&mut map, &mut patch, schema)?;
    for (field, value) in patch {
        if let Some(field) = field.strip_prefix(DELETE_FROM) {
            if let (Some(Value::Array(items)), Value::Array(deleted)) = (map.get_mut(field), value) {
                items.retain(|item| !deleted.contains(item));
            }
            continue;
        }
        let schema = schema.and_then(|schema| schema.field(&field));
        let merged = match (map.remove(&field), value) {
            (_, Value::Null) => None,
            (Some(Value::Object(was)), Value::Object(patch)) => Some(Value::Object(merge_map(was, patch, schema)?)),
            (Some(Value::Array(was)), Value::Array(patch)) => Some(Value::Array(merge_list(was, patch, schema)?)),
            (_, value) => without_directives(value),
        };
        map.extend(merged.map(|merged| (field, merged)));
    }
    Ok(map)
}

/// Merges the lists whose order the patch gives, and removes them from the patch.
fn merge_ordered_lists(
    map: &mut Map<String, Value>,
    patch: &mut Map<String, Value>,
    schema: Option<Node<'_>>,
) -> Merge<()> {
    let directives: Vec<String> = patch.keys().filter(|name| name.starts_with(ELEMENT_ORDER)).cloned().collect();
    for directive in directives {
        let order = as_list(patch.remove(&directive))?.unwrap_or_default();
        let field = &directive[ELEMENT_ORDER.len()..];
        let schema = schema.and_then(|schema| schema.field(field));
        let (was, patched) = (as_list(map.get(field).cloned())?, as_list(patch.remove(field))?);
        if was.is_some() || patched.is_some() {
            let merged = merge_ordered(&was.unwrap_or_default(), patched.unwrap_or_default(), &order, schema)?;
            map.insert(field.to_owned(), Value::Array(merged));
        }
    }
    Ok(())
}

fn as_list(value: Option<Value>) -> Merge<Option<Vec<Value>>> {
    match value {
        None => Ok(None),
        Some(Value::Array(items)) => Ok(Some(items)),
        Some(other) => Err(format!("expected a list, but received {other}")),
    }
}

#[cfg(test)]
mod tests;
