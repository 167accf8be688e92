//! Upstream's tracker of stale Endpoints as it was before kubernetes/kubernetes#127417.

use std::collections::HashMap;
use std::sync::Mutex;

use kube_ambient::{Defect, is_enabled};
use kube_controller::locked;
use kube_endpoint_model::{Endpoints, ObjectKey, ResourceVersion, Uid};
use kube_wire::Object as _;

/// Versions of Endpoints objects that own updates have replaced: a cache that contains one is stale (upstream:
/// `staleEndpointsTracker`).
///
/// An update that changes nothing does not change the version, so the current version is treated as stale permanently.
#[derive(Debug, Default)]
pub(super) struct StaleEndpoints {
    versions: Mutex<HashMap<ObjectKey, (Uid, ResourceVersion)>>,
}

impl StaleEndpoints {
    /// Records the version of an object that was updated.
    pub(super) fn updated(&self, before: &Endpoints) {
        if is_enabled(Defect::NoOpUpdateStaysStale) {
            locked(&self.versions).insert(before.key(), (before.uid(), before.resource_version()));
        }
    }

    /// Returns whether the cached version is recorded, so that a sync must fail.
    pub(super) fn is_stale(&self, cached: &Endpoints) -> bool {
        locked(&self.versions)
            .get(&cached.key())
            .is_some_and(|stale| *stale == (cached.uid(), cached.resource_version()))
    }

    /// Removes the record of a deleted Service.
    pub(super) fn forget(&self, service: &ObjectKey) {
        locked(&self.versions).remove(service);
    }
}
