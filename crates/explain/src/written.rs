//! State of the slices and Endpoints objects of a Service.

use std::collections::BTreeMap;

use kube_endpoint_model::well_known::{
    ENDPOINTS_CONTROLLER, ENDPOINTS_MANAGED_BY_LABEL, MIRRORING_CONTROLLER, SLICE_CONTROLLER, SLICE_MANAGED_BY_LABEL,
};
use kube_endpoint_model::{EndpointSlice, Endpoints, ObjectKey};
use kube_endpointslice::Plan;
use kube_wire::Object as _;

use crate::mirror::Mirroring;
use crate::plans::{SelectorPlans, are_known};
use crate::report::{Kind, ObjectRef, ObjectState, WrittenObject};
use crate::world::World;

/// States of the slices that plans write, by name.
#[derive(Default)]
pub(crate) struct PlannedStates(BTreeMap<String, ObjectState>);

impl PlannedStates {
    pub(crate) fn new(selector: Option<&SelectorPlans>, mirroring: &Mirroring) -> Self {
        let mut states = PlannedStates::default();
        if let Some(plans) = selector {
            states.add(&plans.slices.plan);
        }
        if let Some(mirror) = mirroring.plan() {
            states.add(&mirror.slices.plan);
        }
        for slice in mirroring.superfluous() {
            states.0.insert(slice.metadata.name.to_string(), ObjectState::Superfluous);
        }
        states
    }

    fn add(&mut self, plan: &Plan) {
        for write in plan.writes() {
            let state = if write.after().is_some() { ObjectState::Outdated } else { ObjectState::Superfluous };
            if let Some(stored) = write.before() {
                self.0.insert(stored.metadata.name.to_string(), state);
            }
        }
    }
}

/// Describes a slice. `planned` are the plans for its Service.
pub(crate) fn written_slice(world: &World, slice: &EndpointSlice, planned: &PlannedStates) -> WrittenObject {
    let object = ObjectRef::new(Kind::EndpointSlice, &slice.key());
    WrittenObject {
        address_type: Some(slice.address_type.as_str().to_owned()),
        endpoints: slice.endpoints.len(),
        ready: slice.endpoints.iter().filter(|endpoint| endpoint.conditions.counts_as_ready()).count(),
        managed_by: slice.metadata.labels.get(SLICE_MANAGED_BY_LABEL).map(str::to_owned),
        last_write: world.writes.get(&object).cloned(),
        state: slice_state(world, slice, planned),
        name: object.name,
    }
}

fn slice_state(world: &World, slice: &EndpointSlice, planned: &PlannedStates) -> ObjectState {
    if slice.metadata.deletion_timestamp.is_some() {
        return ObjectState::Terminating;
    }
    let by_pods = slice.is_managed_by(SLICE_CONTROLLER);
    if !by_pods && !slice.is_managed_by(MIRRORING_CONTROLLER) {
        return ObjectState::Foreign;
    }
    let key = slice.service_name().map(|name| ObjectKey::new(slice.metadata.namespace.clone(), name));
    let service = key.and_then(|key| world.services.get(&key));
    let has_controller =
        service.is_some_and(|service| !by_pods || (service.selector.is_some() && !service.external_name));
    if !world.is_unknown(Kind::Service) && !has_controller {
        return ObjectState::Orphaned;
    }
    if !are_known(world, Kind::EndpointSlice) {
        return ObjectState::Unknown;
    }
    // Without Nodes, zones are not compared: a slice can differ, but is not known to be current.
    let unplanned = if by_pods && world.is_unknown(Kind::Node) { ObjectState::Unknown } else { ObjectState::Current };
    planned.0.get(&*slice.metadata.name).copied().unwrap_or(unplanned)
}

/// Describes an Endpoints object. `plans` are those of its Service, if it has a selector.
pub(crate) fn written_endpoints(world: &World, endpoints: &Endpoints, plans: Option<&SelectorPlans>) -> WrittenObject {
    let metadata = &endpoints.metadata;
    let object = ObjectRef::new(Kind::Endpoints, &endpoints.key());
    let ready: usize = endpoints.subsets.iter().map(|subset| subset.addresses.len()).sum();
    let not_ready: usize = endpoints.subsets.iter().map(|subset| subset.not_ready_addresses.len()).sum();
    let managed_by = metadata.labels.get(ENDPOINTS_MANAGED_BY_LABEL);
    let state = if metadata.deletion_timestamp.is_some() {
        ObjectState::Terminating
    } else if !are_known(world, Kind::Endpoints) {
        ObjectState::Unknown
    } else {
        match plans {
            Some(plans) => match plans.endpoints {
                Some(_) => ObjectState::Outdated,
                None => ObjectState::Current,
            },
            None if managed_by == Some(ENDPOINTS_CONTROLLER) => ObjectState::Orphaned,
            None => ObjectState::Foreign,
        }
    };
    WrittenObject {
        address_type: None,
        endpoints: ready + not_ready,
        ready,
        managed_by: managed_by.map(str::to_owned),
        last_write: world.writes.get(&object).cloned(),
        state,
        name: object.name,
    }
}
