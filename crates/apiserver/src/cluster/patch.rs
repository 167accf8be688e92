//! Patches: a change described instead of a whole object.

use json_patch::PatchOperation;
use serde_json::{Map, Value, json};

use super::write::{text, unknown_in};
use super::{Cluster, FieldValidation, WriteOptions, Written};
use crate::kinds::{Kind, Part};
use crate::merge::{StrategicError, merge_applied, merge_strategic};
use crate::schema::unknown_fields;
use crate::status::StatusError;

/// A patch that has been read.
#[derive(Debug, Clone)]
pub(crate) enum Patch {
    /// RFC 7386.
    Merge(Value),
    /// RFC 6902.
    Json(Vec<PatchOperation>),
    /// A merge patch that knows the keys of lists.
    Strategic(Value),
    /// A whole configuration to be merged, which creates what is not there.
    Apply(Value),
}

/// What JSON patches may change without effect: this server keeps no managed fields.
const MANAGED_FIELDS: &str = "/metadata/managedFields";

impl Cluster {
    /// Applies a patch to what is stored and updates the object with the result.
    ///
    /// A patch without a resourceVersion never conflicts: it is applied to the current state, which nobody else can
    /// change meanwhile.
    pub(crate) fn patch(
        &mut self,
        kind: &Kind,
        namespace: &str,
        name: &str,
        patch: &Patch,
        part: Part,
        options: WriteOptions,
    ) -> Result<Written, StatusError> {
        if let Patch::Apply(applied) = patch {
            check_declared(kind, namespace, name, applied)?;
        }
        let value = self.patched(kind, namespace, name, patch)?;
        if let Some(value) = value.as_ref().filter(|_| options.field_validation == FieldValidation::Strict) {
            let unknown = unknown_in(kind, value);
            if !unknown.is_empty() {
                return Err(StatusError::invalid_patch(&value.to_string(), &unknown));
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

    /// The object as a patch makes it, before any rule is asked; nothing if an apply is to create it.
    pub(crate) fn patched(
        &self,
        kind: &Kind,
        namespace: &str,
        name: &str,
        patch: &Patch,
    ) -> Result<Option<Value>, StatusError> {
        let stored = self.find(kind, namespace, name);
        if let Patch::Apply(applied) = patch {
            check_applied(kind, namespace, name, applied)?;
            let Some(stored) = stored else {
                return match text(applied, "uid").filter(|uid| !uid.is_empty()) {
                    // Whoever names a uid means an object that was there.
                    Some(_) => Err(StatusError::conflict(kind, name, "uid mismatch: the object is not there")),
                    None => Ok(None),
                };
            };
            let mut value = stored.value()?;
            kind.present(&mut value);
            merge_applied(&mut value, applied.clone(), kind.schema());
            return Ok(Some(value));
        }
        let mut value = stored.ok_or_else(|| StatusError::not_found(kind, name))?.value()?;
        kind.present(&mut value);
        match patch {
            Patch::Merge(changes) => json_patch::merge(&mut value, changes),
            Patch::Json(operations) => {
                let operations: Vec<PatchOperation> =
                    operations.iter().filter(|it| !it.path().as_str().starts_with(MANAGED_FIELDS)).cloned().collect();
                json_patch::patch(&mut value, &operations)
                    .map_err(|error| StatusError::patch_failed(format!("the patch does not apply: {error}")))?;
            }
            Patch::Strategic(changes) => {
                let schema = kind.merge_schema().ok_or_else(|| StatusError::no_strategic_merge(kind))?;
                merge_strategic(&mut value, changes.clone(), schema).map_err(|error| refuse(&error))?;
            }
            Patch::Apply(_) => {}
        }
        Ok(Some(value))
    }
}

/// An applied configuration may only say what the kind has, however lenient the client asks to be.
fn check_declared(kind: &Kind, namespace: &str, name: &str, applied: &Value) -> Result<(), StatusError> {
    let unknown = kind.schema().map(|schema| unknown_fields(applied, schema)).unwrap_or_default();
    let Some(first) = unknown.first() else { return Ok(()) };
    let place = if namespace.is_empty() { format!("/{name}") } else { format!("{namespace}/{name}") };
    Err(StatusError::untyped(format!(
        "failed to create typed patch object ({place}; {}, Kind={}): .{first}: field not declared in schema",
        kind.api_version(),
        kind.name,
    )))
}

fn refuse(error: &StrategicError) -> StatusError {
    match error {
        StrategicError::BadDirective(_) => StatusError::bad_request(error.to_string()),
        StrategicError::UnknownDirective(_) | StrategicError::NoMergeKey { .. } => {
            StatusError::internal(error.to_string())
        }
    }
}

/// An applied configuration says what it is, and where it goes agrees with the path.
fn check_applied(kind: &Kind, namespace: &str, name: &str, applied: &Value) -> Result<(), StatusError> {
    let type_field = |field: &str| applied.get(field).and_then(Value::as_str).unwrap_or_default();
    if !applied.is_object() || type_field("apiVersion").is_empty() || type_field("kind").is_empty() {
        return Err(StatusError::bad_request("the applied configuration must say its apiVersion and kind"));
    }
    let empty = Map::new();
    let meta = applied.get("metadata").and_then(Value::as_object).unwrap_or(&empty);
    if meta.get("managedFields").is_some_and(|fields| !fields.is_null() && fields != &json!([])) {
        return Err(StatusError::bad_request("metadata.managedFields must be nil"));
    }
    let says = |field: &str| meta.get(field).and_then(Value::as_str).filter(|it| !it.is_empty());
    if let Some(given) = says("name").filter(|given| *given != name) {
        return Err(StatusError::bad_request(format!(
            "the name of the object ({given}) does not match the name on the URL ({name})"
        )));
    }
    if let Some(given) = says("namespace").filter(|given| kind.namespaced && *given != namespace) {
        return Err(StatusError::bad_request(format!(
            "the namespace of the object ({given}) does not match the namespace on the URL ({namespace})"
        )));
    }
    Ok(())
}
