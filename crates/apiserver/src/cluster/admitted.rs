//! Where admission rules are asked.

use serde_json::Value;

use super::{Cluster, WriteOptions};
use crate::admission::{AdmissionRequest, AdmissionRules, Operation};
use crate::kinds::{Kind, Part, Prepared};
use crate::status::StatusError;

/// A write of a client, as far as it is known before the object is.
#[derive(Clone, Copy)]
pub(super) struct Asked<'a> {
    pub(super) operation: Operation,
    pub(super) part: Part,
    pub(super) namespace: &'a str,
    pub(super) name: &'a str,
    pub(super) old: Option<&'a Value>,
}

impl Asked<'_> {
    fn request<'a>(&'a self, kind: &'a Kind, options: WriteOptions) -> AdmissionRequest<'a> {
        AdmissionRequest {
            operation: self.operation,
            group: &kind.group,
            kind: &kind.name,
            resource: &kind.plural,
            subresource: match self.part {
                Part::Main => "",
                Part::Status => "status",
            },
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

    /// Whether rules are to be asked about a write.
    pub(super) fn is_subject_to_admission(&self, options: WriteOptions) -> bool {
        options.admission && !self.admission.is_empty()
    }

    /// Asks the mutations about an object as the client sent it.
    pub(super) fn mutate(
        &self,
        kind: &Kind,
        asked: Asked<'_>,
        object: &mut Value,
        options: WriteOptions,
    ) -> Result<(), StatusError> {
        if !self.is_subject_to_admission(options) {
            return Ok(());
        }
        let denied = self.admission.mutate(&asked.request(kind, options), object);
        denied.map_err(|denial| StatusError::denied(kind, asked.name, denial))
    }

    /// Asks the validations about an object that is ready to be stored; `None` for a delete.
    pub(super) fn validate(
        &self,
        kind: &Kind,
        asked: Asked<'_>,
        prepared: Option<&Prepared>,
        options: WriteOptions,
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
        let denied = self.admission.validate(&asked.request(kind, options), object.as_ref());
        denied.map_err(|denial| StatusError::denied(kind, asked.name, denial))
    }
}
