//! Sets of fields.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::path::Element;

/// Set of fields, as a tree. A value can be a member without the values inside of it, and the reverse.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "Value", into = "Value")]
pub(crate) struct FieldSet {
    /// Whether the value at this place is a member.
    pub(super) member: bool,
    pub(super) children: BTreeMap<Element, FieldSet>,
}

impl FieldSet {
    pub(crate) fn is_empty(&self) -> bool {
        !self.member && self.children.values().all(Self::is_empty)
    }

    /// Adds the value at `path`. The object itself is never a member.
    pub(super) fn insert(&mut self, path: &[Element]) {
        let mut at = self;
        for element in path {
            at = at.children.entry(element.clone()).or_default();
        }
        at.member |= !path.is_empty();
    }

    pub(super) fn union(&mut self, other: &Self) {
        self.member |= other.member;
        for (element, child) in &other.children {
            self.children.entry(element.clone()).or_default().union(child);
        }
    }

    /// Removes the members of `other`.
    pub(super) fn subtract(&mut self, other: &Self) {
        self.member &= !other.member;
        for (element, child) in &other.children {
            if let Some(own) = self.children.get_mut(element) {
                own.subtract(child);
            }
        }
        self.children.retain(|_, child| !child.is_empty());
    }

    /// Removes the value at `path` and everything inside of it.
    pub(super) fn remove_tree(&mut self, path: &[&str]) {
        let [first, rest @ ..] = path else { return };
        let element = Element::Field((*first).to_owned());
        if rest.is_empty() {
            self.children.remove(&element);
        } else if let Some(child) = self.children.get_mut(&element) {
            child.remove_tree(rest);
            if child.is_empty() {
                self.children.remove(&element);
            }
        }
    }

    pub(super) fn intersection(&self, other: &Self) -> Self {
        let children = self.children.iter().filter_map(|(element, child)| {
            let common = child.intersection(other.children.get(element)?);
            (!common.is_empty()).then(|| (element.clone(), common))
        });
        Self { member: self.member && other.member, children: children.collect() }
    }

    /// Returns the paths of all members in upstream's order: those at a place before those inside of them.
    pub(super) fn paths(&self) -> Vec<String> {
        let mut paths = Vec::new();
        self.collect_paths("", &mut paths);
        paths
    }

    fn collect_paths(&self, path: &str, paths: &mut Vec<String>) {
        let members = self.children.iter().filter(|(_, child)| child.member);
        paths.extend(members.map(|(element, _)| format!("{path}{element}")));
        for (element, child) in &self.children {
            child.collect_paths(&format!("{path}{element}"), paths);
        }
    }

    /// Returns the set as `FieldsV1`.
    fn encode(&self) -> Value {
        let mut object = Map::new();
        if self.member && !self.children.is_empty() {
            object.insert(".".to_owned(), json!({}));
        }
        object.extend(self.children.iter().map(|(element, child)| (element.encode(), child.encode())));
        Value::Object(object)
    }

    /// Parses `FieldsV1`. Unknown elements are ignored.
    fn decode(value: &Value) -> Self {
        let Some(object) = value.as_object() else { return Self::default() };
        let mut set = Self { member: object.contains_key("."), children: BTreeMap::new() };
        for (name, value) in object {
            let Some(element) = Element::decode(name) else { continue };
            let mut child = Self::decode(value);
            child.member |= value.as_object().is_some_and(Map::is_empty);
            set.children.insert(element, child);
        }
        set
    }
}

impl From<Value> for FieldSet {
    fn from(fields: Value) -> Self {
        Self::decode(&fields)
    }
}

impl From<FieldSet> for Value {
    fn from(set: FieldSet) -> Self {
        set.encode()
    }
}
