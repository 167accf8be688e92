//! Checks that a write addresses the part of the object that it changes: the object, or its status.

use serde_json::Value;

use super::ObjectError;
use crate::kinds::{Kind, Part};

/// Fields of a patch of the status.
const WITH_STATUS: [&str; 4] = ["apiVersion", "kind", "metadata", "status"];
/// Fields of the metadata that identify the object or are preconditions.
const IDENTITY: [&str; 4] = ["name", "namespace", "uid", "resourceVersion"];

/// Checks that a kind has the subresource `status`. Fails with [`ObjectError::WrongMethod`] if it does not.
pub(super) fn check_status(kind: &Kind) -> Result<(), ObjectError> {
    if kind.has_status {
        return Ok(());
    }
    let define = if kind.is_custom() { ", or add the subresource to its definition" } else { "" };
    wrong(format!("{} has no subresource status: call patch or replace{define}", kind.name))
}

/// Checks that a write of `part` writes all fields of a merge patch. A server ignores the others. Fails with
/// [`ObjectError::WrongMethod`] for a field that is not written, and for a patch of the status without one.
pub(super) fn check_patch(kind: &Kind, part: Part, patch: &Value) -> Result<(), ObjectError> {
    let Value::Object(patch) = patch else { return Ok(()) };
    let has_status = patch.contains_key("status");
    if part != Part::Status {
        if has_status && kind.has_status {
            return wrong(format!("{} has the subresource status, which patch ignores: call patch_status", kind.name));
        }
        return Ok(());
    }
    check_status(kind)?;
    if !has_status {
        return wrong("the patch has no status: patch_status takes {\"status\": ...}".to_owned());
    }
    let other = patch.keys().find(|field| !WITH_STATUS.contains(&field.as_str())).cloned();
    let of_metadata = || {
        let mut fields = patch.get("metadata")?.as_object()?.keys();
        fields.find(|field| is_kept(kind, field)).map(|field| format!("metadata.{field}"))
    };
    match other.or_else(of_metadata) {
        Some(field) => wrong(format!("patch_status ignores {field}: call patch for {field}")),
        None => Ok(()),
    }
}

/// Returns whether a write of the status keeps the stored value of a field of the metadata.
fn is_kept(kind: &Kind, field: &str) -> bool {
    let is_reset = |path: &&[&str]| *path == ["metadata"] || *path == ["metadata", field];
    !IDENTITY.contains(&field) && kind.reset_fields(Part::Status).iter().any(is_reset)
}

fn wrong(message: String) -> Result<(), ObjectError> {
    Err(ObjectError::WrongMethod { message })
}
