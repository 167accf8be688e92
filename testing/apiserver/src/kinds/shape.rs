//! Adapts encoded JSON to Go's encoding, which has no nulls and empty lists but of the fields without `omitempty`.

use serde_json::{Map, Value};

/// Removes nulls and empty lists at every depth, and empty labels and annotations.
pub(super) fn prune(object: &mut Map<String, Value>) {
    object.retain(|key, value| match value {
        Value::Null => false,
        Value::Array(items) => {
            items.iter_mut().filter_map(Value::as_object_mut).for_each(prune);
            !items.is_empty()
        }
        Value::Object(map) => {
            prune(map);
            !map.is_empty() || !matches!(key.as_str(), "annotations" | "labels")
        }
        _ => true,
    });
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
