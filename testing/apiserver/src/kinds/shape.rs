//! Adapts encoded JSON to Go's encoding: `omitempty` drops empty lists, empty maps and zero values.

use serde_json::{Map, Value};

/// Fields with maps, which Go omits if they are empty. Other empty objects, such as `emptyDir`, are pointers to structs
/// and are kept.
const MAPS: [&str; 14] = [
    "allocatable",
    "annotations",
    "binaryData",
    "capacity",
    "data",
    "labels",
    "limits",
    "matchLabels",
    "nodeSelector",
    "overhead",
    "requests",
    "selector",
    "stringData",
    "volumeAttributes",
];

/// Removes nulls, empty lists and empty maps at every depth.
pub(super) fn prune(object: &mut Map<String, Value>) {
    object.retain(|key, value| match value {
        Value::Null => false,
        Value::Array(items) if items.is_empty() => false,
        Value::Array(items) => {
            for item in items {
                if let Value::Object(item) = item {
                    prune(item);
                }
            }
            true
        }
        Value::Object(map) => {
            prune(map);
            !(map.is_empty() && MAPS.contains(&key.as_str()))
        }
        _ => true,
    });
}

/// Removes the given fields if they have the zero value of a Go field without a pointer.
pub(super) fn drop_zero(object: &mut Map<String, Value>, fields: &[&str]) {
    for field in fields {
        let zero = match object.get(*field) {
            Some(Value::Bool(value)) => !value,
            Some(Value::String(text)) => text.is_empty(),
            Some(Value::Number(number)) => number.as_i64() == Some(0),
            _ => false,
        };
        if zero {
            object.remove(*field);
        }
    }
}

/// Adds the given fields if they are absent: Go encodes them without `omitempty`.
pub(super) fn always(object: &mut Map<String, Value>, fields: &[(&str, Value)]) {
    for (field, value) in fields {
        if !object.contains_key(*field) {
            object.insert((*field).to_owned(), value.clone());
        }
    }
}

/// Returns the object in a field, inserting an empty one if the field is absent; `None` if the field is not an object.
pub(super) fn section<'a>(object: &'a mut Map<String, Value>, field: &str) -> Option<&'a mut Map<String, Value>> {
    object.entry(field).or_insert_with(|| Value::Object(Map::new())).as_object_mut()
}

/// Returns the objects in a list field; none if the field is absent.
pub(super) fn items<'a>(
    object: &'a mut Map<String, Value>,
    field: &str,
) -> impl Iterator<Item = &'a mut Map<String, Value>> {
    object.get_mut(field).and_then(Value::as_array_mut).into_iter().flatten().filter_map(Value::as_object_mut)
}
