//! Calls of the admission rules during a write.

use serde_json::Value;

use super::{Cluster, WriteOptions, WriteTarget};
use crate::admission::{AdmissionRequest, AdmissionRules, Denial, Operation};
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

    fn admit(
        &self,
        write: AdmittedWrite<'_>,
        options: WriteOptions<'_>,
        decide: impl FnOnce(&AdmissionRules, AdmissionRequest<'_>) -> Result<(), Denial>,
    ) -> Result<(), StatusError> {
        if !self.is_subject_to_admission(options) {
            return Ok(());
        }
        let WriteTarget { kind, name, .. } = write.target;
        decide(&self.admission, write.request(options)).map_err(|denial| StatusError::denied(kind, name, denial))
    }

    /// Runs the mutations on an object as sent by the client.
    pub(super) fn mutate(
        &self,
        write: AdmittedWrite<'_>,
        object: &mut Value,
        options: WriteOptions<'_>,
    ) -> Result<(), StatusError> {
        self.admit(write, options, |rules, request| rules.mutate(&request, object))
    }

    /// Runs the validations on the object to be stored; `None` for a delete.
    pub(super) fn validate(
        &self,
        write: AdmittedWrite<'_>,
        prepared: Option<&Prepared>,
        options: WriteOptions<'_>,
    ) -> Result<(), StatusError> {
        let kind = write.target.kind;
        self.admit(write, options, |rules, request| {
            let object = prepared.map(|prepared| {
                let mut object = Value::Object(prepared.object.clone());
                (object["kind"], object["apiVersion"]) = (kind.name.as_str().into(), kind.api_version().into());
                object
            });
            rules.validate(&request, object.as_ref())
        })
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
        self.admit(AdmittedWrite::create(pods, namespace, name), options, |rules, pod| {
            (binding["kind"], binding["apiVersion"]) = ("Binding".into(), "v1".into());
            let request = AdmissionRequest { kind: "Binding", subresource: "binding", ..pod };
            rules.mutate(&request, binding).and_then(|()| rules.validate(&request, Some(binding)))
        })
    }
}
