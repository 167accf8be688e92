//! The entries of `metadata.managedFields`.

use std::borrow::Cow;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::set::FieldSet;
use super::update::strip;
use super::walk::fields_of;
use crate::schema::Node;

/// How a manager set its fields.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) enum Operation {
    /// By server-side apply.
    Apply,
    /// By any other write.
    Update,
}

/// Client that writes an object.
#[derive(Debug, Clone)]
pub(crate) struct Writer<'a> {
    pub(crate) manager: &'a str,
    pub(crate) operation: Operation,
    /// `apiVersion` of the request.
    pub(crate) api_version: Cow<'a, str>,
    /// Empty for the object itself.
    pub(crate) subresource: &'a str,
    /// Paths of the fields that requests to this path do not write. No manager gets or loses them.
    pub(crate) reset: &'static [&'static [&'static str]],
    pub(crate) now: Timestamp,
}

/// Fields of one manager.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Entry {
    #[serde(default)]
    pub(super) manager: String,
    pub(super) operation: Operation,
    pub(super) api_version: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) time: Option<String>,
    fields_type: FieldsType,
    #[serde(default, rename = "fieldsV1")]
    pub(super) set: FieldSet,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub(super) subresource: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
enum FieldsType {
    FieldsV1,
}

impl Entry {
    /// Returns an entry without a time.
    pub(super) fn new(writer: &Writer<'_>, set: FieldSet) -> Self {
        Self {
            manager: writer.manager.to_owned(),
            operation: writer.operation,
            api_version: writer.api_version.clone().into_owned(),
            subresource: writer.subresource.to_owned(),
            time: None,
            fields_type: FieldsType::FieldsV1,
            set,
        }
    }

    pub(super) fn touch(&mut self, writer: &Writer<'_>) {
        self.time = Some(writer.now.strftime("%Y-%m-%dT%H:%M:%SZ").to_string());
    }

    /// Whether the entry is that of the writer. An applier keeps its entry with another version.
    pub(super) fn is_of(&self, writer: &Writer<'_>) -> bool {
        self.manager == writer.manager
            && self.operation == writer.operation
            && self.subresource == writer.subresource
            && (self.operation == Operation::Apply || self.api_version == writer.api_version)
    }

    fn names(&self) -> [&str; 3] {
        [&self.manager, &self.subresource, &self.api_version]
    }

    /// Returns the manager as upstream's messages name it.
    pub(super) fn description(&self) -> String {
        let Self { manager, api_version, subresource, .. } = self;
        let mut text = format!("{manager:?}");
        if !subresource.is_empty() {
            text = format!("{text} with subresource {subresource:?}");
        }
        if self.operation == Operation::Update {
            text = format!("{text} using {api_version}");
        }
        text
    }
}

#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Entries(pub(super) Vec<Entry>);

impl Entries {
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Removes `metadata.managedFields` from an object and returns it; `null` if there is none.
    pub(crate) fn take(object: &mut Value) -> Value {
        let meta = object.get_mut("metadata").and_then(Value::as_object_mut);
        meta.and_then(|meta| meta.remove("managedFields")).unwrap_or_default()
    }

    /// Returns the entries of an object that an apply creates.
    pub(crate) fn of_applied(config: &Value, schema: Option<Node<'_>>, writer: &Writer<'_>) -> Self {
        let mut set = fields_of(config, schema);
        strip(&mut set, writer);
        let mut entry = Entry::new(writer, set);
        entry.touch(writer);
        let mut entries = Self(vec![entry]);
        entries.drop_empty();
        entries
    }

    /// Returns whether the entries differ from others in their order and times at most.
    pub(crate) fn equal_but_for_times(&self, others: &Self) -> bool {
        self.by_owner() == others.by_owner()
    }

    fn by_owner(&self) -> Vec<([&str; 3], Operation, &FieldSet)> {
        let mut entries: Vec<_> = self.0.iter().map(|it| (it.names(), it.operation, &it.set)).collect();
        entries.sort_by_key(|(names, operation, _)| (*names, *operation));
        entries
    }

    /// Decodes `metadata.managedFields`; empty if it is invalid.
    fn decode(value: &Value) -> Self {
        Self(Vec::deserialize(value).unwrap_or_default())
    }

    /// Returns the value of `metadata.managedFields`; `None` if there are no entries.
    pub(crate) fn encode(&self) -> Option<Value> {
        let mut entries: Vec<&Entry> = self.0.iter().collect();
        entries.sort_by_key(|it| (it.operation, &it.time, &it.manager, &it.api_version, &it.subresource));
        // Strings and JSON values: encoding cannot fail.
        (!entries.is_empty()).then(|| json!(entries))
    }

    pub(super) fn drop_empty(&mut self) {
        self.0.retain(|entry| !entry.set.is_empty());
    }
}

/// `metadata.managedFields` of a stored object, and its entries.
#[derive(Debug, Clone, Default)]
pub(crate) struct ManagedFields {
    /// Null if the object has none.
    pub(crate) value: Value,
    pub(crate) entries: Entries,
}

impl ManagedFields {
    /// Removes the managed fields from an object.
    pub(crate) fn take(object: &mut Value) -> Self {
        let value = Entries::take(object);
        Self { entries: Entries::decode(&value), value }
    }

    /// Returns the entries before an update with the managed fields `given`: the given ones, the stored ones if there are
    /// none, and no entries if the client resets them by an empty list or entry.
    pub(crate) fn before_update(&self, given: &Value) -> Entries {
        let is_reset = given.as_array().is_some_and(|entries| match entries.as_slice() {
            [] => true,
            [entry] => entry.as_object().is_some_and(Map::is_empty),
            _ => false,
        });
        if is_reset {
            return Entries::default();
        }
        let given = if *given == self.value { Entries::default() } else { Entries::decode(given) };
        if given.is_empty() { self.entries.clone() } else { given }
    }
}
