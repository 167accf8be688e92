//! Patches without field management: JSON patch, JSON merge patch and strategic merge patch.

use serde_json::Value;

use super::field_validation::unknown;
use super::target::complete_type;
use super::{Cluster, WriteOptions, WriteTarget, Written};
use crate::kinds::{Kind, Part};
use crate::merge::{apply_json_patch, go_text, merge_strategic, rest_of_patch};
use crate::status::StatusError;

/// Change by a patch, by the type of the patch.
#[derive(Debug, Clone)]
pub(crate) enum Patch {
    /// JSON merge patch, RFC 7386.
    Merge(Value),
    /// JSON patch, RFC 6902.
    Json(json_patch::Patch),
    /// Strategic merge patch, which merges lists by key.
    Strategic(Value),
}

impl Cluster {
    /// Applies a patch to the target, and updates it with the result.
    ///
    /// A patch without a resource version never conflicts: read and write happen under one lock.
    pub(crate) fn patch(
        &mut self,
        target: WriteTarget<'_>,
        patch: &Patch,
        options: WriteOptions<'_>,
    ) -> Result<Written, StatusError> {
        let stored = self.get(target.kind, target.namespace, target.name)?;
        let old = stored.value();
        let mut body = if target.part == Part::Scale { target.kind.scale_of(&old) } else { old.clone() };
        let kind = target.body_kind();
        patch.apply(&mut body, kind)?;
        let messages = || unknown(kind, &body);
        let warnings = options.field_validation.check(messages, |messages| patch.refused(&body, messages))?;
        complete_type(kind, &mut body)?;
        let updated =
            target.check_identity(&body).and_then(|()| self.update_stored(target, &stored, old, body, options));
        Written::warned(updated, warnings)
    }
}

impl Patch {
    /// Changes an object of `kind`.
    fn apply(&self, value: &mut Value, kind: &Kind) -> Result<(), StatusError> {
        match self {
            Self::Merge(changes) => {
                json_patch::merge(value, changes);
                Ok(())
            }
            Self::Json(operations) => apply_json_patch(value, operations).map_err(|error| {
                tracing::debug!(%error, kind = kind.name, "a JSON patch does not apply");
                StatusError::patch_failed()
            }),
            Self::Strategic(changes) => {
                merge_strategic(value, changes.clone(), kind.merge_schema()).map_err(StatusError::bad_request)
            }
        }
    }

    /// Returns the error of strict field validation, which shows the patched object or the rest of a strategic patch.
    fn refused(&self, patched: &Value, messages: &[String]) -> StatusError {
        let shown = match self {
            Self::Strategic(changes) => go_text(&rest_of_patch(changes)),
            Self::Merge(_) | Self::Json(_) => patched.to_string(),
        };
        StatusError::invalid_patch(&shown, messages)
    }
}
