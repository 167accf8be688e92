//! Stored objects: encoded once, with the fields that selectors need.

use std::collections::BTreeMap;
use std::sync::Arc;

use bytes::Bytes;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use serde_json::{Map, Value};

use crate::kinds::{Kind, Prepared};
use crate::service_addresses::Allocation;

/// Namespace and name of an object.
pub(crate) type Key = (Box<str>, Box<str>);

/// Stored object. Immutable: an update creates a new one.
#[derive(Debug, Clone)]
pub(crate) struct Stored {
    /// Resource version.
    pub(crate) revision: u64,
    /// Empty for cluster-scoped kinds.
    pub(crate) namespace: Box<str>,
    pub(crate) name: Box<str>,
    pub(crate) uid: Box<str>,
    pub(crate) labels: BTreeMap<String, String>,
    fields: Vec<(Arc<str>, String)>,
    pub(super) allocations: Vec<Allocation>,
    pub(super) owners: Box<[Box<str>]>,
    pub(super) lifecycle: Lifecycle,
    /// Encoded object: `{"kind":…,"apiVersion":…,"metadata":…`.
    pub(crate) json: Bytes,
    /// Offset in [`json`](Self::json) after kind and apiVersion.
    untyped_from: usize,
}

impl Stored {
    pub(super) fn new(kind: &Kind, prepared: &mut Prepared, revision: u64) -> Self {
        let meta = &mut prepared.metadata;
        let fields = kind.selected_fields(&prepared.object);
        let (json, untyped_from) = encode(kind, &mut prepared.object, revision);
        Self {
            revision,
            namespace: meta.namespace.take().unwrap_or_default().into(),
            name: meta.name.take().unwrap_or_default().into(),
            uid: meta.uid.take().unwrap_or_default().into(),
            labels: meta.labels.take().unwrap_or_default(),
            fields,
            allocations: std::mem::take(&mut prepared.allocations),
            owners: meta.owner_references.iter().flatten().map(|owner| owner.uid.as_str().into()).collect(),
            lifecycle: Lifecycle::of(meta),
            json,
            untyped_from,
        }
    }

    /// Returns the object with another resource version, as in the event of its deletion.
    pub(super) fn at_revision(&self, kind: &Kind, revision: u64) -> Self {
        let mut object: Map<String, Value> = serde_json::from_slice(&self.json).unwrap_or_default();
        object.retain(|field, _| field != "kind" && field != "apiVersion");
        let (json, untyped_from) = encode(kind, &mut object, revision);
        Self { revision, json, untyped_from, ..self.clone() }
    }

    /// Returns namespace and name.
    pub(crate) fn key(&self) -> Key {
        (self.namespace.clone(), self.name.clone())
    }

    /// Returns the JSON of the object as an item of a list, without kind, apiVersion and the opening brace.
    pub(crate) fn untyped_json(&self) -> &[u8] {
        &self.json[self.untyped_from..]
    }

    /// Returns the value of a selectable field; empty if absent.
    pub(crate) fn field(&self, field: &str) -> &str {
        match field {
            "metadata.name" => &self.name,
            "metadata.namespace" => &self.namespace,
            _ => {
                let found = self.fields.iter().find(|(name, _)| **name == *field);
                found.map_or("", |(_, value)| value.as_str())
            }
        }
    }

    /// Decodes the object, with kind, apiVersion and resource version. This server has encoded it, so that this cannot fail.
    pub(crate) fn value(&self) -> Value {
        serde_json::from_slice(&self.json).unwrap_or_default()
    }

    /// Returns whether `object` equals this one except for its resource version. Compares encodings: encoding `object`
    /// is cheaper than decoding this one.
    pub(super) fn is_encoded_as(&self, kind: &Kind, object: &mut Map<String, Value>) -> bool {
        encode(kind, object, self.revision).0 == self.json
    }
}

/// Fields of the metadata that decide how a delete proceeds.
#[derive(Debug, Clone)]
pub(super) struct Lifecycle {
    pub(super) deletion_timestamp: Option<jiff::Timestamp>,
    pub(super) deletion_grace_period_seconds: Option<i64>,
    pub(super) finalizers: Vec<String>,
    pub(super) generation: Option<i64>,
}

impl Lifecycle {
    fn of(meta: &ObjectMeta) -> Self {
        Self {
            deletion_timestamp: meta.deletion_timestamp.as_ref().map(|time| time.0),
            deletion_grace_period_seconds: meta.deletion_grace_period_seconds,
            finalizers: meta.finalizers.clone().unwrap_or_default(),
            generation: meta.generation,
        }
    }
}

/// Encodes an object with kind and apiVersion first, as in Go. Returns the offset after them as well.
fn encode(kind: &Kind, object: &mut Map<String, Value>, revision: u64) -> (Bytes, usize) {
    if let Some(Value::Object(meta)) = object.get_mut("metadata") {
        if revision == 0 {
            // Not stored.
            meta.remove("resourceVersion");
        } else {
            meta.insert("resourceVersion".to_owned(), Value::String(revision.to_string()));
        }
    }
    let mut json = format!(r#"{{"kind":"{}","apiVersion":"{}","#, kind.name, kind.api_version()).into_bytes();
    let untyped_from = json.len();
    // Skips the opening brace, which is already written.
    let body = serde_json::to_vec(object).expect("JSON has no keys but texts");
    json.extend_from_slice(&body[1..]);
    (json.into(), untyped_from)
}
