//! Rules for the writes of Endpoints.

use display_full_error::DisplayFullErrorExt as _;
use kube_controller::{Failure, WriteRules};
use kube_controller_client::events::{EventRecorder, EventType, ObjectReference};
use kube_controller_client::{Error, RequestPriority};
use kube_endpoint_model::{Endpoints, ObjectKey, Uid, Write};

use super::superfluous::Superfluous;
use crate::priority::priority;

/// Rules for the writes of the sync of one Service.
pub(super) struct EndpointsRules<'a> {
    pub(super) service: &'a ObjectKey,
    pub(super) recorder: &'a EventRecorder,
    pub(super) namespaced_create_events: bool,
    pub(super) superfluous: &'a Superfluous,
}

impl EndpointsRules<'_> {
    /// Emits the event about a failed create. As upstream, it refers to an object without UID and, before Kubernetes 1.38,
    /// without namespace (EV-1).
    fn create_failed(&self, error: &Error) {
        let ObjectKey { namespace, name } = self.service;
        let namespace = if self.namespaced_create_events { namespace.to_string() } else { String::new() };
        let name = name.to_string();
        let involved = ObjectReference { namespace, name, ..ObjectReference::of("v1", "Endpoints") };
        let message = format!("Failed to create endpoint for service {}: {}", self.service, error.display_full());
        self.recorder.event(&involved, EventType::Warning, "FailedToCreateEndpoint", message);
    }

    fn update_failed(&self, desired: &Endpoints, error: &Error) {
        let message = format!("Failed to update endpoint {}: {}", self.service, error.display_full());
        self.recorder.event(&ObjectReference::to(desired), EventType::Warning, "FailedToUpdateEndpoint", message);
    }
}

impl WriteRules<Endpoints> for EndpointsRules<'_> {
    fn priority(&self, writes: &[&Write<Endpoints>]) -> RequestPriority {
        priority(writes)
    }

    fn accepted(&mut self, write: &Write<Endpoints>, uid: &Uid) {
        // The object is in the cache, so that the handler of the Service sees it there, or this its record.
        if !matches!(write, Write::Delete(_)) {
            self.superfluous.written(self.service, uid);
        }
    }

    fn failed(&mut self, write: &Write<Endpoints>, sent: &Endpoints, error: &Error) -> Failure {
        match write {
            // Not an error (EP-20): the object would be deleted with the namespace.
            Write::Create(_) if error.is_namespace_terminating() => return Failure::EndGroup,
            Write::Create(_) => self.create_failed(error),
            Write::Update { .. } => self.update_failed(sent, error),
            Write::Delete(_) => {}
        }
        Failure::Fail
    }
}
