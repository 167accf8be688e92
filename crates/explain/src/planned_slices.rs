//! The slices that a Service should have.

use std::sync::Arc;

use kube_endpoint_model::well_known::SLICE_CONTROLLER;
use kube_endpoint_model::{EndpointSlice, ObjectKey, ServiceState};
use kube_endpointslice::{HintState, Options, Plan, service_plan};
use kube_topology::{HintPolicy, ZoneRatios};

use crate::mirror::Mirroring;
use crate::world::World;

impl World {
    /// Returns the slices of a Service, of all managers, as they are once the controllers have written what they would write
    /// now. Slices to create have no name. A Service that does not exist has none: its slices are deleted with it.
    pub fn planned_slices(&self, service: &ObjectKey) -> Vec<Arc<EndpointSlice>> {
        let Some(object) = self.services.get(service) else { return Vec::new() };
        // Only hints by topology depend on all Nodes.
        let by_topology = HintPolicy::of(object) == HintPolicy::Topology;
        let ratios = if by_topology { self.ratios() } else { ZoneRatios::default() };
        let (hints, options) = (HintState { ratios: &ratios, enabled: None }, self.slice_options());
        let selected = service_plan(self, service, &mut ServiceState::unknown(), &options, hints, |_| {}).slices;
        let mirroring = Mirroring::new(self, service);
        let plans = selected.as_ref().map(|it| &it.plan).into_iter();
        let plans = plans.chain(mirroring.plan().map(|it| &it.slices.plan));
        let mut slices: Vec<Arc<EndpointSlice>> = self.slices_of(service).cloned().collect();
        let remove = |slices: &mut Vec<Arc<EndpointSlice>>, name: &str| {
            slices.retain(|slice| *slice.metadata.name != *name);
        };
        for write in plans.flat_map(Plan::writes) {
            if let Some(before) = write.before() {
                remove(&mut slices, &before.metadata.name);
            }
            slices.extend(write.after().map(|after| Arc::new(after.clone())));
        }
        for slice in mirroring.superfluous() {
            remove(&mut slices, &slice.metadata.name);
        }
        slices
    }

    /// Returns the options of the slice controller.
    pub(crate) fn slice_options(&self) -> Options {
        Options::for_services(SLICE_CONTROLLER).max_endpoints_per_slice(self.settings.max_endpoints_per_slice)
    }
}
