//! Topology hints and traffic distribution of a Service, or why there are none.

use std::collections::BTreeSet;

use kube_endpoint_model::{Code, Service, Text};
use kube_endpointslice::Plan;
use kube_topology::{DisabledReason, HintPolicy, TrafficDistribution};

use crate::report::{HintsReport, PodReport, PodState, Reason};
use crate::world::World;

/// Explains the hints that a plan sets.
pub(crate) fn hints_report(world: &World, service: &Service, plan: &Plan, pods: &[PodReport]) -> HintsReport {
    let policy = match HintPolicy::of(service) {
        HintPolicy::Topology => Some("Topology".to_owned()),
        HintPolicy::Traffic(distribution) => Some(distribution.as_str().to_owned()),
        HintPolicy::None => None,
    };
    let mut reasons: Vec<Reason> = Vec::new();
    for event in plan.types.iter().flat_map(|plan| &plan.events) {
        let Some(cause) = event.cause else { continue };
        let reason = Reason { code: cause.code(), message: message(world, cause, pods) };
        // Both address types usually have the same reason.
        if !reasons.contains(&reason) {
            reasons.push(reason);
        }
    }
    HintsReport { policy, reasons }
}

/// Returns why a Service's request for hints is not recognized (RC-29, RC-30): such a value counts as unset.
pub(crate) fn unknown_policy(service: &Service) -> Option<Reason> {
    let annotation = service.topology_annotation.as_deref();
    let annotation = annotation.filter(|value| !["Auto", "auto", "Disabled", "disabled", ""].contains(value));
    let field = service.traffic_distribution.as_deref();
    let field = field.filter(|value| !value.is_empty() && TrafficDistribution::parse(value).is_none());
    let message = match (annotation, field) {
        (Some(value), _) => format!("topology annotation {value:?} is not recognized: use Auto"),
        (None, Some(value)) => {
            let known = TrafficDistribution::ALL.map(TrafficDistribution::as_str).join(", ");
            format!("trafficDistribution {value:?} is not recognized: use one of {known}")
        }
        (None, None) => return None,
    };
    Some(Reason { code: Code::HintsUnknownPolicy, message })
}

fn message(world: &World, cause: DisabledReason, pods: &[PodReport]) -> String {
    match cause {
        DisabledReason::InsufficientNumberOfEndpoints { endpoints, zones } => {
            let serving = pods.iter().filter(|pod| pod.state == PodState::Serving);
            let with_endpoint: BTreeSet<&str> = serving.filter_map(|pod| pod.zone.as_deref()).collect();
            let empty = world.zones().into_iter().map(Text::as_str).filter(|zone| !with_endpoint.contains(zone));
            let empty = match &empty.collect::<Vec<_>>()[..] {
                [] => String::new(),
                [zone] => format!("; zone {zone} has no ready endpoint"),
                zones => format!("; zones {} have no ready endpoint", zones.join(", ")),
            };
            format!("fewer ready endpoints ({endpoints}) than zones ({zones}){empty}")
        }
        DisabledReason::MinAllocationExceedsOverloadThreshold { endpoints, zones } => format!(
            "{endpoints} endpoints in {zones} zones cannot follow the CPU of the zones without 20 % more load than the \
             average somewhere"
        ),
        DisabledReason::NodesReadyInOneZoneOnly => "no Node exists".to_owned(),
        DisabledReason::InsufficientNodeInfo => match world.node_without_information() {
            Some((node, lack)) => format!("Node {node} {lack}"),
            None => "fewer than two zones have ready Nodes".to_owned(),
        },
        DisabledReason::NoZoneSpecified => "the Node of a ready endpoint has no zone label".to_owned(),
        other => other.to_string(),
    }
}
