//! Zero values that Go's JSON encoder omits.

use serde_json::{Map, Value};

use super::schema::{Shape, Type, fields, message_of};

/// Removes the zero values of fields that are no pointers, and empty maps, at every depth. Does nothing to a kind without a
/// message.
pub(crate) fn omit_zero_values(api_version: &str, kind: &str, object: &mut Map<String, Value>) {
    if let Some(message) = message_of(api_version, kind) {
        omit(message, object);
    }
}

pub(super) fn omit(message: &str, object: &mut Map<String, Value>) {
    for field in fields(message) {
        if let (Shape::Inline, Type::Message(inner)) = (field.shape, field.of) {
            omit(inner, object);
            continue;
        }
        let Some(value) = object.get_mut(field.name) else { continue };
        let is_omitted = match (field.shape, &mut *value) {
            (Shape::Value, Value::Bool(value)) => !*value,
            (Shape::Value, Value::String(text)) => text.is_empty(),
            (Shape::Value, Value::Number(number)) => field.of == Type::Integer && number.as_i64() == Some(0),
            (Shape::Map, Value::Object(map)) => map.is_empty(),
            _ => false,
        };
        if is_omitted {
            object.remove(field.name);
        } else if let Type::Message(inner) = field.of {
            let items = match value {
                Value::Array(items) => items.as_mut_slice(),
                item => std::slice::from_mut(item),
            };
            items.iter_mut().filter_map(Value::as_object_mut).for_each(|item| omit(inner, item));
        }
    }
}
