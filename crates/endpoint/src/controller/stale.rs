//! Upstream's tracker of stale Endpoints as it was before kubernetes/kubernetes#127417.

use std::collections::HashMap;
use std::sync::Mutex;

use kube_ambient::{Defect, has};
use kube_controller::locked;
use kube_endpoint_model::{Endpoints, ObjectKey, ResourceVersion, Uid};
use kube_wire::Object as _;

/// The version of each Endpoints object that an own update was made on: a cache that shows it is stale (upstream:
/// `staleEndpointsTracker`).
///
/// An update that changes nothing leaves the version as it is, and so makes the current version stale for ever.
#[derive(Debug, Default)]
pub(super) struct StaleEndpoints {
    versions: Mutex<HashMap<ObjectKey, (Uid, ResourceVersion)>>,
}

impl StaleEndpoints {
    /// Notes the object that an update was made on.
    pub(super) fn updated(&self, before: &Endpoints) {
        if has(Defect::NoOpUpdateStaysStale) {
            locked(&self.versions).insert(before.key(), (before.uid(), before.resource_version()));
        }
    }

    /// Whether the cache is taken to be behind an own update, so that a sync must fail.
    pub(super) fn is_stale(&self, cached: &Endpoints) -> bool {
        locked(&self.versions)
            .get(&cached.key())
            .is_some_and(|stale| *stale == (cached.uid(), cached.resource_version()))
    }

    /// Forgets a Service that is gone.
    pub(super) fn forget(&self, service: &ObjectKey) {
        locked(&self.versions).remove(service);
    }
}
