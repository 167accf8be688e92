//! Defect for the simulation: upstream's slice tracker before kubernetes/kubernetes#141593.

use std::collections::HashMap;
use std::sync::Mutex;

use kube_ambient::{Defect, is_enabled};
use kube_controller::locked;
use kube_endpoint_model::{EndpointSlice, ObjectKey};
use kube_informer::WriteThrough;

use crate::altered::holds;
use crate::plan::Plan;

/// Slices of own creates whose deletion was in the cache before the response to the create arrived, by Service.
///
/// Upstream's `EndpointSliceTracker.Update` adds such a slice after `HandleDeletion` has looked for it, and expects it
/// in the cache from then on: `StaleSlices` fails every sync of the Service.
#[derive(Debug, Default)]
pub(crate) struct Ghosts {
    services: Mutex<HashMap<ObjectKey, Vec<String>>>,
}

impl Ghosts {
    /// Records the response to a create, after `cache` has stored it.
    pub(crate) fn created(
        &self,
        service: &ObjectKey,
        answer: &EndpointSlice,
        cache: Option<&WriteThrough<EndpointSlice>>,
    ) {
        if is_enabled(Defect::GhostSlice) && !holds(cache, answer) {
            locked(&self.services).entry(service.clone()).or_default().push(answer.metadata.name.to_string());
        }
    }

    /// Empties the plan of a Service with such slices, and returns their names, so that the sync fails.
    pub(crate) fn block(&self, service: &ObjectKey, plan: &mut Plan) -> Vec<String> {
        let names = locked(&self.services).get(service).cloned().unwrap_or_default();
        if !names.is_empty() {
            plan.types.clear();
            plan.unsupported.clear();
        }
        names
    }

    /// Drops the slices of a Service (upstream: `DeleteService`).
    pub(crate) fn forget(&self, service: &ObjectKey) {
        locked(&self.services).remove(service);
    }
}
