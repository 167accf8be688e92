//! Lists in strategic merge patches.

use serde_json::{Map, Value};

use super::order::interleave;
use super::strategic::{DIRECTIVE, Merge, merge_map};
use crate::schema::{ListKind, Node};

/// Merges a list, as its schema says. Patched items come in the order of the patch.
pub(super) fn merge_list(was: Vec<Value>, patch: Vec<Value>, schema: Option<Node<'_>>) -> Merge<Vec<Value>> {
    match schema.map_or(ListKind::Atomic, Node::patched_as) {
        ListKind::Atomic => Ok(patch),
        ListKind::Keyed(key) => {
            let (was, patch) = without_special_items(was, patch, key)?;
            let merged = merge_keyed(was.clone(), patch.clone(), key, schema.and_then(Node::items))?;
            Ok(ordered(merged, &patch, &was, Some(key)))
        }
        ListKind::Set => {
            let mut merged: Vec<Value> = Vec::with_capacity(was.len() + patch.len());
            for value in was.iter().chain(&patch) {
                if !merged.contains(value) {
                    merged.push(value.clone());
                }
            }
            Ok(ordered(merged, &patch, &was, None))
        }
    }
}

/// Merges a list whose order the patch gives by `$setElementOrder`.
pub(super) fn merge_ordered(
    was: &[Value],
    patch: Vec<Value>,
    order: &[Value],
    schema: Option<Node<'_>>,
) -> Merge<Vec<Value>> {
    let key = match schema.map_or(ListKind::Atomic, Node::patched_as) {
        ListKind::Keyed(key) => Some(key),
        ListKind::Atomic | ListKind::Set => None,
    };
    let merged = if patch.is_empty() {
        was.to_vec()
    } else if was.is_empty() {
        patch.into_iter().filter_map(without_directives).collect()
    } else {
        merge_list(was.to_vec(), patch, schema)?
    };
    Ok(ordered(merged, order, was, key))
}

/// Returns a value of a patch as it is stored where nothing was before: without directives and nulls.
pub(super) fn without_directives(value: Value) -> Option<Value> {
    match value {
        Value::Object(map) if map.contains_key(DIRECTIVE) => None,
        Value::Object(map) => {
            let fields = map.into_iter().filter(|(_, value)| !value.is_null());
            Some(Value::Object(fields.filter_map(|(field, value)| Some((field, without_directives(value)?))).collect()))
        }
        Value::Array(items) => Some(Value::Array(items.into_iter().filter_map(without_directives).collect())),
        scalar => Some(scalar),
    }
}

/// Applies the items with the directives `delete` and `replace`. Returns what is left of both lists.
fn without_special_items(mut was: Vec<Value>, patch: Vec<Value>, key: &str) -> Merge<(Vec<Value>, Vec<Value>)> {
    let mut plain = Vec::with_capacity(patch.len());
    let mut replaced = false;
    for item in patch {
        match item.get(DIRECTIVE).map(Value::as_str) {
            None => plain.push(item),
            Some(Some("delete")) => {
                let value = key_of(&item, key)?;
                was.retain(|item| item.get(key) != Some(&value));
            }
            Some(Some("replace")) => replaced = true,
            Some(_) => return Err(format!("unknown patch type in item {item}")),
        }
    }
    Ok(if replaced { (plain, Vec::new()) } else { (was, plain) })
}

fn merge_keyed(mut merged: Vec<Value>, patch: Vec<Value>, key: &str, schema: Option<Node<'_>>) -> Merge<Vec<Value>> {
    for item in patch {
        let value = key_of(&item, key)?;
        let Value::Object(patch) = item else { continue };
        if let Some(Value::Object(found)) = merged.iter_mut().find(|item| item.get(key) == Some(&value)) {
            *found = merge_map(std::mem::take(found), patch, schema)?;
        } else {
            merged.extend(without_directives(Value::Object(patch)));
        }
    }
    Ok(merged)
}

fn ordered(merged: Vec<Value>, order: &[Value], was: &[Value], key: Option<&str>) -> Vec<Value> {
    let position = |list: &[Value], item: &Value| match key {
        Some(key) => list.iter().position(|it| it.get(key) == item.get(key)),
        None => list.iter().position(|it| it == item),
    };
    interleave(merged, |item| position(order, item), |item| position(was, item))
}

fn key_of(item: &Value, key: &str) -> Merge<Value> {
    item.get(key).cloned().ok_or_else(|| format!("item {item} does not contain declared merge key: {key}"))
}

/// Removes the nulls of a map that replaces another.
pub(super) fn without_nulls(map: Map<String, Value>) -> Map<String, Value> {
    match without_directives(Value::Object(map)) {
        Some(Value::Object(map)) => map,
        _ => Map::new(),
    }
}
