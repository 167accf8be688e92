//! The law of previews: the changes of a Service are the writes of the controllers' plans for it, and nothing else.

use kube_endpoint_model::well_known::SLICE_CONTROLLER;
use kube_endpoint_model::{EndpointSlice, Endpoints, Metadata as _, ObjectKey, ServiceState, Write};
use kube_endpoints_explain::{Change, Kind, Settings, World};
use kube_endpointslice::{HintState, Options, service_plan};
use kube_topology::ZoneRatios;
use serde::Serialize;
use serde_json::Value;

use crate::cluster::Cluster;

/// A write: kind, state before and state after.
type Written = (Kind, Option<Value>, Option<Value>);

/// Checks the law, and returns the changes.
pub(crate) fn check(cluster: &Cluster, world: &World) -> Vec<Change> {
    let mut expected: Vec<Written> = Vec::new();
    let keys = cluster.services.keys().chain(cluster.endpoints.keys());
    let mut keys: Vec<&ObjectKey> = keys.collect();
    keys.sort_unstable();
    keys.dedup();
    let ratios = match cluster.nodes.len() {
        0 => ZoneRatios::default(),
        _ => ZoneRatios::from_nodes(cluster.nodes.values()),
    };
    for key in keys {
        expected.extend(planned(world, &cluster.settings, &ratios, key));
    }
    let changes = world.changes();
    let found = changes.iter().map(|change| (change.object.kind, &change.before, &change.after));
    let expected = expected.iter().map(|(kind, before, after)| (*kind, before, after));
    let [mut found, mut expected]: [Vec<_>; 2] = [found.collect(), expected.collect()];
    for writes in [&mut found, &mut expected] {
        writes.sort_by_cached_key(|write| format!("{write:?}"));
    }
    assert_eq!(found, expected);
    changes
}

fn planned(world: &World, settings: &Settings, ratios: &ZoneRatios, key: &ObjectKey) -> Vec<Written> {
    let options = Options::for_services(SLICE_CONTROLLER).max_endpoints_per_slice(settings.max_endpoints_per_slice);
    let mut state = ServiceState::unknown();
    let hints = HintState { ratios, enabled: None };
    let slices = service_plan(world, key, &mut state, &options, hints, |_| {}).slices;
    let mut slices: Vec<Write<EndpointSlice>> = slices.iter().flat_map(|it| it.plan.writes().cloned()).collect();
    match kube_endpointslice_mirroring::plan(world, key, settings.max_endpoints_per_subset) {
        Ok(mirrored) => slices.extend(mirrored.slices.plan.writes().cloned()),
        Err(nothing) => slices.extend(nothing.superfluous().iter().cloned().map(Write::Delete)),
    }
    // A finalizer keeps a slice that is being deleted.
    slices.retain(|write| !matches!(write, Write::Delete(slice) if slice.metadata.is_terminating()));
    let (state, legacy) = (&mut ServiceState::unknown(), kube_endpoint::Legacy::default());
    let is_left_over = |endpoints: &Endpoints| !endpoints.is_leader_lock();
    let endpoints = kube_endpoint::plan(world, key, state, legacy, is_left_over, |_, _| {}).write;
    let slices = slices.iter().map(|write| written(Kind::EndpointSlice, write));
    slices.chain(endpoints.iter().map(|write| written(Kind::Endpoints, write))).collect()
}

fn written<T: Serialize>(kind: Kind, write: &Write<T>) -> Written {
    let value = |object: &T| serde_json::to_value(object).expect("JSON");
    (kind, write.before().map(value), write.after().map(value))
}
