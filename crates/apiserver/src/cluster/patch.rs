//! Patches: JSON patch, JSON merge patch, strategic merge patch and server-side apply.

use json_patch::PatchOperation;
use serde_json::{Map, Value, json};

use super::write::{text, unknown_in};
use super::{Cluster, FieldValidation, WriteOptions, Written, managed};
use crate::fields::{Applied, Entries, Live, Operation, apply, merge_applied, violation_text, violations};
use crate::kinds::{Kind, Part};
use crate::merge::{StrategicError, go_text, merge_strategic, rest_of_patch};
use crate::status::StatusError;

/// Decoded patch.
#[derive(Debug, Clone)]
pub(crate) enum Patch {
    /// JSON merge patch, RFC 7386.
    Merge(Value),
    /// JSON patch, RFC 6902.
    Json(Vec<PatchOperation>),
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
            check_declared(kind, namespace, name, applied)?;
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
            check_applied(kind, namespace, name, applied)?;
            let Some(stored) = stored else {
                return match text(applied, "uid").filter(|uid| !uid.is_empty()) {
                    // A configuration with a uid is meant for an existing object.
                    Some(_) => Err(StatusError::conflict(kind, name, "uid mismatch: no existing object was found")),
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
                apply_operations(value, operations).map_err(|error| {
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

/// Applies the operations of a JSON patch. Unlike in RFC 6902, and as upstream, a `test` of an absent member for null
/// succeeds.
fn apply_operations(value: &mut Value, operations: &[PatchOperation]) -> Result<(), json_patch::PatchError> {
    for (index, operation) in operations.iter().enumerate() {
        if let PatchOperation::Test(test) = operation
            && test.value.is_null()
            && is_absent_member(value, test.path.as_str())
        {
            continue;
        }
        json_patch::patch(value, std::slice::from_ref(operation)).map_err(|mut error| {
            error.operation = index;
            error
        })?;
    }
    Ok(())
}

/// Returns whether `path` names a member that an existing object does not have.
fn is_absent_member(value: &Value, path: &str) -> bool {
    let parent = path.rsplit_once('/').and_then(|(parent, _)| value.pointer(parent));
    parent.is_some_and(Value::is_object) && value.pointer(path).is_none()
}

/// Rejects an applied configuration that the schema of its kind does not allow, whatever `fieldValidation` is.
pub(super) fn check_declared(kind: &Kind, namespace: &str, name: &str, applied: &Value) -> Result<(), StatusError> {
    let found = kind.schema().map(|schema| violations(applied, schema)).unwrap_or_default();
    if found.is_empty() {
        return Ok(());
    }
    let object_key = if namespace.is_empty() { format!("/{name}") } else { format!("{namespace}/{name}") };
    Err(StatusError::untyped(format!(
        "failed to create typed patch object ({object_key}; {}, Kind={}): {}",
        kind.api_version(),
        kind.name,
        violation_text(&found),
    )))
}

fn strategic_error(error: &StrategicError) -> StatusError {
    match error {
        StrategicError::BadDirective(_) => StatusError::bad_request(error.to_string()),
        StrategicError::UnknownDirective(_) | StrategicError::NoMergeKey { .. } => {
            StatusError::internal(error.to_string())
        }
    }
}

/// Checks that an applied configuration has an apiVersion and a kind and no managed fields, and that its name and
/// namespace match the path.
pub(super) fn check_applied(kind: &Kind, namespace: &str, name: &str, applied: &Value) -> Result<(), StatusError> {
    let type_field = |field: &str| applied.get(field).and_then(Value::as_str).unwrap_or_default();
    if !applied.is_object() || type_field("apiVersion").is_empty() || type_field("kind").is_empty() {
        return Err(StatusError::bad_request("the applied configuration must set apiVersion and kind"));
    }
    let (given, expected) = (type_field("apiVersion"), kind.api_version());
    if given != expected {
        return Err(StatusError::bad_request(format!(
            "Incorrect version specified in apply patch. Specified patch version: {given}, expected: {expected}"
        )));
    }
    let empty = Map::new();
    let meta = applied.get("metadata").and_then(Value::as_object).unwrap_or(&empty);
    if meta.get("managedFields").is_some_and(|fields| !fields.is_null() && fields != &json!([])) {
        return Err(StatusError::bad_request("metadata.managedFields must be nil"));
    }
    let meta_field = |field: &str| meta.get(field).and_then(Value::as_str).filter(|it| !it.is_empty());
    if let Some(given) = meta_field("name").filter(|given| *given != name) {
        return Err(StatusError::bad_request(format!(
            "the name of the object ({given}) does not match the name on the URL ({name})"
        )));
    }
    if let Some(given) = meta_field("namespace").filter(|given| kind.namespaced && *given != namespace) {
        return Err(StatusError::bad_request(format!(
            "the namespace of the object ({given}) does not match the namespace on the URL ({namespace})"
        )));
    }
    Ok(())
}
