//! Strategic merge patches: merge patches with list keys from the schema, and with directives.
//!
//! The functions are those of upstream's `strategicpatch` package, so that odd patches have the same result and the same
//! message.

use serde_json::{Map, Value};

use super::lists::{Merge, delete_from, discard_nulls, merge_list, merge_ordered, without_directives};
use super::shown::{go_map, go_text, go_type, no_object};
use crate::schema::Node;

pub(super) const DIRECTIVE: &str = "$patch";
const RETAIN_KEYS: &str = "$retainKeys";
pub(super) const ELEMENT_ORDER: &str = "$setElementOrder/";
const DELETE_FROM: &str = "$deleteFromPrimitiveList/";

/// Error of an invalid patch, in upstream's wording.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum StrategicError {
    /// The body is not a JSON object.
    #[error("{0}")]
    NoObject(String),
    /// The `$patch` directive has an unknown value, or one that is not allowed there.
    #[error("unknown patch type: {directive} in map: {map}")]
    UnknownDirective {
        /// Value of the directive.
        directive: String,
        /// The map with the directive, as Go shows it.
        map: String,
    },
    /// An item of a keyed list has the directive `merge`.
    #[error("merging lists cannot yet be specified in the patch")]
    MergedList,
    /// An item of a keyed list has no key.
    #[error("map: {map} does not contain declared merge key: {key}")]
    NoMergeKey {
        /// The item, as Go shows it.
        map: String,
        /// Name of the key field.
        key: String,
    },
    /// A value has another Go type than its place needs.
    #[error("expected a {expected}, but received a {found}")]
    BadType {
        /// Go type that is needed.
        expected: &'static str,
        /// Go type of the value.
        found: &'static str,
    },
    /// The items of a merged list have several types.
    #[error("list element types are not identical: {0}")]
    MixedTypes(String),
    /// `$setElementOrder` is given for lists without items.
    #[error("no elements in any of the given slices")]
    NoElements,
    /// An item of a keyed list is not an object.
    #[error("value for key {0} is not a map")]
    NoMap(usize),
    /// The items of a patched list are in another order than in `$setElementOrder`.
    #[error("The order in patch list:\n{patch}\n doesn't match $setElementOrder list:\n{order}\n")]
    OtherOrder {
        /// The patched list, as Go shows it.
        patch: String,
        /// The list of the directive, as Go shows it.
        order: String,
    },
    /// `$retainKeys` is not a list, or does not contain a field that the patch sets.
    #[error("invalid patch format of retainKeys")]
    BadRetainKeys,
    /// Lists of lists cannot be merged.
    #[error("lists of lists are not supported")]
    ListOfLists,
    /// The field has no schema.
    #[error("unable to find api field in struct {type_name} for the json field {field:?}")]
    UnknownField {
        /// Name of the Go type.
        type_name: String,
        /// Name of the field.
        field: String,
    },
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
        return no_object(&patch).map_or(Ok(()), |why| Err(StrategicError::NoObject(why)));
    };
    let mut merged = Map::new();
    if let Value::Object(map) = object {
        std::mem::swap(map, &mut merged);
    }
    *object = Value::Object(merge_map(merged, patch, schema)?);
    Ok(())
}

/// Merges a patch into a map (Go: `mergeMap`).
pub(super) fn merge_map(
    mut map: Map<String, Value>,
    mut patch: Map<String, Value>,
    schema: Option<Node<'_>>,
) -> Merge<Map<String, Value>> {
    if let Some(directive) = patch.get(DIRECTIVE) {
        return match directive.as_str() {
            Some("replace") => {
                patch.remove(DIRECTIVE);
                discard_nulls(&mut patch);
                Ok(patch)
            }
            Some("delete") => Ok(Map::new()),
            _ => Err(unknown_directive(directive, &patch)),
        };
    }
    retain_keys(&mut map, &mut patch)?;
    merge_ordered_lists(&mut map, &mut patch, schema)?;
    for (field, value) in patch {
        if let Some(field) = field.strip_prefix(DELETE_FROM) {
            match (map.get_mut(field), value) {
                (Some(Value::Array(items)), Value::Array(deleted)) => delete_from(items, &deleted)?,
                (_, Value::Null) => {
                    map.remove(field);
                }
                _ => {}
            }
            continue;
        }
        let merged = match (map.remove(&field), value) {
            (_, Value::Null) => None,
            (Some(Value::Object(was)), Value::Object(patch)) => {
                let schema = field_schema(schema, &field)?;
                Some(Value::Object(merge_map(was, patch, schema)?))
            }
            (Some(Value::Array(was)), Value::Array(patch)) => {
                let schema = field_schema(schema, &field)?;
                Some(Value::Array(merge_list(was, patch, schema)?))
            }
            (_, value) => without_directives(value),
        };
        if let Some(merged) = merged {
            map.insert(field, merged);
        }
    }
    Ok(map)
}

/// Merges the lists with `$setElementOrder`, and removes them from the patch (Go: `mergePatchIntoOriginal`).
fn merge_ordered_lists(
    map: &mut Map<String, Value>,
    patch: &mut Map<String, Value>,
    schema: Option<Node<'_>>,
) -> Merge<()> {
    let directives: Vec<String> = patch.keys().filter(|name| name.starts_with(ELEMENT_ORDER)).cloned().collect();
    for directive in directives {
        let order = as_list(patch.remove(&directive).unwrap_or_default())?;
        let field = &directive[ELEMENT_ORDER.len()..];
        let was = map.get(field).cloned().map(as_list).transpose()?;
        let patched = patch.get(field).cloned().map(as_list).transpose()?;
        let schema = field_schema(schema, field)?;
        if let Some(merged) = merge_ordered(was, patched, &order, schema)? {
            map.insert(field.to_owned(), Value::Array(merged));
            patch.remove(field);
        }
    }
    Ok(())
}

fn as_list(value: Value) -> Merge<Vec<Value>> {
    match value {
        Value::Array(items) => Ok(items),
        other => Err(StrategicError::BadType { expected: "[]interface {}", found: go_type(&other) }),
    }
}

/// Returns the schema of a field of an object; `None` if the object has no schema.
fn field_schema<'a>(schema: Option<Node<'a>>, field: &str) -> Merge<Option<Node<'a>>> {
    let Some(schema) = schema else { return Ok(None) };
    match schema.field(field) {
        Some(found) => Ok(Some(found)),
        None if schema.properties().is_none() => Ok(None),
        None => Err(StrategicError::UnknownField { type_name: schema.type_name().to_owned(), field: field.to_owned() }),
    }
}

/// Removes the fields that `$retainKeys` does not list (Go: `applyRetainKeysDirective`).
fn retain_keys(map: &mut Map<String, Value>, patch: &mut Map<String, Value>) -> Merge<()> {
    let Some(retained) = patch.remove(RETAIN_KEYS) else { return Ok(()) };
    let retained = retained.as_array().ok_or(StrategicError::BadRetainKeys)?;
    let is_retained = |field: &str| retained.iter().any(|it| it.as_str() == Some(field));
    let is_set = |(field, value): (&String, &Value)| {
        !value.is_null() && !field.starts_with(DELETE_FROM) && !field.starts_with(ELEMENT_ORDER)
    };
    if patch.iter().filter(|it| is_set(*it)).any(|(field, _)| !is_retained(field)) {
        return Err(StrategicError::BadRetainKeys);
    }
    map.retain(|field, _| is_retained(field));
    Ok(())
}

pub(super) fn unknown_directive(directive: &Value, map: &Map<String, Value>) -> StrategicError {
    // As Go formats a value that is not a string by the verb `%s`.
    let shown = match directive {
        Value::String(text) => text.clone(),
        Value::Null => "%!s(<nil>)".to_owned(),
        Value::Object(_) | Value::Array(_) => go_text(directive),
        scalar => format!("%!s({}={scalar})", go_type(scalar)),
    };
    StrategicError::UnknownDirective { directive: shown, map: go_map(map) }
}

#[cfg(test)]
mod tests;
