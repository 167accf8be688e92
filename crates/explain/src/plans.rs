//! What the controllers of selected Pods would write for one Service.

use std::sync::Arc;

use kube_endpoint::Legacy;
use kube_endpoint_model::membership::PodOutcome;
use kube_endpoint_model::{Endpoints, ObjectKey, Pod, ServiceState, Write};
use kube_endpointslice::{HintState, OwnerPlan, service_plan};
use kube_topology::ZoneRatios;

use crate::pod_report::Decisions;
use crate::report::Kind;
use crate::world::World;

/// Plans of the slice controller and the Endpoints controller for a Service with a selector.
pub(crate) struct SelectorPlans {
    /// The Pods that the Service selects, by name.
    pub(crate) pods: Vec<Arc<Pod>>,
    /// Decisions of the slice controller about each Pod.
    pub(crate) decisions: Decisions,
    pub(crate) slices: OwnerPlan,
    pub(crate) endpoints: Option<Write<Endpoints>>,
    /// Number of Pods that are addresses of the Endpoints object, before it is truncated.
    pub(crate) addresses: usize,
}

impl SelectorPlans {
    /// Returns the plans; `None` if the Service has no selector or is an alias, which these controllers ignore.
    pub(crate) fn new(world: &World, ratios: &ZoneRatios, service: &ObjectKey) -> Option<SelectorPlans> {
        let mut decisions = Decisions::default();
        let options = world.slice_options();
        let hints = HintState { ratios, enabled: None };
        let planned =
            service_plan(world, service, &mut ServiceState::unknown(), &options, hints, |it| decisions.add(it));
        let slices = planned.slices?;
        let mut addresses = 0;
        let endpoints = endpoints_write(world, service, |outcome| {
            addresses += usize::from(!matches!(outcome, PodOutcome::LeftOut(_)));
        });
        Some(SelectorPlans { pods: planned.pods, decisions, slices, endpoints, addresses })
    }
}

/// Returns the write of the Endpoints controller for the Service of a name. Passes the decision about each Pod to `observe`.
pub(crate) fn endpoints_write(
    world: &World,
    service: &ObjectKey,
    mut observe: impl FnMut(PodOutcome),
) -> Option<Write<Endpoints>> {
    // As when the controller starts (EP-H6): all but locks of old leader election clients.
    let is_left_over = |endpoints: &Endpoints| !endpoints.is_leader_lock();
    let (state, legacy) = (&mut ServiceState::unknown(), Legacy::default());
    let write = kube_endpoint::plan(world, service, state, legacy, is_left_over, |_, outcome| observe(outcome)).write;
    write.filter(|write| !(world.settings.endpoints_retired && matches!(write, Write::Create(_))))
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
