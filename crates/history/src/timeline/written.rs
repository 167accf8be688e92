//! The endpoints that clients see.

use std::collections::BTreeMap;

use kube_endpoint_model::{EndpointConditions, ObjectKey};
use kube_endpoints_explain::World;

use super::entry::EndpointState;

/// Returns the state of each first address in the slices of a Service, of all managers: the best one, if several have it.
pub(super) fn states(service: &ObjectKey, world: &World) -> BTreeMap<String, EndpointState> {
    let mut states = BTreeMap::new();
    for endpoint in world.slices_of(service).flat_map(|slice| &slice.endpoints) {
        let Some(address) = endpoint.addresses.first() else { continue };
        let state = states.entry(address.to_string()).or_insert(EndpointState::Absent);
        *state = better(*state, state_of(endpoint.conditions));
    }
    states
}

/// Returns how clients see an endpoint with these conditions.
fn state_of(conditions: EndpointConditions) -> EndpointState {
    if conditions.counts_as_ready() {
        EndpointState::Ready
    } else if conditions.counts_as_terminating() && conditions.counts_as_serving() {
        EndpointState::Draining
    } else if conditions.counts_as_terminating() {
        EndpointState::Terminating
    } else {
        EndpointState::NotReady
    }
}

fn better(a: EndpointState, b: EndpointState) -> EndpointState {
    let rank = |state: &EndpointState| match state {
        EndpointState::Absent => 0,
        EndpointState::Terminating => 1,
        EndpointState::NotReady => 2,
        EndpointState::Draining => 3,
        EndpointState::Ready => 4,
    };
    if rank(&b) > rank(&a) { b } else { a }
}
