//! The endpoints that a Service should have.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use kube_endpoint_model::{Cluster, ObjectKey, Pod, Text};
use kube_endpoints_explain::{ServiceReport, World};
use kube_wire::Object as _;

use super::entry::{EndpointChange, EndpointState};

/// State of each address, as the controllers would write it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Expected {
    endpoints: BTreeMap<String, (Option<String>, EndpointState)>,
}

impl Expected {
    /// Returns what the plan for a Service contains; nothing without a report.
    pub(super) fn of(service: &ObjectKey, world: &World, report: Option<&ServiceReport>) -> Expected {
        let Some(report) = report else { return Expected::default() };
        let Some(service) = Cluster::service(world, service) else { return Expected::default() };
        if service.selector.is_none() {
            return Expected { endpoints: custom(world, &service.key()) };
        }
        let pods: HashMap<Text, Arc<Pod>> =
            world.selected_pods(&service).into_iter().map(|pod| (pod.name.clone(), pod)).collect();
        let mut endpoints = BTreeMap::new();
        for report in &report.pods {
            for endpoint in &report.endpoints {
                let state = match pods.get(report.name.as_str()) {
                    _ if endpoint.ready => EndpointState::Ready,
                    Some(pod) if pod.terminating && pod.ready => EndpointState::Draining,
                    Some(pod) if pod.terminating => EndpointState::Terminating,
                    _ => EndpointState::NotReady,
                };
                endpoints.insert(endpoint.address.clone(), (Some(report.name.clone()), state));
            }
        }
        Expected { endpoints }
    }

    pub(super) fn ready(&self) -> usize {
        self.endpoints.values().filter(|(_, state)| *state == EndpointState::Ready).count()
    }

    pub(super) fn has_pod(&self, name: &str) -> bool {
        self.endpoints.values().any(|(pod, _)| pod.as_deref() == Some(name))
    }

    pub(super) fn state(&self, address: &str) -> EndpointState {
        self.endpoints.get(address).map_or(EndpointState::Absent, |(_, state)| *state)
    }

    pub(super) fn pod_of(&self, address: &str) -> Option<String> {
        self.endpoints.get(address).and_then(|(pod, _)| pod.clone())
    }

    /// Returns the addresses whose state differs, those that get worse first.
    pub(super) fn differences(&self, after: &Expected) -> Vec<EndpointChange> {
        let addresses =
            self.endpoints.keys().chain(after.endpoints.keys().filter(|it| !self.endpoints.contains_key(*it)));
        let changes = addresses.filter_map(|address| {
            let (from, to) = (self.state(address), after.state(address));
            let pod = after.pod_of(address).or_else(|| self.pod_of(address));
            (from != to).then(|| EndpointChange { address: address.clone(), pod, from, to })
        });
        let mut changes: Vec<EndpointChange> = changes.collect();
        changes.sort_by_key(|change| change.to == EndpointState::Ready);
        changes
    }
}

/// Returns the addresses of the Endpoints object of a Service without a selector, which are mirrored.
fn custom(world: &World, service: &ObjectKey) -> BTreeMap<String, (Option<String>, EndpointState)> {
    let Some(endpoints) = Cluster::endpoints(world, service) else { return BTreeMap::new() };
    let mut states = BTreeMap::new();
    for subset in &endpoints.subsets {
        let not_ready = subset.not_ready_addresses.iter().map(|it| (it, EndpointState::NotReady));
        let ready = subset.addresses.iter().map(|it| (it, EndpointState::Ready));
        states.extend(not_ready.chain(ready).map(|(address, state)| {
            let pod = address.target_ref.as_ref().filter(|it| it.is_of_pod()).map(|it| it.name().to_string());
            (address.ip.to_string(), (pod, state))
        }));
    }
    states
}
