//! The JSON that a Go server prints: empty lists and maps are absent, and so are the zero values of optional fields.

use serde_json::{Map, Value};

/// Maps whose emptiness means absence. Other empty objects are structs behind pointers (`emptyDir: {}`), whose presence
/// says something.
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

/// Drops nulls, empty lists and empty maps, however deep.
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

/// Drops the named fields where they hold the zero value of a Go field without a pointer.
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

/// Adds the named fields with these values where they are absent, because Go prints them even so.
pub(super) fn always(object: &mut Map<String, Value>, fields: &[(&str, Value)]) {
    for (field, value) in fields {
        if !object.contains_key(*field) {
            object.insert((*field).to_owned(), value.clone());
        }
    }
}

/// The object in a field, made if it is absent.
pub(super) fn section<'a>(object: &'a mut Map<String, Value>, field: &str) -> Option<&'a mut Map<String, Value>> {
    object.entry(field).or_insert_with(|| Value::Object(Map::new())).as_object_mut()
}

/// The objects of a list.
pub(super) fn items<'a>(
    object: &'a mut Map<String, Value>,
    field: &str,
) -> impl Iterator<Item = &'a mut Map<String, Value>> {
    object.get_mut(field).and_then(Value::as_array_mut).into_iter().flatten().filter_map(Value::as_object_mut)
}
