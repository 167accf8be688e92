//! Explains a Pod that a Service selects.

use std::collections::HashMap;
use std::sync::Arc;

use kube_endpoint_model::membership::{self, PodOutcome, PodReason};
use kube_endpoint_model::{AddressType, Cluster as _, Code, Pod, Service, TargetPort, Text};
use kube_endpointslice::PodDecision;

use crate::pod_details::PodDetails;
use crate::report::{PodEndpointReport, PodReport, PodState, Reason};
use crate::world::World;

/// Decisions about the Pods of a Service, by name.
#[derive(Default)]
pub(crate) struct Decisions(HashMap<Text, Vec<Decision>>);

/// Decision about one Pod and address type.
pub(crate) struct Decision {
    address_type: AddressType,
    outcome: PodOutcome,
    /// First address of the endpoint; `None` if the Pod is left out.
    address: Option<String>,
}

impl Decision {
    fn is_endpoint(&self) -> bool {
        !matches!(self.outcome, PodOutcome::LeftOut(_))
    }
}

impl Decisions {
    pub(crate) fn add(&mut self, decision: PodDecision<'_>) {
        let PodDecision { pod, address_type, outcome, addresses, .. } = decision;
        let address = addresses.first().map(ToString::to_string);
        let decision = Decision { address_type: address_type.clone(), outcome, address };
        self.0.entry(pod.name.clone()).or_default().push(decision);
    }

    /// Returns the decisions about a Pod, by address type.
    pub(crate) fn of(&self, pod: &Pod) -> &[Decision] {
        self.0.get(&pod.name).map(Vec::as_slice).unwrap_or_default()
    }
}

/// Explains a Pod by the decisions of the slice controller about it. `selected` are all Pods of the Service.
pub(crate) fn pod_report(
    world: &World,
    service: &Service,
    selected: &[Arc<Pod>],
    pod: &Pod,
    decisions: &[Decision],
) -> PodReport {
    let endpoints: Vec<PodEndpointReport> = decisions.iter().filter_map(|it| endpoint(service, pod, it)).collect();
    let usable =
        |endpoint: &PodEndpointReport| endpoint.ready && !(endpoint.ports.is_empty() && service.needs_endpoint_ports());
    let state = if endpoints.iter().any(usable) {
        PodState::Serving
    } else if endpoints.is_empty() {
        PodState::LeftOut
    } else {
        PodState::NotServing
    };
    let zone = world.node(&pod.node_name).map(|node| node.zone.to_string()).filter(|zone| !zone.is_empty());
    let reasons = reasons(world, service, selected, pod, decisions);
    PodReport { name: pod.name.to_string(), state, endpoints, zone, node: pod.node_name.to_string(), reasons }
}

fn endpoint(service: &Service, pod: &Pod, decision: &Decision) -> Option<PodEndpointReport> {
    Some(PodEndpointReport {
        address_type: decision.address_type.as_str().to_owned(),
        address: decision.address.clone()?,
        ports: service.ports.iter().filter_map(|port| membership::find_port(pod, port).ok()).collect(),
        ready: decision.outcome == PodOutcome::Ready,
    })
}

/// Returns the reasons about a Pod: why it has no endpoint at all; ports that it lacks, if it serves none; why it is
/// not ready; then what it lacks of what it has in part.
fn reasons(world: &World, service: &Service, selected: &[Arc<Pod>], pod: &Pod, decisions: &[Decision]) -> Vec<Reason> {
    let missing_ports: Vec<(usize, PodReason)> = (service.ports.iter().enumerate())
        .filter_map(|(at, port)| Some((at, membership::find_port(pod, port).err()?)))
        .collect();
    let ports = || missing_ports.iter().map(|(at, reason)| port_reason(service, pod, *at, *reason));
    let mut not_endpoint: Vec<(PodReason, Vec<&AddressType>)> = Vec::new();
    for Decision { address_type, outcome, .. } in decisions {
        let PodOutcome::LeftOut(reason) = *outcome else { continue };
        match not_endpoint.iter_mut().find(|(it, _)| *it == reason) {
            Some((_, types)) => types.push(address_type),
            None => not_endpoint.push((reason, vec![address_type])),
        }
    }
    let not_endpoint =
        not_endpoint.iter().map(|(reason, types)| membership_reason(world, selected, pod, *reason, types));
    let unready = decisions.iter().find_map(|decision| match decision.outcome {
        PodOutcome::NotReady(reason) => Some(membership_reason(world, selected, pod, reason, &[])),
        _ => None,
    });
    let published =
        decisions.iter().any(|it| it.outcome == PodOutcome::Ready) && membership::unready(pod, false).is_some();
    let published = published.then(|| Reason {
        code: Code::PodPublishedNotReady,
        message: format!("{}, but the Service publishes addresses that are not ready", readiness(world, pod)),
    });

    let is_endpoint = decisions.iter().any(Decision::is_endpoint);
    let no_port = !service.ports.is_empty() && missing_ports.len() == service.ports.len();
    let mut reasons = Vec::new();
    if is_endpoint && no_port {
        reasons.extend(ports());
        reasons.push(Reason {
            code: Code::NoPort,
            message: "serves no port of the Service: left out of Endpoints, and in slices without ports".to_owned(),
        });
        reasons.extend(unready);
        reasons.extend(not_endpoint);
    } else if is_endpoint {
        reasons.extend(unready);
        reasons.extend(ports());
        reasons.extend(not_endpoint);
    } else {
        reasons.extend(not_endpoint);
        reasons.extend(ports());
    }
    reasons.extend(published);
    reasons
}

fn port_reason(service: &Service, pod: &Pod, at: usize, reason: PodReason) -> Reason {
    let port = &service.ports[at];
    let TargetPort::Name(name) = &port.target else { return Reason { code: reason.code(), message: String::new() } };
    let message = if reason == PodReason::TargetPortProtocol {
        let protocols = pod.named_ports.iter().filter(|it| it.name == *name).map(|it| it.protocol.to_string());
        let protocols = protocols.collect::<Vec<_>>().join(", ");
        format!("targetPort {name:?} is a port of protocol {protocols}, and the Service's port is {}", port.protocol)
    } else {
        let available = pod.named_ports.iter().map(|it| format!("{}={}", it.name, it.port)).collect::<Vec<_>>();
        let available = if available.is_empty() { "none has a name".to_owned() } else { available.join(", ") };
        format!("targetPort {name:?} is not a port of any container (available: {available})")
    };
    Reason { code: reason.code(), message }
}

/// Returns what distinguishes a reason of a Pod from another with its code: the port that it is about.
pub(crate) fn subject(reason: &Reason) -> Option<&str> {
    let is_about_port = matches!(reason.code, Code::TargetPortUnknown | Code::TargetPortProtocol);
    reason.message.split(" is ").next().filter(|_| is_about_port)
}

fn membership_reason(
    world: &World,
    selected: &[Arc<Pod>],
    pod: &Pod,
    reason: PodReason,
    types: &[&AddressType],
) -> Reason {
    let message = match reason {
        PodReason::Finished => finished(world, selected, pod),
        PodReason::Terminating => "terminating".to_owned(),
        PodReason::NotReady => readiness(world, pod),
        PodReason::WithoutAddress => match world.details(pod) {
            Some(details) if details.unscheduled.is_some() => {
                format!("no IP address: not scheduled: {}", details.unscheduled.as_deref().unwrap_or_default())
            }
            _ if pod.node_name.is_empty() => "no IP address: not scheduled to a Node".to_owned(),
            _ => format!("no IP address: not started by the kubelet of Node {}", pod.node_name),
        },
        PodReason::NodeMissing if pod.node_name.is_empty() => "not scheduled, but has an IP address".to_owned(),
        PodReason::NodeMissing => format!("Node {} does not exist", pod.node_name),
        PodReason::NoAddressOfFamily => format!("no {} address (has {})", joined(types), addresses(pod)),
        PodReason::InvalidAddress => format!("no valid {} address (has {})", joined(types), addresses(pod)),
        PodReason::UnusableAddress => {
            format!("no {} address that an endpoint can have (has {})", joined(types), addresses(pod))
        }
        // A reason that a later version of the model adds.
        other => other.code().title().to_owned(),
    };
    Reason { code: reason.code(), message }
}

fn joined(types: &[&AddressType]) -> String {
    types.iter().map(|it| it.as_str()).collect::<Vec<_>>().join(" or ")
}

fn addresses(pod: &Pod) -> String {
    let addresses = pod.pod_ips.iter().map(ToString::to_string).collect::<Vec<_>>();
    if addresses.is_empty() { "none".to_owned() } else { addresses.join(", ") }
}

/// Returns since when and why a Pod is not ready.
fn readiness(world: &World, pod: &Pod) -> String {
    if pod.terminating {
        return "terminating".to_owned();
    }
    let since = pod.ready_changed.map(|time| format!(" since {}", world.shown(time.timestamp()))).unwrap_or_default();
    match world.details(pod).and_then(PodDetails::not_ready) {
        Some(cause) => format!("not ready{since}: {cause}"),
        None => format!("not ready{since}"),
    }
}

/// Returns how a Pod finished, and which other Pod of the Service has its address now: IP addresses of finished Pods
/// are reused (kubernetes/kubernetes#109414).
fn finished(world: &World, selected: &[Arc<Pod>], pod: &Pod) -> String {
    let phase = world.details(pod).map(|details| details.phase.clone()).filter(|phase| !phase.is_empty());
    let phase = phase.map(|phase| format!(": {phase}")).unwrap_or_default();
    let reused = pod.pod_ips.first().and_then(|address| {
        let has_address =
            |other: &&Arc<Pod>| other.name != pod.name && !other.finished && other.pod_ips.contains(address);
        let other = selected.iter().find(has_address).map(|other| other.name.to_string())?;
        Some(format!("; its address {address} is now that of Pod {other}"))
    });
    format!("finished{phase}{}", reused.unwrap_or_default())
}
