//! Patches: a change described instead of a whole object.

use json_patch::PatchOperation;
use serde_json::Value;

use super::{Cluster, WriteOptions, Written};
use crate::kinds::{Kind, Part};
use crate::status::StatusError;

/// A patch that has been read.
#[derive(Debug, Clone)]
pub(crate) enum Patch {
    /// RFC 7386.
    Merge(Value),
    /// RFC 6902.
    Json(Vec<PatchOperation>),
}

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
        let mut value = self.get(kind, namespace, name)?.value()?;
        match patch {
            Patch::Merge(changes) => json_patch::merge(&mut value, changes),
            Patch::Json(operations) => json_patch::patch(&mut value, operations)
                .map_err(|error| StatusError::patch_failed(format!("the patch does not apply: {error}")))?,
        }
        self.update(kind, namespace, name, value, part, options)
    }
}
