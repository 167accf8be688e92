//! Patches: JSON patch, JSON merge patch, strategic merge patch and server-side apply.

use serde_json::{Value, json};

use super::write::{text, unknown_in};
use super::{Cluster, FieldValidation, WriteOptions, Written, managed};
use crate::fields::{Applied, Entries, Live, Operation, apply, merge_applied, violation_text, violations};
use crate::kinds::{Kind, Part};
use crate::merge::{JsonOperation, StrategicError, apply_json_patch, go_text, merge_strategic, rest_of_patch};
use crate::status::StatusError;

/// Decoded patch.
#[derive(Debug, Clone)]
pub(crate) enum Patch {
    /// JSON merge patch, RFC 7386.
    Merge(Value),
    /// JSON patch, RFC 6902.
    Json(Vec<JsonOperation>),
    /// Strategic merge patch, which merges lists by key.
    Strategic(Value),
    /// Server-side apply, which merges a configuration and creates the object if it does not exist.
    Apply(Value),
}

impl Cluster {
    /// Applies a patch to the stored object and updates the object with the result.
    ///
    /// A patch without a resource version never conflicts: read and write happen under one lock.
    pub(crate) fn patch(
        &mut self,
        kind: &Kind,
        namespace: &str,
        name: &str,
        patch: &Patch,
        part: Part,
        options: WriteOptions<'_>,
    ) -> Result<Written, StatusError> {
        if let Patch::Apply(applied) = patch {
            check_applied(kind, namespace, name, applied)?;
        }
        let options = WriteOptions { operation: patch.operation(), ..options };
        let value = self.patched(kind, namespace, name, patch, part, options)?;
        if let Some(value) = value.as_ref().filter(|_| options.field_validation == FieldValidation::Strict) {
            let unknown = unknown_in(kind, value);
            if !unknown.is_empty() {
                let shown = match patch {
                    Patch::Strategic(changes) => go_text(&rest_of_patch(changes)),
                    _ => value.to_string(),
                };
                return Err(StatusError::invalid_patch(&shown, &unknown));
            }
        }
        match value {
            Some(value) => self.update(kind, namespace, name, value, part, options),
            None if part != Part::Main => Err(StatusError::not_found(kind, name)),
            None => {
                let Patch::Apply(applied) = patch else { return Err(StatusError::not_found(kind, name)) };
                let mut object = applied.clone();
                let meta = object.as_object_mut().map(|object| object.entry("metadata").or_insert_with(|| json!({})));
                if let Some(Value::Object(meta)) = meta {
                    meta.insert("name".to_owned(), json!(name));
                }
                self.create(kind, namespace, object, options)
            }
        }
    }

    /// Returns the patched object, before defaulting, validation and admission; `None` if an apply creates the object.
    pub(crate) fn patched(
        &self,
        kind: &Kind,
        namespace: &str,
        name: &str,
        patch: &Patch,
        part: Part,
        options: WriteOptions<'_>,
    ) -> Result<Option<Value>, StatusError> {
        let stored = self.find(kind, namespace, name);
        if let Patch::Apply(applied) = patch {
            let Some(stored) = stored else {
                return match text(applied, "uid").filter(|uid| !uid.is_empty()) {
                    // A configuration with a uid is meant for an existing object.
                    Some(uid) => {
                        let why = format!(
                            "uid mismatch: the provided object specified uid {uid}, and no existing object was found"
                        );
                        Err(StatusError::conflict(kind, name, &why))
                    }
                    None => Ok(None),
                };
            };
            let mut value = stored.value()?;
            kind.to_served(&mut value);
            return Self::applied(kind, value, applied, part, options).map(Some);
        }
        let mut value = stored.ok_or_else(|| StatusError::not_found(kind, name))?.value()?;
        kind.to_served(&mut value);
        patch.change(&mut value, kind)?;
        Ok(Some(value))
    }
}

impl Patch {
    fn operation(&self) -> Operation {
        if matches!(self, Patch::Apply(_)) { Operation::Apply } else { Operation::Update }
    }

    /// Changes an object of `kind` by any patch but an apply, which needs the managed fields and changes nothing here.
    pub(super) fn change(&self, value: &mut Value, kind: &Kind) -> Result<(), StatusError> {
        match self {
            Patch::Merge(changes) => json_patch::merge(value, changes),
            Patch::Json(operations) => {
                apply_json_patch(value, operations).map_err(|error| {
                    tracing::debug!(%error, kind = kind.name, "a JSON patch does not apply");
                    StatusError::patch_failed()
                })?;
            }
            Patch::Strategic(changes) => {
                merge_strategic(value, changes.clone(), kind.merge_schema())
                    .map_err(|error| strategic_error(&error))?;
            }
            Patch::Apply(_) => {}
        }
        Ok(())
    }
}

impl Cluster {
    /// Returns the live object with an applied configuration and its managed fields.
    fn applied(
        kind: &Kind,
        mut live: Value,
        config: &Value,
        part: Part,
        options: WriteOptions<'_>,
    ) -> Result<Value, StatusError> {
        let entries = Entries::decode(&Entries::take(&mut live));
        let Some(writer) = managed::writer(kind, part, options) else {
            merge_applied(&mut live, config.clone(), kind.schema());
            return Ok(live);
        };
        let mut config = config.clone();
        Entries::take(&mut config);
        let empty = kind.empty_object();
        let before = Live { object: &live, empty: &empty, schema: kind.schema() };
        let Applied { mut object, entries } =
            apply(before, entries, &config, &writer, options.force).map_err(StatusError::apply_conflict)?;
        if let (Some(fields), Some(Value::Object(meta))) = (entries.encode(), object.get_mut("metadata")) {
            meta.insert("managedFields".to_owned(), fields);
        }
        Ok(object)
    }
}

/// Returns upstream's response to a bad patch (Go: `interpretStrategicMergePatchError`).
fn strategic_error(error: &StrategicError) -> StatusError {
    match error {
        StrategicError::NoObject(_) | StrategicError::BadRetainKeys => StatusError::bad_request(error.to_string()),
        StrategicError::ListOfLists => StatusError::patch_failed(),
        _ => StatusError::untyped(error.to_string()),
    }
}

/// Checks an applied configuration, in upstream's order: its kind, that it has no managed fields, that the schema of the
/// kind allows it, whatever `fieldValidation` is, and that namespace and name are those of the path.
pub(super) fn check_applied(kind: &Kind, namespace: &str, name: &str, applied: &Value) -> Result<(), StatusError> {
    let type_field = |field: &str| applied.get(field).and_then(Value::as_str).unwrap_or_default();
    let (version, kind_name) = (type_field("apiVersion"), type_field("kind"));
    if version != kind.api_version() || kind_name != kind.name {
        return Err(StatusError::bad_request(format!("invalid object type: {}", go_kind(version, kind_name))));
    }
    let meta = applied.get("metadata");
    if meta.and_then(|meta| meta.get("managedFields")).is_some_and(Value::is_array) {
        return Err(StatusError::bad_request("metadata.managedFields must be nil"));
    }
    let meta_field = |field: &str| text(applied, field).unwrap_or_default();
    let (given_namespace, given_name) = (meta_field("namespace"), meta_field("name"));
    let found = kind.schema().map(|schema| violations(applied, schema)).unwrap_or_default();
    if !found.is_empty() {
        return Err(StatusError::untyped(format!(
            "failed to create typed patch object ({given_namespace}/{given_name}; {}): {}",
            go_kind(version, kind_name),
            violation_text(&found),
        )));
    }
    if kind.namespaced && !given_namespace.is_empty() && given_namespace != namespace {
        return Err(StatusError::other_namespace());
    }
    if !given_name.is_empty() && given_name != name {
        return Err(StatusError::other_name(given_name, name));
    }
    Ok(())
}

/// Formats the kind of an object as Go's `GroupVersionKind`, such as `/v1, Kind=Service`.
fn go_kind(api_version: &str, kind: &str) -> String {
    let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
    format!("{group}/{version}, Kind={kind}")
}
