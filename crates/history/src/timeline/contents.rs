//! The endpoints that slices contain.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use kube_endpoint_model::{Cluster, EndpointConditions, EndpointPort, EndpointSlice, ObjectKey, Service, TargetRef};
use kube_endpoints_explain::World;

use super::entry::{EndpointChange, EndpointState, Hints, PortsChange};

/// What the slices of a Service are for clients: those that exist, or those that the controllers would leave.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Contents {
    endpoints: BTreeMap<String, Endpoint>,
    pub(super) hints: Hints,
}

/// An address. Of several endpoints with it, the best one.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Endpoint {
    pub(super) state: EndpointState,
    /// Name and number of each port, sorted.
    pub(super) ports: Vec<String>,
    pub(super) pod: Option<String>,
}

impl Endpoint {
    /// Returns whether clients see the same.
    pub(super) fn is_shown_as(&self, other: &Endpoint) -> bool {
        (self.state, &self.ports) == (other.state, &other.ports)
    }
}

impl Contents {
    /// Returns what the slices should contain, by the plans of the controllers.
    pub(super) fn expected(service: &ObjectKey, world: &World) -> Contents {
        match Cluster::service(world, service) {
            // Clients of an alias use no slice, although its slices stay.
            Some(object) if !object.external_name => Contents::of(Some(&object), world.planned_slices(service).iter()),
            _ => Contents::default(),
        }
    }

    /// Returns what the slices contain, of all managers.
    pub(super) fn written(service: &ObjectKey, world: &World) -> Contents {
        Contents::of(Cluster::service(world, service).as_deref(), world.slices_of(service))
    }

    fn of<'a>(service: Option<&Service>, slices: impl Iterator<Item = &'a Arc<EndpointSlice>>) -> Contents {
        let needs_port = service.is_some_and(Service::needs_endpoint_ports);
        let mut contents = Contents::default();
        for slice in slices {
            let mut ports: Vec<String> = slice.ports.iter().map(port).collect();
            ports.sort_unstable();
            for endpoint in &slice.endpoints {
                let Some(address) = endpoint.addresses.first() else { continue };
                let state = match state_of(endpoint.conditions) {
                    EndpointState::Ready if needs_port && ports.is_empty() => EndpointState::NoPort,
                    state => state,
                };
                let pod = endpoint.target_ref.as_ref().filter(|it| it.is_of_pod()).map(pod_name);
                let found = contents.endpoints.entry(address.to_string()).or_default();
                *found = Endpoint { state, ports: ports.clone(), pod }.max(std::mem::take(found));
                if let Some(hints) = &endpoint.hints {
                    let hints = match (hints.for_nodes.is_empty(), hints.for_zones.is_empty()) {
                        (false, _) => Hints::Nodes,
                        (true, false) => Hints::Zones,
                        (true, true) => Hints::None,
                    };
                    contents.hints = contents.hints.max(hints);
                }
            }
        }
        contents
    }

    pub(super) fn ready(&self) -> usize {
        self.endpoints.values().filter(|endpoint| endpoint.state == EndpointState::Ready).count()
    }

    pub(super) fn state(&self, address: &str) -> EndpointState {
        self.endpoints.get(address).map(|endpoint| endpoint.state).unwrap_or_default()
    }

    pub(super) fn states(&self) -> impl Iterator<Item = (&str, EndpointState)> {
        self.endpoints.iter().map(|(address, endpoint)| (address.as_str(), endpoint.state))
    }

    pub(super) fn has_pod(&self, name: &str) -> bool {
        self.endpoints.values().any(|endpoint| endpoint.pod.as_deref() == Some(name))
    }

    pub(super) fn endpoint(&self, address: &str) -> Endpoint {
        self.endpoints.get(address).cloned().unwrap_or_default()
    }

    /// Returns the addresses that differ, those that get worse first.
    pub(super) fn differences(&self, after: &Contents) -> Vec<EndpointChange> {
        let addresses: BTreeSet<&String> = self.endpoints.keys().chain(after.endpoints.keys()).collect();
        let changes = addresses.into_iter().filter_map(|address| {
            let (from, to) = (self.endpoint(address), after.endpoint(address));
            let exists = from.state != EndpointState::Absent && to.state != EndpointState::Absent;
            let ports = (exists && from.ports != to.ports).then_some(PortsChange { from: from.ports, to: to.ports });
            let change = EndpointChange {
                address: address.clone(),
                pod: to.pod.or(from.pod),
                from: from.state,
                to: to.state,
                ports,
            };
            (change.from != change.to || change.ports.is_some()).then_some(change)
        });
        let mut changes: Vec<EndpointChange> = changes.collect();
        changes.sort_by_key(|change| change.to == EndpointState::Ready);
        changes
    }
}

fn pod_name(target: &TargetRef) -> String {
    target.name().to_string()
}

/// Returns for instance `http=8080`, or `dns=53/UDP`.
fn port(port: &EndpointPort) -> String {
    let name = port.name.as_deref().filter(|name| !name.is_empty()).map(|name| format!("{name}=")).unwrap_or_default();
    let number = port.port.map_or_else(|| "any".to_owned(), |number| number.to_string());
    let protocol = port.protocol.as_deref().filter(|it| *it != "TCP").map(|it| format!("/{it}")).unwrap_or_default();
    format!("{name}{number}{protocol}")
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
