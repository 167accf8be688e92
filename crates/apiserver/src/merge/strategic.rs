//! Strategic merge patches: merge patches with list keys from the schema, and with directives.

use serde_json::{Map, Value};

use super::order::interleave;
use crate::schema::{ListKind, Node};

const DIRECTIVE: &str = "$patch";
const RETAIN_KEYS: &str = "$retainKeys";
pub(super) const ELEMENT_ORDER: &str = "$setElementOrder/";
const DELETE_FROM: &str = "$deleteFromPrimitiveList/";

/// Error of an invalid patch, in upstream's wording.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum StrategicError {
    /// The `$patch` directive has an unknown value.
    #[error("Unknown patch type: {0}")]
    UnknownDirective(String),
    /// An item of a keyed list has no key.
    #[error("map: {item} does not contain declared merge key: {key}")]
    NoMergeKey {
        /// JSON of the item.
        item: String,
        /// Name of the key field.
        key: String,
    },
    /// A directive has a value of the wrong type or content.
    #[error("The format of {0} is bad")]
    BadDirective(String),
}

/// Applies a patch to an object. Without a schema, lists are replaced.
///
/// # Errors
/// [`StrategicError`] for an invalid patch; the object may be partly changed.
pub(crate) fn merge_strategic(
    object: &mut Value,
    patch: Value,
    schema: Option<Node<'_>>,
) -> Result<(), StrategicError> {
    let Value::Object(patch) = patch else {
        return Err(StrategicError::BadDirective("a patch that is not an object".to_owned()));
    };
    if !object.is_object() {
        *object = Value::Object(Map::new());
    }
    match object {
        Value::Object(map) => merge_map(map, patch, schema),
        _ => Ok(()),
    }
}

fn merge_map(
    map: &mut Map<String, Value>,
    mut patch: Map<String, Value>,
    schema: Option<Node<'_>>,
) -> Result<(), StrategicError> {
    match patch.remove(DIRECTIVE) {
        None => {}
        Some(Value::String(directive)) => match directive.as_str() {
            "merge" => {}
            "replace" => {
                *map = without_nulls(patch);
                return Ok(());
            }
            "delete" => {
                map.clear();
                return Ok(());
            }
            other => return Err(StrategicError::UnknownDirective(other.to_owned())),
        },
        Some(other) => return Err(StrategicError::UnknownDirective(other.to_string())),
    }
    if let Some(retained) = patch.remove(RETAIN_KEYS) {
        retain_keys(map, &patch, &retained)?;
    }
    let orders = take_prefixed(&mut patch, ELEMENT_ORDER)?;
    for (field, values) in take_prefixed(&mut patch, DELETE_FROM)? {
        if let Some(Value::Array(items)) = map.get_mut(&field) {
            items.retain(|item| !values.contains(item));
        }
    }
    // `$setElementOrder` without a patch of the list reorders the list.
    for field in orders.keys() {
        if !patch.contains_key(field) && map.contains_key(field) {
            patch.insert(field.clone(), Value::Array(Vec::new()));
        }
    }
    for (field, value) in patch {
        let schema = schema.and_then(|schema| schema.field(&field));
        match value {
            Value::Null => {
                map.remove(&field);
            }
            Value::Object(patch) => {
                let target = map.entry(field).or_insert_with(|| Value::Object(Map::new()));
                if !target.is_object() {
                    *target = Value::Object(Map::new());
                }
                if let Value::Object(target) = target {
                    merge_map(target, patch, schema)?;
                }
            }
            Value::Array(patch) => {
                let was = map.get(&field).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
                let order = orders.get(&field).map(Vec::as_slice);
                let merged = merge_list(was, patch, order, schema)?;
                map.insert(field, Value::Array(merged));
            }
            value => {
                map.insert(field, value);
            }
        }
    }
    Ok(())
}

fn merge_list(
    was: &[Value],
    patch: Vec<Value>,
    order: Option<&[Value]>,
    schema: Option<Node<'_>>,
) -> Result<Vec<Value>, StrategicError> {
    match schema.map_or(ListKind::Atomic, Node::patched_as) {
        ListKind::Atomic => Ok(patch),
        ListKind::Set => Ok(merge_set(was, &patch, order)),
        ListKind::Keyed(key) => merge_keyed(was, patch, order, key, schema.and_then(Node::items)),
    }
}

fn merge_set(was: &[Value], patch: &[Value], order: Option<&[Value]>) -> Vec<Value> {
    let mut merged = was.to_vec();
    for value in patch {
        if !merged.contains(value) {
            merged.push(value.clone());
        }
    }
    let order = order.unwrap_or(patch);
    interleave(merged, |item| position_of(order, item), |item| position_of(was, item))
}

fn merge_keyed(
    was: &[Value],
    patch: Vec<Value>,
    order: Option<&[Value]>,
    key: &str,
    schema: Option<Node<'_>>,
) -> Result<Vec<Value>, StrategicError> {
    let mut merged = was.to_vec();
    let mut plain = Vec::new();
    let mut replaced = false;
    for item in patch {
        match item.get(DIRECTIVE).and_then(Value::as_str) {
            Some("delete") => {
                let value = key_of(&item, key)?;
                merged.retain(|item| item.get(key) != Some(&value));
            }
            Some("replace") => {
                replaced = true;
                // An item with a key replaces the item with that key; one without marks the whole list as replaced.
                if let Value::Object(mut item) = item
                    && item.contains_key(key)
                {
                    item.remove(DIRECTIVE);
                    plain.push(Value::Object(item));
                }
            }
            Some("merge") | None => plain.push(item),
            Some(other) => return Err(StrategicError::UnknownDirective(other.to_owned())),
        }
    }
    if replaced {
        return Ok(plain);
    }
    for item in &plain {
        let value = key_of(item, key)?;
        let Value::Object(patch) = item else { continue };
        let at = merged.iter().position(|item| item.get(key) == Some(&value));
        if let Some(Value::Object(found)) = at.and_then(|at| merged.get_mut(at)) {
            merge_map(found, patch.clone(), schema)?;
        } else {
            let mut new = Map::new();
            merge_map(&mut new, patch.clone(), schema)?;
            merged.push(Value::Object(new));
        }
    }
    let order = order.unwrap_or(&plain);
    let position_of = |list: &[Value], item: &Value| list.iter().position(|it| it.get(key) == item.get(key));
    Ok(interleave(merged, |item| position_of(order, item), |item| position_of(was, item)))
}

fn position_of(list: &[Value], item: &Value) -> Option<usize> {
    list.iter().position(|it| it == item)
}

fn key_of(item: &Value, key: &str) -> Result<Value, StrategicError> {
    item.get(key).cloned().ok_or_else(|| StrategicError::NoMergeKey { item: item.to_string(), key: key.to_owned() })
}

fn retain_keys(
    map: &mut Map<String, Value>,
    patch: &Map<String, Value>,
    retained: &Value,
) -> Result<(), StrategicError> {
    let bad = || StrategicError::BadDirective(RETAIN_KEYS.to_owned());
    let retained = retained.as_array().ok_or_else(bad)?;
    let is_retained = |field: &str| retained.iter().any(|it| it.as_str() == Some(field));
    // As upstream, every field that the patch sets must be listed.
    if patch.iter().any(|(field, value)| !value.is_null() && !field.starts_with('$') && !is_retained(field)) {
        return Err(bad());
    }
    map.retain(|field, _| is_retained(field));
    Ok(())
}

/// Removes the directives with a name prefix from the patch, and returns their values by field name.
///
/// # Errors
/// [`StrategicError::BadDirective`] if a value is not a list.
fn take_prefixed(patch: &mut Map<String, Value>, prefix: &str) -> Result<Directives, StrategicError> {
    let names: Vec<String> = patch.keys().filter(|name| name.starts_with(prefix)).cloned().collect();
    let mut found = Directives::new();
    for name in names {
        match patch.remove(&name) {
            Some(Value::Array(values)) => {
                found.insert(name[prefix.len()..].to_owned(), values);
            }
            _ => return Err(StrategicError::BadDirective(name)),
        }
    }
    Ok(found)
}

type Directives = std::collections::BTreeMap<String, Vec<Value>>;

fn without_nulls(map: Map<String, Value>) -> Map<String, Value> {
    map.into_iter().filter(|(_, value)| !value.is_null()).collect()
}

#[cfg(test)]
mod tests;
