//! Writes of which it is not known whether the server has carried them out.

use std::collections::HashSet;
use std::sync::Mutex;

use kube_controller::locked;
use kube_controller_client::Error;
use kube_endpoint_model::{Endpoints, ObjectKey};
use kube_wire::Object as _;

/// Services whose Endpoints were sent and not answered.
///
/// The cache lacks such a write until the watch delivers it. If the Service is changed meanwhile, the retry may find nothing to
/// write, so that it takes another sync once the watch has delivered the write. Upstream leaves the object as it is then.
#[derive(Debug, Default)]
pub(super) struct Unanswered(Mutex<HashSet<ObjectKey>>);

impl Unanswered {
    /// Takes note of the outcome of a write, and returns it.
    pub(super) fn note<T>(&self, service: &ObjectKey, outcome: Result<T, Error>) -> Result<T, Error> {
        match &outcome {
            Ok(_) => self.remove(service),
            Err(error) if error.is_unanswered() => self.add(service),
            Err(_) => {}
        }
        outcome
    }

    pub(super) fn add(&self, service: &ObjectKey) {
        locked(&self.0).insert(service.clone());
    }

    pub(super) fn remove(&self, service: &ObjectKey) {
        locked(&self.0).remove(service);
    }

    /// Whether a state of these Endpoints may be that of a write without an answer.
    pub(super) fn may_show(&self, endpoints: &Endpoints) -> bool {
        let services = locked(&self.0);
        !services.is_empty() && services.contains(&endpoints.key())
    }
}
