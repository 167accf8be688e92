//! Writes without a response, which the server may or may not have applied.

use std::collections::HashSet;
use std::sync::Mutex;

use kube_controller::locked;
use kube_controller_client::Error;
use kube_endpoint_model::{Endpoints, ObjectKey};
use kube_wire::Object as _;

/// Services whose last write of Endpoints had no response.
///
/// The cache does not contain such a write before the watch delivers it. If the Service changes in between, the retry
/// may find the cached object correct and write nothing. So the event that delivers the write has to queue the Service
/// again. Upstream does not do so, and keeps the wrong object.
#[derive(Debug, Default)]
pub(super) struct UnansweredWrites(Mutex<HashSet<ObjectKey>>);

impl UnansweredWrites {
    /// Records the result of a write, and returns it.
    pub(super) fn record<T>(&self, service: &ObjectKey, result: Result<T, Error>) -> Result<T, Error> {
        match &result {
            Ok(_) => self.remove(service),
            Err(error) if error.may_have_been_applied() => self.add(service),
            Err(_) => {}
        }
        result
    }

    pub(super) fn add(&self, service: &ObjectKey) {
        locked(&self.0).insert(service.clone());
    }

    pub(super) fn remove(&self, service: &ObjectKey) {
        locked(&self.0).remove(service);
    }

    /// Returns whether an event of these Endpoints may deliver a write without a response.
    pub(super) fn contains(&self, endpoints: &Endpoints) -> bool {
        let services = locked(&self.0);
        !services.is_empty() && services.contains(&endpoints.key())
    }
}
