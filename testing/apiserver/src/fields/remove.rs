//! Removal of fields from a value.

use serde_json::Value;

use super::path::Element;
use super::set::FieldSet;
use crate::schema::Node;

/// Removes the members of `set` from a value, with everything inside of them.
pub(super) fn remove(value: &mut Value, set: &FieldSet, schema: Option<Node<'_>>) {
    match value {
        Value::Object(object) => {
            for (element, child) in &set.children {
                let Element::Field(name) = element else { continue };
                if child.member {
                    object.remove(name);
                } else if let Some(value) = object.get_mut(name) {
                    remove(value, child, schema.and_then(|schema| schema.field(name)));
                }
            }
        }
        Value::Array(items) => {
            let keys = schema.map(Node::list_map_keys).unwrap_or_default();
            let item_schema = schema.and_then(Node::items);
            items.retain_mut(|item| {
                let element = Element::of(item, &keys, item_schema);
                match set.children.get(&element) {
                    Some(child) if child.member => false,
                    Some(child) => {
                        remove(item, child, item_schema);
                        true
                    }
                    None => true,
                }
            });
        }
        _ => {}
    }
}

/// Adds the named fields above the members to a set, so that a field is removed with the last value inside of it.
pub(super) fn with_named_parents(set: &FieldSet, schema: Option<Node<'_>>) -> FieldSet {
    let children = set.children.iter().map(|(element, child)| {
        let (child_schema, named) = match element {
            Element::Field(name) => {
                let properties = schema.and_then(Node::properties);
                let named = properties.is_some_and(|properties| properties.contains_key(name));
                (schema.and_then(|schema| schema.field(name)), named)
            }
            Element::Key(_) | Element::Value(_) => (schema.and_then(Node::items), false),
        };
        let mut child = with_named_parents(child, child_schema);
        child.member |= named;
        (element.clone(), child)
    });
    FieldSet { member: set.member, children: children.collect() }
}
