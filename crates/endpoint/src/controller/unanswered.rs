//! Writes without a response, which the server may or may not have applied.

use std::collections::HashMap;
use std::sync::Mutex;
use std::time::Duration;

use kube_controller::{Outcome, locked};
use kube_controller_client::Error;
use kube_endpoint_model::{Endpoints, ObjectKey};
use kube_wire::Object as _;
use tokio::time::Instant;

/// Time for which the server may still apply a create without a response: its `--request-timeout`, 1 min by default.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(60);

/// Services whose last write of Endpoints had no response.
///
/// The cache does not contain such a write before the watch delivers it. If the Service changes in between, the retry
/// may find the cached object correct and write nothing. So the event that delivers the write has to queue the Service
/// again. Upstream does not do so, and keeps the wrong object.
#[derive(Debug, Default)]
pub(super) struct UnansweredWrites(Mutex<HashMap<ObjectKey, LastCreate>>);

/// When the last create without a response failed; `None` if there was none.
type LastCreate = Option<Instant>;

impl UnansweredWrites {
    pub(super) fn record<T>(&self, service: &ObjectKey, result: Result<T, Error>) -> Result<T, Error> {
        match &result {
            Ok(_) => self.remove(service),
            Err(error) if error.may_have_been_applied() => self.add(service),
            Err(_) => {}
        }
        result
    }

    pub(super) fn record_create<T>(&self, service: &ObjectKey, result: Result<T, Error>) -> Result<T, Error> {
        if result.as_ref().is_err_and(Error::may_have_been_applied) {
            locked(&self.0).insert(service.clone(), Some(Instant::now()));
        }
        self.record(service, result)
    }

    /// Records the result of a deletion, and returns it. If there was no object, a create without a response may still
    /// be applied.
    pub(super) fn record_delete(&self, service: &ObjectKey, result: Result<Outcome, Error>) -> Result<Outcome, Error> {
        if matches!(result, Ok(Outcome::Unchanged)) {
            self.nothing_to_delete(service);
            return result;
        }
        self.record(service, result)
    }

    /// Records that the server has no object to delete. A create without a response may still be applied.
    pub(super) fn nothing_to_delete(&self, service: &ObjectKey) {
        if !self.may_have_created(service) {
            self.remove(service);
        }
    }

    pub(super) fn add(&self, service: &ObjectKey) {
        locked(&self.0).entry(service.clone()).or_default();
    }

    pub(super) fn remove(&self, service: &ObjectKey) {
        locked(&self.0).remove(service);
    }

    /// Returns whether an event of these Endpoints may deliver a write without a response.
    pub(super) fn contains(&self, endpoints: &Endpoints) -> bool {
        let services = locked(&self.0);
        !services.is_empty() && services.contains_key(&endpoints.key())
    }

    /// Returns whether Endpoints of this Service may be those of a create without a response.
    pub(super) fn may_have_created(&self, service: &ObjectKey) -> bool {
        let last_create = locked(&self.0).get(service).copied().flatten();
        last_create.is_some_and(|at| at.elapsed() < REQUEST_TIMEOUT)
    }
}
