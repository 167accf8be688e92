//! Stored objects: encoded once, with the fields that selectors need.

use std::collections::BTreeMap;
use std::sync::Arc;

use bytes::Bytes;
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::kinds::{Kind, Prepared};
use crate::service_addresses::Allocation;
use crate::status::StatusError;

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
    /// Encoded object: `{"kind":…,"apiVersion":…,"metadata":…`.
    pub(crate) json: Bytes,
    /// Offset in [`json`](Self::json) after kind and apiVersion.
    untyped_from: usize,
}

impl Stored {
    pub(super) fn new(kind: &Kind, prepared: &mut Prepared, revision: u64) -> Result<Self, StatusError> {
        let meta = &mut prepared.metadata;
        let fields = kind.selected_fields(&prepared.object);
        let (json, untyped_from) = encode(kind, &mut prepared.object, revision)?;
        Ok(Self {
            revision,
            namespace: meta.namespace.take().unwrap_or_default().into(),
            name: meta.name.take().unwrap_or_default().into(),
            uid: meta.uid.take().unwrap_or_default().into(),
            labels: meta.labels.take().unwrap_or_default(),
            fields,
            allocations: std::mem::take(&mut prepared.allocations),
            owners: meta.owner_references.iter().flatten().map(|owner| owner.uid.as_str().into()).collect(),
            json,
            untyped_from,
        })
    }

    /// Returns the object with another resource version, as in the event of its deletion.
    pub(super) fn at_revision(&self, kind: &Kind, revision: u64) -> Result<Self, StatusError> {
        let (json, untyped_from) = encode(kind, &mut self.object()?, revision)?;
        Ok(Self { revision, json, untyped_from, ..self.clone() })
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

    /// Decodes the object, with kind, apiVersion and resource version.
    pub(crate) fn value(&self) -> Result<Value, StatusError> {
        serde_json::from_slice(&self.json).map_err(|error| unreadable(&self.name, &error))
    }

    /// Decodes the object, without kind, apiVersion and resource version.
    pub(super) fn object(&self) -> Result<Map<String, Value>, StatusError> {
        let mut object: Map<String, Value> =
            serde_json::from_slice(&self.json).map_err(|error| unreadable(&self.name, &error))?;
        object.remove("kind");
        object.remove("apiVersion");
        if let Some(Value::Object(meta)) = object.get_mut("metadata") {
            meta.remove("resourceVersion");
        }
        Ok(object)
    }

    /// Returns whether `object` equals this one except for its resource version. Compares encodings: encoding `object`
    /// is cheaper than decoding this one.
    pub(super) fn is_encoded_as(&self, kind: &Kind, object: &mut Map<String, Value>) -> Result<bool, StatusError> {
        let (json, _) = encode(kind, object, self.revision)?;
        Ok(json == self.json)
    }

    pub(super) fn lifecycle(&self) -> Result<Lifecycle, StatusError> {
        let object: WithLifecycle =
            serde_json::from_slice(&self.json).map_err(|error| unreadable(&self.name, &error))?;
        Ok(object.metadata)
    }
}

/// Fields of the metadata that decide how a delete proceeds.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Lifecycle {
    pub(super) deletion_timestamp: Option<jiff::Timestamp>,
    pub(super) deletion_grace_period_seconds: Option<i64>,
    pub(super) finalizers: Vec<String>,
    pub(super) generation: Option<i64>,
}

#[derive(Deserialize)]
struct WithLifecycle {
    metadata: Lifecycle,
}

/// Encodes an object with kind and apiVersion first, as a Go server does, so that items of lists can omit them. Returns
/// the offset after them as well.
fn encode(kind: &Kind, object: &mut Map<String, Value>, revision: u64) -> Result<(Bytes, usize), StatusError> {
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
    let body = serde_json::to_vec(object).map_err(|error| StatusError::internal(error.to_string()))?;
    // Skips the opening brace, which is already written.
    json.extend_from_slice(&body[1..]);
    Ok((json.into(), untyped_from))
}

fn unreadable(name: &str, error: &serde_json::Error) -> StatusError {
    StatusError::internal(format!("cannot decode the stored object {name}: {error}"))
}
