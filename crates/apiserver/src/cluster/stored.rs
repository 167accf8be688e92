//! An object as it is kept: encoded once, with what selection needs beside it.

use std::collections::BTreeMap;

use bytes::Bytes;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::collection::Key;
use crate::kinds::{Kind, Prepared};
use crate::service_addresses::Held;
use crate::status::StatusError;

/// A stored object. Never changed: an update makes another one.
#[derive(Debug)]
pub(crate) struct Stored {
    /// The resourceVersion.
    pub(crate) revision: u64,
    /// Empty for objects without a namespace.
    pub(crate) namespace: Box<str>,
    pub(crate) name: Box<str>,
    pub(crate) uid: Box<str>,
    pub(crate) labels: BTreeMap<String, String>,
    fields: Vec<(&'static str, String)>,
    pub(super) held: Vec<Held>,
    /// The uids of its owners.
    pub(super) owners: Box<[Box<str>]>,
    /// The whole object: `{"kind":…,"apiVersion":…,"metadata":…`.
    pub(crate) json: Bytes,
    /// Where in [`json`](Self::json) the object goes on after kind and apiVersion.
    untyped_from: usize,
}

impl Stored {
    pub(super) fn new(kind: &Kind, prepared: &mut Prepared, revision: u64) -> Result<Self, StatusError> {
        let meta = &mut prepared.metadata;
        let (json, untyped_from) = encode(kind, &mut prepared.object, revision)?;
        Ok(Self {
            revision,
            namespace: meta.namespace.take().unwrap_or_default().into(),
            name: meta.name.take().unwrap_or_default().into(),
            uid: meta.uid.take().unwrap_or_default().into(),
            labels: meta.labels.take().unwrap_or_default(),
            fields: std::mem::take(&mut prepared.fields),
            held: std::mem::take(&mut prepared.held),
            owners: meta.owner_references.iter().flatten().map(|owner| owner.uid.as_str().into()).collect(),
            json,
            untyped_from,
        })
    }

    /// The same object at a later revision, as the event of its deletion carries it.
    pub(super) fn at_revision(&self, kind: &Kind, revision: u64) -> Result<Self, StatusError> {
        let (json, untyped_from) = encode(kind, &mut self.object()?, revision)?;
        Ok(Self {
            revision,
            namespace: self.namespace.clone(),
            name: self.name.clone(),
            uid: self.uid.clone(),
            labels: self.labels.clone(),
            fields: self.fields.clone(),
            held: self.held.clone(),
            owners: self.owners.clone(),
            json,
            untyped_from,
        })
    }

    /// Namespace and name.
    pub(crate) fn key(&self) -> Key {
        (self.namespace.clone(), self.name.clone())
    }

    /// What comes after `{` in the JSON of this object as an item of a list, where kind and apiVersion are left out.
    pub(crate) fn untyped_json(&self) -> &[u8] {
        &self.json[self.untyped_from..]
    }

    /// The value of a selectable field; empty when absent.
    pub(crate) fn field(&self, field: &str) -> &str {
        match field {
            "metadata.name" => &self.name,
            "metadata.namespace" => &self.namespace,
            _ => self.fields.iter().find(|(name, _)| *name == field).map_or("", |(_, value)| value),
        }
    }

    /// The object decoded, with kind, apiVersion and resourceVersion.
    pub(super) fn value(&self) -> Result<Value, StatusError> {
        serde_json::from_slice(&self.json).map_err(|error| unreadable(&self.name, &error))
    }

    /// The object decoded, without kind, apiVersion and resourceVersion.
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

    /// Whether an object, whose resourceVersion is ignored, is encoded as this one. An encoder is cheaper than a parser.
    pub(super) fn is_encoded_as(&self, kind: &Kind, object: &mut Map<String, Value>) -> Result<bool, StatusError> {
        let (json, _) = encode(kind, object, self.revision)?;
        Ok(json == self.json)
    }

    pub(super) fn lifecycle(&self) -> Result<Lifecycle, StatusError> {
        let whole: WithLifecycle =
            serde_json::from_slice(&self.json).map_err(|error| unreadable(&self.name, &error))?;
        Ok(whole.metadata)
    }
}

/// The part of the metadata that decides how an object goes away.
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

/// Kind and apiVersion go first, as a Go server prints them, so that items of lists can go without.
fn encode(kind: &Kind, object: &mut Map<String, Value>, revision: u64) -> Result<(Bytes, usize), StatusError> {
    if let Some(Value::Object(meta)) = object.get_mut("metadata") {
        meta.insert("resourceVersion".to_owned(), Value::String(revision.to_string()));
    }
    let mut json = format!(r#"{{"kind":"{}","apiVersion":"{}","#, kind.name, kind.stored_version()).into_bytes();
    let untyped_from = json.len();
    let body = serde_json::to_vec(object).map_err(|error| StatusError::internal(error.to_string()))?;
    // Without its own opening brace: the one above is the object's.
    json.extend_from_slice(&body[1..]);
    Ok((json.into(), untyped_from))
}

fn unreadable(name: &str, error: &serde_json::Error) -> StatusError {
    StatusError::internal(format!("stored object {name} does not decode: {error}"))
}
