//! Lists in strategic merge patches.

use serde_json::{Map, Value};

use super::order::interleave;
use super::shown::{go_list, go_map, go_type};
use super::strategic::{DIRECTIVE, StrategicError, merge_map, unknown_directive};
use crate::schema::{ListKind, Node};

pub(super) type Merge<T> = Result<T, StrategicError>;

/// Merges a patch into a list (Go: `mergeSliceHandler`, `mergeSlice`).
pub(super) fn merge_list(was: Vec<Value>, patch: Vec<Value>, schema: Option<Node<'_>>) -> Merge<Vec<Value>> {
    let kind = schema.map_or(ListKind::Atomic, Node::patched_as);
    if kind == ListKind::Atomic {
        return Ok(patch);
    }
    if was.is_empty() && patch.is_empty() {
        return Ok(was);
    }
    let is_keyed = check_types(&[&was, &patch])?;
    match kind {
        ListKind::Keyed(key) if is_keyed => {
            let (was, patch) = without_special_items(was, patch, key)?;
            let merged = merge_keyed(was.clone(), patch.clone(), key, schema.and_then(Node::items))?;
            ordered(merged, &patch, &was, Some(key))
        }
        ListKind::Keyed(key) => ordered(merge_scalars(&was, &patch), &patch, &was, Some(key)),
        _ => ordered(merge_scalars(&was, &patch), &patch, &was, None),
    }
}

/// Merges a list with `$setElementOrder`; `None` if there is no list. `was` or `patch` is `None` if it is absent.
pub(super) fn merge_ordered(
    was: Option<Vec<Value>>,
    patch: Option<Vec<Value>>,
    order: &[Value],
    schema: Option<Node<'_>>,
) -> Merge<Option<Vec<Value>>> {
    let key = match schema.map_or(ListKind::Atomic, Node::patched_as) {
        ListKind::Keyed(key) => Some(key),
        ListKind::Atomic | ListKind::Set => None,
    };
    check_order(patch.as_deref().unwrap_or_default(), order, key)?;
    let merged = match (was.clone(), patch.clone()) {
        (None, None) => return Ok(None),
        (Some(was), None) => was,
        (None, Some(patch)) => patch.into_iter().filter_map(without_directives).collect(),
        (Some(was), Some(patch)) => merge_list(was, patch, schema)?,
    };
    let was = was.unwrap_or_default();
    if was.is_empty() && patch.is_none_or(|patch| patch.is_empty()) {
        return Err(StrategicError::NoElements);
    }
    ordered(merged, order, &was, key).map(Some)
}

/// Removes scalars from a list.
pub(super) fn delete_from(items: &mut Vec<Value>, deleted: &[Value]) -> Merge<()> {
    let is_empty = items.is_empty() && deleted.is_empty();
    if !is_empty && !check_types(&[items, deleted])? {
        items.retain(|item| !deleted.contains(item));
    }
    Ok(())
}

/// Returns the value that a patch sets where there was none, or one of another type; `None` if it is a directive.
/// Fields that are null are left out.
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

/// Removes the fields that are null, at every depth: Go decodes them as absent.
pub(super) fn discard_nulls(map: &mut Map<String, Value>) {
    map.retain(|_, value| !value.is_null());
    for value in map.values_mut() {
        let items = match value {
            Value::Array(items) => items.as_mut_slice(),
            other => std::slice::from_mut(other),
        };
        for item in items {
            if let Value::Object(map) = item {
                discard_nulls(map);
            }
        }
    }
}

/// Returns both lists without duplicates.
fn merge_scalars(was: &[Value], patch: &[Value]) -> Vec<Value> {
    let mut merged: Vec<Value> = Vec::with_capacity(was.len() + patch.len());
    for value in was.iter().chain(patch) {
        if !merged.contains(value) {
            merged.push(value.clone());
        }
    }
    merged
}

/// Applies the items with directives (Go: `mergeSliceWithSpecialElements`). Returns the list and the other items; with
/// `replace`, these are the list.
fn without_special_items(mut was: Vec<Value>, patch: Vec<Value>, key: &str) -> Merge<(Vec<Value>, Vec<Value>)> {
    let mut plain = Vec::with_capacity(patch.len());
    let mut replaced = false;
    for item in patch {
        let Some(directive) = item.get(DIRECTIVE) else {
            plain.push(item);
            continue;
        };
        match directive.as_str() {
            Some("delete") => {
                let value = key_of(&item, key)?;
                check_maps(&was)?;
                was.retain(|item| item.get(key) != Some(&value));
            }
            Some("replace") => replaced = true,
            Some("merge") => return Err(StrategicError::MergedList),
            _ => return Err(unknown_directive(directive, item.as_object().unwrap_or(&Map::new()))),
        }
    }
    Ok(if replaced { (plain, Vec::new()) } else { (was, plain) })
}

fn merge_keyed(mut merged: Vec<Value>, patch: Vec<Value>, key: &str, schema: Option<Node<'_>>) -> Merge<Vec<Value>> {
    for item in patch {
        let value = key_of(&item, key)?;
        check_maps(&merged)?;
        let Value::Object(mut patch) = item else { continue };
        if let Some(Value::Object(found)) = merged.iter_mut().find(|item| item.get(key) == Some(&value)) {
            *found = merge_map(std::mem::take(found), patch, schema)?;
        } else {
            discard_nulls(&mut patch);
            merged.push(Value::Object(patch));
        }
    }
    Ok(merged)
}

/// Orders a merged list: the items of `order` as there, the others as in `was`.
fn ordered(merged: Vec<Value>, order: &[Value], was: &[Value], key: Option<&str>) -> Merge<Vec<Value>> {
    if let Some(key) = key {
        for item in merged.iter().chain(order) {
            key_of(item, key)?;
        }
    }
    let position = |list: &[Value], item: &Value| match key {
        Some(key) => list.iter().position(|it| it.get(key) == item.get(key)),
        None => list.iter().position(|it| it == item),
    };
    Ok(interleave(merged, |item| position(order, item), |item| position(was, item)))
}

/// Checks that the patched items are in the order of `$setElementOrder` (Go: `validatePatchWithSetOrderList`).
fn check_order(patch: &[Value], order: &[Value], key: Option<&str>) -> Merge<()> {
    if patch.is_empty() || order.is_empty() {
        return Ok(());
    }
    let has_directive = |item: &&Value| item.get(DIRECTIVE).is_some();
    let mut left = patch.iter().filter(|item| !has_directive(item)).peekable();
    for place in order {
        let Some(item) = left.peek() else { return Ok(()) };
        let is_next = match key {
            Some(key) => key_of(item, key)? == key_of(place, key)?,
            None => *item == place,
        };
        if is_next {
            left.next();
        }
    }
    match left.next() {
        None => Ok(()),
        Some(_) => Err(StrategicError::OtherOrder { patch: go_list(patch), order: go_list(order) }),
    }
}

/// Returns whether the items of the lists are objects (Go: `sliceElementType`).
fn check_types(lists: &[&[Value]]) -> Merge<bool> {
    let mut items = lists.iter().copied().flatten();
    let Some(first) = items.next() else { return Err(StrategicError::NoElements) };
    if first.is_array() {
        return Err(StrategicError::ListOfLists);
    }
    if items.any(|item| go_type(item) != go_type(first)) {
        let shown: Vec<String> = lists.iter().map(|list| go_list(list)).collect();
        return Err(StrategicError::MixedTypes(format!("[{}]", shown.join(" "))));
    }
    Ok(first.is_object())
}

fn check_maps(items: &[Value]) -> Merge<()> {
    items.iter().position(|item| !item.is_object()).map_or(Ok(()), |index| Err(StrategicError::NoMap(index)))
}

fn key_of(item: &Value, key: &str) -> Merge<Value> {
    let Value::Object(map) = item else {
        return Err(StrategicError::BadType { expected: "map[string]interface {}", found: go_type(item) });
    };
    map.get(key).cloned().ok_or_else(|| StrategicError::NoMergeKey { map: go_map(map), key: key.to_owned() })
}
