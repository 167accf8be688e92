//! Expectations on the cluster, which a stage of the tour waits for.

use std::{collections::BTreeSet, fmt};

use k8s_openapi::api::discovery::v1::{Endpoint, EndpointSlice};
use kube_endpoint_model::Code;
use kube_endpoints_explain::ServiceReport;
use kube_wire::ObjectKey;

use super::explain::world;
use crate::{
    cluster::{Snapshot, node_is_ready},
    view::{EndpointCounts, SERVICE_NAME},
};

/// Namespace of all objects of the tour.
pub(super) const NAMESPACE: &str = "shop";

/// Label of an EndpointSlice with the name of its controller (Go: `discovery.LabelManagedBy`).
const MANAGED_BY: &str = "endpointslice.kubernetes.io/managed-by";

/// Expected state of the cluster.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Expectation {
    /// Number of ready Nodes.
    ReadyNodes(usize),
    /// Number of addresses in the Endpoints object of a Service, by state.
    Endpoints(&'static str, EndpointCounts),
    /// Total number of endpoints in the slices of a Service and an address family, by state.
    Slices(&'static str, Family, EndpointCounts),
    /// Set of host names of the endpoints in the slices of a Service.
    HostNames(&'static str, &'static [&'static str]),
    /// Every endpoint in the slices of a Service has a hint for exactly its own zone.
    OwnZones(&'static str),
    /// Controller in the label managed-by of slices of a Service.
    ManagedBy(&'static str, &'static str),
    /// Code of the first cause in the explanation of a Service, and a part of its message.
    FirstCause(&'static str, Code, &'static str),
}

/// Address type of a slice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Family {
    V4,
    V6,
}

impl fmt::Display for Family {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::V4 => "IPv4",
            Self::V6 => "IPv6",
        })
    }
}

impl Expectation {
    /// Returns a description of the difference, such as `Endpoints shop/web: expected 3 ready, found none`; `None` if
    /// the expectation is met.
    pub(super) fn unmet(&self, cluster: &Snapshot) -> Option<String> {
        let compare = |what: String, expected: &dyn fmt::Display, found: &dyn fmt::Display| {
            let (expected, found) = (expected.to_string(), found.to_string());
            (expected != found).then(|| format!("{what}: expected {expected}, found {found}"))
        };
        match self {
            Self::ReadyNodes(count) => {
                let found = cluster.nodes.values().filter(|node| node_is_ready(node) == Some(true)).count();
                compare("ready nodes".to_owned(), count, &found)
            }
            Self::Endpoints(service, counts) => {
                let endpoints = cluster.endpoints.get(&ObjectKey::new(NAMESPACE, *service));
                let what = format!("Endpoints {NAMESPACE}/{service}");
                match endpoints {
                    Some(endpoints) => compare(what, counts, &EndpointCounts::of_endpoints(endpoints)),
                    None => compare(what, counts, &"no such object"),
                }
            }
            Self::Slices(service, family, counts) => {
                let mut found = EndpointCounts::default();
                slices(cluster, service)
                    .filter(|slice| slice.address_type == family.to_string())
                    .for_each(|slice| found += EndpointCounts::of_slice(slice));
                compare(format!("{family} slices of {NAMESPACE}/{service}"), counts, &found)
            }
            Self::HostNames(service, names) => {
                let found: BTreeSet<_> =
                    endpoints(cluster, service).filter_map(|endpoint| endpoint.hostname.clone()).collect();
                let expected: BTreeSet<_> = names.iter().map(|&name| name.to_owned()).collect();
                compare(format!("host names of {NAMESPACE}/{service}"), &list(&expected), &list(&found))
            }
            Self::OwnZones(service) => {
                let wrong = endpoints(cluster, service).filter(|endpoint| !is_for_own_zone(endpoint));
                let wrong = wrong.flat_map(|endpoint| endpoint.addresses.clone()).collect();
                let what = format!("endpoints of {NAMESPACE}/{service} without a hint for exactly their own zone");
                compare(what, &list(&BTreeSet::new()), &list(&wrong))
            }
            Self::ManagedBy(service, controller) => {
                let found = slices(cluster, service).map(|slice| {
                    let labels = slice.metadata.labels.as_ref();
                    labels.and_then(|labels| labels.get(MANAGED_BY)).cloned().unwrap_or_default()
                });
                compare(format!("managed-by of slices of {NAMESPACE}/{service}"), controller, &list(&found.collect()))
            }
            Self::FirstCause(service, code, part) => {
                let report = world(cluster, None).service(&ObjectKey::new(NAMESPACE, *service));
                let cause = report.as_ref().and_then(ServiceReport::first_cause);
                let is_met = cause.is_some_and(|cause| cause.code == *code && cause.message.contains(part));
                let found = match (&report, cause) {
                    (_, Some(cause)) => format!("{} {}", cause.code, cause.message),
                    (Some(_), None) => "none".to_owned(),
                    (None, None) => "no such object".to_owned(),
                };
                let what = format!("first cause of {NAMESPACE}/{service}");
                (!is_met).then(|| format!("{what}: expected {code} with {part:?}, found {found}"))
            }
        }
    }
}

fn slices<'a>(cluster: &'a Snapshot, service: &'a str) -> impl Iterator<Item = &'a EndpointSlice> {
    cluster.slices.iter().filter_map(move |(key, slice)| {
        let of = slice.metadata.labels.as_ref()?.get(SERVICE_NAME)?;
        (&*key.namespace == NAMESPACE && of == service).then_some(&**slice)
    })
}

fn endpoints<'a>(cluster: &'a Snapshot, service: &'a str) -> impl Iterator<Item = &'a Endpoint> {
    slices(cluster, service).flat_map(|slice| slice.endpoints.iter().flatten())
}

fn is_for_own_zone(endpoint: &Endpoint) -> bool {
    let zones = endpoint.hints.iter().flat_map(|hints| hints.for_zones.iter().flatten()).map(|zone| &zone.name);
    zones.eq(&endpoint.zone)
}

fn list(names: &BTreeSet<String>) -> String {
    if names.is_empty() { "none".to_owned() } else { names.iter().map(String::as_str).collect::<Vec<_>>().join(", ") }
}
