//! Calls of the admission rules during a write.

use serde_json::Value;

use super::{Cluster, WriteOptions};
use crate::admission::{AdmissionRequest, AdmissionRules, Operation};
use crate::kinds::{Kind, Part, Prepared};
use crate::status::StatusError;

/// Attributes of a write, without the new object.
#[derive(Clone, Copy)]
pub(super) struct AdmissionTarget<'a> {
    pub(super) operation: Operation,
    pub(super) part: Part,
    pub(super) namespace: &'a str,
    pub(super) name: &'a str,
    pub(super) old: Option<&'a Value>,
}

impl AdmissionTarget<'_> {
    fn request<'a>(&'a self, kind: &'a Kind, options: WriteOptions<'_>) -> AdmissionRequest<'a> {
        AdmissionRequest {
            operation: self.operation,
            group: &kind.group,
            kind: &kind.name,
            resource: &kind.plural,
            subresource: self.part.subresource(),
            namespace: self.namespace,
            name: self.name,
            old: self.old,
            dry_run: options.dry_run,
        }
    }
}

impl Cluster {
    pub(crate) fn admission_mut(&mut self) -> &mut AdmissionRules {
        &mut self.admission
    }

    /// Returns whether admission rules apply to a write: a client makes it, and there are rules.
    pub(super) fn is_subject_to_admission(&self, options: WriteOptions<'_>) -> bool {
        options.admission && !self.admission.is_empty()
    }

    /// Runs the mutations on an object as sent by the client.
    pub(super) fn mutate(
        &self,
        kind: &Kind,
        target: AdmissionTarget<'_>,
        object: &mut Value,
        options: WriteOptions<'_>,
    ) -> Result<(), StatusError> {
        if !self.is_subject_to_admission(options) {
            return Ok(());
        }
        let result = self.admission.mutate(&target.request(kind, options), object);
        result.map_err(|denial| StatusError::denied(kind, target.name, denial))
    }

    /// Runs the validations on the object to be stored; `None` for a delete.
    pub(super) fn validate(
        &self,
        kind: &Kind,
        target: AdmissionTarget<'_>,
        prepared: Option<&Prepared>,
        options: WriteOptions<'_>,
    ) -> Result<(), StatusError> {
        if !self.is_subject_to_admission(options) {
            return Ok(());
        }
        let object = prepared.map(|prepared| {
            let mut object = prepared.object.clone();
            object.insert("kind".to_owned(), kind.name.as_str().into());
            object.insert("apiVersion".to_owned(), kind.stored_version().into());
            Value::Object(object)
        });
        let result = self.admission.validate(&target.request(kind, options), object.as_ref());
        result.map_err(|denial| StatusError::denied(kind, target.name, denial))
    }
}
