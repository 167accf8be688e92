//! Upstream's tracker of slices as it was before kubernetes/kubernetes#141593, as far as it goes wrong.

use std::collections::HashMap;
use std::sync::Mutex;

use kube_ambient::{Defect, has};
use kube_controller::locked;
use kube_endpoint_model::{EndpointSlice, ObjectKey};

use crate::plan::Plan;
use crate::slice_cache::SliceCache;

/// Slices that own creates made and whose deletion the cache had delivered before the answer to the create arrived.
///
/// Upstream's `EndpointSliceTracker.Update` adds such a slice after `HandleDeletion` has looked for it, and expects it in the
/// cache from then on: `StaleSlices` fails every sync of the Service.
#[derive(Debug, Default)]
pub(crate) struct Ghosts {
    services: Mutex<HashMap<ObjectKey, Vec<String>>>,
}

impl Ghosts {
    /// Takes in an answered create, which `cache` has taken in already.
    pub(crate) fn created(&self, service: &ObjectKey, answer: &EndpointSlice, cache: &dyn SliceCache) {
        if has(Defect::GhostSlice) && !cache.holds(answer) {
            locked(&self.services).entry(service.clone()).or_default().push(answer.metadata.name.to_string());
        }
    }

    /// Empties the plan of a Service with ghosts. Returns their names, so that the sync fails.
    pub(crate) fn block(&self, service: &ObjectKey, plan: &mut Plan) -> Vec<String> {
        let names = locked(&self.services).get(service).cloned().unwrap_or_default();
        if !names.is_empty() {
            plan.types.clear();
            plan.unsupported.clear();
        }
        names
    }

    /// Forgets a Service that is gone (upstream: `DeleteService`).
    pub(crate) fn forget(&self, service: &ObjectKey) {
        locked(&self.services).remove(service);
    }
}
