//! Pruning and defaults, which a server applies to a custom resource when it decodes it.

use serde_json::Value;

use crate::schema::Node;

/// Removes unknown fields, and nulls that the schema does not allow and that have no default, and sets defaults.
pub(crate) fn prune(value: &mut Value, schema: Node<'_>) {
    match value {
        Value::Object(map) => {
            map.retain(|name, value| match schema.field(name) {
                Some(field) => !value.is_null() || field.is_nullable() || field.default_value().is_some(),
                None => schema.is_open() || schema.is_embedded_field(name),
            });
            for (name, property) in schema.properties().into_iter().flatten() {
                let property = Node::new(property);
                let is_unset = map.get(name).is_none_or(|value| value.is_null() && !property.is_nullable());
                if let Some(default) = property.default_value().filter(|_| is_unset) {
                    map.insert(name.clone(), default.clone());
                }
            }
            for (name, value) in map {
                if let Some(schema) = schema.field(name) {
                    prune(value, schema);
                }
            }
        }
        Value::Array(items) => {
            let Some(schema) = schema.items() else { return };
            for item in items {
                prune(item, schema);
            }
        }
        _ => {}
    }
}
