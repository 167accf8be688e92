//! What the controllers of selected Pods would write for one Service.

use std::collections::HashMap;
use std::sync::Arc;

use jiff::Timestamp;
use kube_endpoint::Legacy;
use kube_endpoint_model::membership::PodOutcome;
use kube_endpoint_model::well_known::{SLICE_CONTROLLER, TRIGGER_TIME_ANNOTATION};
use kube_endpoint_model::{Cluster as _, Endpoint, EndpointSlice, Endpoints, Pod, SelectingService, Service, Write};
use kube_endpointslice::{
    DesiredEndpoint as _, DesiredGroup, Explanation, Hints, Options, Plan, PodEndpoint, ServiceHints, ServiceInputs,
    hinted_types, plan_explained,
};
use kube_topology::{HintPolicy, ZoneRatios};
use kube_wire::Object as _;

use crate::pod_report::Decisions;
use crate::report::Kind;
use crate::world::World;

/// Plans of the slice controller and the Endpoints controller for a Service with a selector.
pub(crate) struct SelectorPlans {
    /// The Pods that the Service selects, by name.
    pub(crate) pods: Vec<Arc<Pod>>,
    /// Decisions of the slice controller about each Pod.
    pub(crate) decisions: Decisions,
    pub(crate) slices: Plan,
    pub(crate) explanation: Explanation,
    pub(crate) endpoints: Option<Write<Endpoints>>,
}

impl SelectorPlans {
    /// Returns the plans; `None` if the Service has no selector or is an alias, which these controllers ignore.
    pub(crate) fn new(world: &World, ratios: &ZoneRatios, service: &Service) -> Option<SelectorPlans> {
        let SelectingService::Selects(service) = world.selecting_service(&service.key()) else { return None };
        let inputs = ServiceInputs::read(world, Arc::clone(&service));
        let mut decisions = Decisions::default();
        let desired = inputs.desired(world, |decision| decisions.add(decision));
        let policy = inputs.policy();
        let leaves_hints = world.is_unknown(Kind::Node) && policy == HintPolicy::Topology;
        let hints = ServiceHints { policy, ratios, enabled: hinted_types(inputs.existing()) };
        let hints = if leaves_hints { Hints::Leave } else { Hints::Decide(hints) };
        let options =
            Options::for_services(SLICE_CONTROLLER).max_endpoints_per_slice(world.settings.max_endpoints_per_slice);
        let (slices, explanation) = if world.is_unknown(Kind::Node) {
            let groups = with_stored_zones(desired.groups, inputs.existing(), leaves_hints);
            plan_explained(inputs.input(groups), hints, &options)
        } else {
            plan_explained(inputs.input(desired.groups), hints, &options)
        };

        let inputs = kube_endpoint::Inputs::of_pods(world, service, inputs.into_pods());
        let time = inputs.current.as_deref().and_then(trigger_time);
        let endpoints = inputs.plan(time, Legacy::default());
        Some(SelectorPlans { pods: inputs.pods, decisions, slices, explanation, endpoints })
    }

    /// Returns the number of Pods that are addresses of the Endpoints object, before it is truncated.
    pub(crate) fn addresses(&self, service: &Service) -> usize {
        let mut addresses = 0;
        kube_endpoint::explain(service, &self.pods, Legacy::default(), |_, outcome| {
            addresses += usize::from(!matches!(outcome, PodOutcome::LeftOut(_)));
        });
        addresses
    }
}

/// Returns the endpoints with the zones of the stored slices, and with their hints if `hints` is set: without Nodes, only
/// what does not depend on them is compared. An endpoint that no slice has with this Node gets no zone.
fn with_stored_zones(
    groups: Vec<DesiredGroup<PodEndpoint<'_>>>,
    existing: &[Arc<EndpointSlice>],
    hints: bool,
) -> Vec<DesiredGroup> {
    let stored = existing.iter().flat_map(|slice| &slice.endpoints);
    let stored: HashMap<String, &Endpoint> =
        stored.filter_map(|endpoint| Some((endpoint.addresses.first()?.to_string(), endpoint))).collect();
    let with_zone = |desired: PodEndpoint<'_>| {
        let mut endpoint = desired.endpoint();
        let stored = endpoint.addresses.first().and_then(|address| stored.get(&address.to_string()));
        if let Some(stored) = stored.filter(|stored| stored.node_name == endpoint.node_name) {
            endpoint.zone = stored.zone.clone();
            if hints {
                endpoint.hints = stored.hints.clone();
            }
        }
        endpoint
    };
    let with_zones = |group: DesiredGroup<PodEndpoint<'_>>| {
        let DesiredGroup { address_type, ports, endpoints } = group;
        DesiredGroup { address_type, ports, endpoints: endpoints.into_iter().map(with_zone).collect() }
    };
    groups.into_iter().map(with_zones).collect()
}

/// Returns the value of the trigger time annotation, which an update that is only previewed keeps.
fn trigger_time(current: &Endpoints) -> Option<Timestamp> {
    current.metadata.annotations.get(TRIGGER_TIME_ANNOTATION)?.parse().ok()
}

/// Returns whether the plans of the controllers can be compared with the slices and Endpoints: everything that they
/// depend on was read. Without Nodes they are compared apart from zones, and hints that depend on the Nodes' CPU.
pub(crate) fn are_known(world: &World, written: Kind) -> bool {
    let read: &[Kind] = match written {
        Kind::EndpointSlice => &[Kind::Service, Kind::Pod, Kind::Endpoints, Kind::EndpointSlice],
        _ => &[Kind::Service, Kind::Pod, Kind::Endpoints],
    };
    !read.iter().any(|kind| world.is_unknown(*kind))
}
