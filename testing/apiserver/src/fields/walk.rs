//! The fields of a value, and the differences of two values.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::path::Element;
use super::set::FieldSet;
use crate::schema::Node;

/// Values inside of a value that are owned separately.
pub(super) enum Parts<'v, 's> {
    /// None: the value is a scalar, or an object or list that is owned as a whole.
    Leaf,
    /// Fields of an object.
    Fields(BTreeMap<Element, (&'v Value, Option<Node<'s>>)>),
    /// Items of a list, by key or value.
    Items(BTreeMap<Element, (&'v Value, Option<Node<'s>>)>),
}

impl<'v, 's> Parts<'v, 's> {
    /// Returns the parts of a value. Without a schema, objects have fields and lists are owned as a whole.
    pub(super) fn of(value: &'v Value, schema: Option<Node<'s>>) -> Self {
        match value {
            Value::Object(object) if !schema.is_some_and(Node::is_atomic_map) => {
                let fields = object.iter().map(|(name, value)| {
                    let schema = schema.and_then(|schema| schema.field(name));
                    (Element::Field(name.clone()), (value, schema))
                });
                Parts::Fields(fields.collect())
            }
            Value::Array(items) => {
                let keys = schema.map(Node::list_map_keys).unwrap_or_default();
                let item_schema = schema.and_then(Node::items);
                if keys.is_empty() && !schema.is_some_and(Node::is_set) {
                    return Parts::Leaf;
                }
                let item = |item: &'v Value| (Element::of(item, &keys, item_schema), (item, item_schema));
                Parts::Items(items.iter().map(item).collect())
            }
            _ => Parts::Leaf,
        }
    }
}

/// Returns the fields that an applied configuration sets.
pub(super) fn fields_of(value: &Value, schema: Option<Node<'_>>) -> FieldSet {
    let mut set = FieldSet::default();
    collect(value, schema, &mut Vec::new(), &mut set);
    set
}

fn collect(value: &Value, schema: Option<Node<'_>>, path: &mut Vec<Element>, set: &mut FieldSet) {
    let (parts, is_list) = match Parts::of(value, schema) {
        Parts::Leaf => return set.insert(path),
        Parts::Fields(parts) => (parts, false),
        Parts::Items(parts) => (parts, true),
    };
    for (element, (part, part_schema)) in parts {
        let named = schema
            .and_then(Node::properties)
            .is_some_and(|properties| matches!(&element, Element::Field(name) if properties.contains_key(name)));
        path.push(element);
        collect(part, part_schema, path, set);
        // Items and keys of maps are members themselves; of named fields, null and empty objects.
        if is_list || !named || part.is_null() || part.as_object().is_some_and(Map::is_empty) {
            set.insert(path);
        }
        path.pop();
    }
}

/// Differences of two values.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Comparison {
    pub(super) added: FieldSet,
    pub(super) modified: FieldSet,
    pub(super) removed: FieldSet,
}

impl Comparison {
    pub(super) fn of(old: &Value, new: &Value, schema: Option<Node<'_>>) -> Self {
        let mut comparison = Self::default();
        comparison.compare(Some(old), Some(new), schema, &mut Vec::new());
        comparison
    }

    /// Returns the differences without those at the given paths and inside of them.
    pub(super) fn without(mut self, paths: &[&[&str]]) -> Self {
        for path in paths {
            self.added.remove_tree(path);
            self.modified.remove_tree(path);
            self.removed.remove_tree(path);
        }
        self
    }

    /// Returns the fields that the new value sets.
    pub(super) fn set(&self) -> FieldSet {
        let mut set = self.added.clone();
        set.union(&self.modified);
        set
    }

    pub(super) fn is_same(&self) -> bool {
        self.added.is_empty() && self.modified.is_empty() && self.removed.is_empty()
    }

    fn compare(&mut self, old: Option<&Value>, new: Option<&Value>, schema: Option<Node<'_>>, path: &mut Vec<Element>) {
        if old == new {
            return;
        }
        let (old_parts, new_parts) = match (old.map(|it| Parts::of(it, schema)), new.map(|it| Parts::of(it, schema))) {
            (Some(Parts::Fields(old)), Some(Parts::Fields(new)))
            | (Some(Parts::Items(old)), Some(Parts::Items(new))) => (old, new),
            // Null equals an absent list or object, unless the other one is empty.
            (None, Some(Parts::Fields(new) | Parts::Items(new))) => (BTreeMap::new(), new),
            (Some(Parts::Fields(old) | Parts::Items(old)), None) => (old, BTreeMap::new()),
            (Some(_), Some(Parts::Fields(new) | Parts::Items(new))) if is_null(old) && !new.is_empty() => {
                (BTreeMap::new(), new)
            }
            (Some(Parts::Fields(old) | Parts::Items(old)), Some(_)) if is_null(new) && !old.is_empty() => {
                (old, BTreeMap::new())
            }
            _ => {
                match (old, new) {
                    (None, _) => self.added.insert(path),
                    (_, None) => self.removed.insert(path),
                    _ => self.modified.insert(path),
                }
                return;
            }
        };
        for (element, (part, part_schema)) in &new_parts {
            path.push(element.clone());
            self.compare(old_parts.get(element).map(|it| it.0), Some(part), *part_schema, path);
            path.pop();
        }
        for (element, (part, part_schema)) in &old_parts {
            if !new_parts.contains_key(element) {
                path.push(element.clone());
                self.compare(Some(part), None, *part_schema, path);
                path.pop();
            }
        }
        match (old, new) {
            (None, _) => self.added.insert(path),
            (_, None) => self.removed.insert(path),
            _ => {}
        }
    }
}

fn is_null(value: Option<&Value>) -> bool {
    value.is_some_and(Value::is_null)
}
