//! Schemas of the kinds: list keys for merging, detection of unknown fields, and OpenAPI documents. Generated from the
//! types of `k8s-openapi`, with upstream's merge keys added.

mod definitions;
mod enums;
mod merge_keys;
mod rules;
mod structural;
mod unknown;

use serde_json::{Map, Value};

use definitions::reference;
pub(crate) use definitions::{REF_PREFIX, builtin, definitions_used_by};
pub(crate) use rules::ValidationRules;
pub(crate) use structural::{check as check_structure, prune};
pub(crate) use unknown::unknown_fields;

/// How two versions of a list are merged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ListKind<'a> {
    /// The list is replaced as a whole.
    Atomic,
    /// Scalars without duplicates.
    Set,
    /// Objects identified by the field with this name.
    Keyed(&'a str),
}

/// Schema of one value, with its reference resolved.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Node<'a> {
    /// Schema before resolving the reference. Its keywords take precedence.
    here: &'a Value,
    /// Schema that `here` refers to; `here` itself without a reference.
    target: &'a Value,
    is_reference: bool,
}

impl<'a> Node<'a> {
    /// Returns the schema of a built-in type.
    #[cfg(test)]
    pub(crate) fn of_type(name: &str) -> Option<Node<'static>> {
        builtin().get(name).map(Node::new)
    }

    pub(crate) fn new(here: &'a Value) -> Self {
        let reference = reference(here).or_else(|| here.get("allOf")?.as_array()?.first().and_then(reference));
        let referenced = reference.and_then(|name| builtin().get(name));
        Self { here, target: referenced.unwrap_or(here), is_reference: referenced.is_some() }
    }

    /// Returns the schema of a field, or of the values of a map.
    pub(crate) fn field(self, name: &str) -> Option<Self> {
        match self.properties().and_then(|properties| properties.get(name)) {
            Some(field) => Some(Self::new(field)),
            None => self.target.get("additionalProperties").filter(|it| it.is_object()).map(Self::new),
        }
    }

    pub(crate) fn items(self) -> Option<Self> {
        self.target.get("items").map(Self::new)
    }

    pub(crate) fn properties(self) -> Option<&'a Map<String, Value>> {
        self.target.get("properties")?.as_object()
    }

    pub(crate) fn get(self, keyword: &str) -> Option<&'a Value> {
        self.here.get(keyword).or_else(|| self.target.get(keyword))
    }

    pub(crate) fn is_time(self) -> bool {
        self.text("format") == Some("date-time")
    }

    /// Returns the names of the required fields.
    pub(crate) fn required(self) -> &'a [Value] {
        self.target.get("required").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
    }

    pub(crate) fn text(self, keyword: &str) -> Option<&'a str> {
        self.get(keyword)?.as_str()
    }

    pub(crate) fn is_true(self, keyword: &str) -> bool {
        self.get(keyword) == Some(&Value::Bool(true))
    }

    pub(crate) fn is_nullable(self) -> bool {
        self.is_true("nullable")
    }

    /// Returns `true` if unknown fields are kept: by the schema, or since the type is one of those whose content is free,
    /// such as `FieldsV1`.
    pub(crate) fn is_open(self) -> bool {
        let is_free = self.properties().is_none() && self.target.get("additionalProperties").is_none();
        self.is_true("x-kubernetes-preserve-unknown-fields") || self.is_reference && is_free
    }

    /// Returns `true` for a field that every embedded object (`x-kubernetes-embedded-resource`) has.
    pub(crate) fn is_embedded_field(self, name: &str) -> bool {
        matches!(name, "apiVersion" | "kind" | "metadata") && self.is_true("x-kubernetes-embedded-resource")
    }

    /// Returns how a strategic merge patch merges the list.
    pub(crate) fn patched_as(self) -> ListKind<'a> {
        if !self.text("x-kubernetes-patch-strategy").is_some_and(|it| it.split(',').any(|it| it == "merge")) {
            return ListKind::Atomic;
        }
        self.text("x-kubernetes-patch-merge-key").map_or(ListKind::Set, ListKind::Keyed)
    }

    /// Returns the fields that identify the list items in server-side apply; empty unless the list type is `map`.
    pub(crate) fn list_map_keys(self) -> Vec<&'a str> {
        if self.text("x-kubernetes-list-type") != Some("map") {
            return Vec::new();
        }
        self.get("x-kubernetes-list-map-keys")
            .and_then(Value::as_array)
            .map(|keys| keys.iter().filter_map(Value::as_str).collect())
            .unwrap_or_default()
    }

    /// Returns `true` if server-side apply merges the list as a set of scalars.
    pub(crate) fn is_set(self) -> bool {
        self.text("x-kubernetes-list-type") == Some("set")
    }

    /// Returns `true` if server-side apply replaces the object as a whole.
    pub(crate) fn is_atomic_map(self) -> bool {
        self.text("x-kubernetes-map-type") == Some("atomic")
    }

    /// Returns the default value, which server-side apply uses for absent keys of list items.
    pub(crate) fn default_value(self) -> Option<&'a Value> {
        self.get("default")
    }
}
