//! Calls of the admission rules during a write.

use serde_json::Value;

use super::{Cluster, WriteOptions, WriteTarget};
use crate::admission::{AdmissionRequest, AdmissionRules, Operation};
use crate::kinds::{Kind, Prepared};
use crate::status::StatusError;

/// A write, without the new object.
#[derive(Clone, Copy)]
pub(super) struct AdmittedWrite<'a> {
    pub(super) operation: Operation,
    pub(super) target: WriteTarget<'a>,
    pub(super) old: Option<&'a Value>,
}

impl<'a> AdmittedWrite<'a> {
    pub(super) fn create(kind: &'a Kind, namespace: &'a str, name: &'a str) -> Self {
        Self { operation: Operation::Create, target: WriteTarget::object(kind, namespace, name), old: None }
    }

    fn request(&self, options: WriteOptions<'_>) -> AdmissionRequest<'a> {
        let WriteTarget { kind, namespace, name, part } = self.target;
        AdmissionRequest {
            operation: self.operation,
            group: &kind.group,
            kind: &kind.name,
            resource: &kind.plural,
            subresource: part.subresource(),
            namespace,
            name,
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
        write: AdmittedWrite<'_>,
        object: &mut Value,
        options: WriteOptions<'_>,
    ) -> Result<(), StatusError> {
        if !self.is_subject_to_admission(options) {
            return Ok(());
        }
        let result = self.admission.mutate(&write.request(options), object);
        result.map_err(|denial| StatusError::denied(write.target.kind, write.target.name, denial))
    }

    /// Runs the validations on the object to be stored; `None` for a delete.
    pub(super) fn validate(
        &self,
        write: AdmittedWrite<'_>,
        prepared: Option<&Prepared>,
        options: WriteOptions<'_>,
    ) -> Result<(), StatusError> {
        if !self.is_subject_to_admission(options) {
            return Ok(());
        }
        let object = prepared.map(|prepared| {
            let mut object = prepared.object.clone();
            let kind = write.target.kind;
            object.insert("kind".to_owned(), kind.name.as_str().into());
            object.insert("apiVersion".to_owned(), kind.api_version().into());
            Value::Object(object)
        });
        let result = self.admission.validate(&write.request(options), object.as_ref());
        result.map_err(|denial| StatusError::denied(write.target.kind, write.target.name, denial))
    }

    /// Runs the rules on the Binding of a Pod: as upstream, a create of the subresource.
    pub(crate) fn admit_binding(
        &self,
        pods: &Kind,
        namespace: &str,
        name: &str,
        binding: &mut Value,
        options: WriteOptions<'_>,
    ) -> Result<(), StatusError> {
        if !self.is_subject_to_admission(options) {
            return Ok(());
        }
        (binding["kind"], binding["apiVersion"]) = ("Binding".into(), "v1".into());
        let pod = AdmittedWrite::create(pods, namespace, name).request(options);
        let request = AdmissionRequest { kind: "Binding", subresource: "binding", ..pod };
        let admission = &self.admission;
        let result = admission.mutate(&request, binding).and_then(|()| admission.validate(&request, Some(binding)));
        result.map_err(|denial| StatusError::denied(pods, name, denial))
    }
}
