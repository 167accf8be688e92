//! What must be seen in the cluster before a tour goes on.

use std::{collections::BTreeSet, fmt};

use k8s_openapi::api::discovery::v1::{Endpoint, EndpointSlice};
use kube_wire::ObjectKey;

use crate::{
    cluster::{Snapshot, node_is_ready},
    view::{Counts, SERVICE_NAME},
};

/// The namespace of everything in the tour.
pub(super) const NAMESPACE: &str = "shop";

/// Says who keeps a slice.
const MANAGED_BY: &str = "endpointslice.kubernetes.io/managed-by";

/// A state of the cluster that the tour waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Expectation {
    /// As many nodes are ready.
    ReadyNodes(usize),
    /// The Endpoints of a Service count as many addresses.
    Endpoints(&'static str, Counts),
    /// The slices of a Service in one family count as many endpoints together.
    Slices(&'static str, Family, Counts),
    /// Endpoints of a Service carry exactly these host names.
    HostNames(&'static str, &'static [&'static str]),
    /// Every endpoint of a Service is meant for the zone that it is in.
    OwnZones(&'static str),
    /// The slices of a Service are kept by this controller.
    ManagedBy(&'static str, &'static str),
}

/// An address family, as slices name it.
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
    /// What is wanting, if anything: `Endpoints shop/web: expected 3 ready, found none`.
    pub(super) fn unmet(&self, cluster: &Snapshot) -> Option<String> {
        let complain = |what: String, expected: &dyn fmt::Display, found: &dyn fmt::Display| {
            let (expected, found) = (expected.to_string(), found.to_string());
            (expected != found).then(|| format!("{what}: expected {expected}, found {found}"))
        };
        match self {
            Self::ReadyNodes(count) => {
                let found = cluster.nodes.values().filter(|node| node_is_ready(node) == Some(true)).count();
                complain("ready nodes".to_owned(), count, &found)
            }
            Self::Endpoints(service, counts) => {
                let endpoints = cluster.endpoints.get(&ObjectKey::new(NAMESPACE, *service));
                let what = format!("Endpoints {NAMESPACE}/{service}");
                match endpoints {
                    Some(endpoints) => complain(what, counts, &Counts::of_endpoints(endpoints)),
                    None => complain(what, counts, &"no such object"),
                }
            }
            Self::Slices(service, family, counts) => {
                let mut found = Counts::default();
                slices(cluster, service)
                    .filter(|slice| slice.address_type == family.to_string())
                    .for_each(|slice| found += Counts::of_slice(slice));
                complain(format!("{family} slices of {NAMESPACE}/{service}"), counts, &found)
            }
            Self::HostNames(service, names) => {
                let found: BTreeSet<_> =
                    endpoints(cluster, service).filter_map(|endpoint| endpoint.hostname.clone()).collect();
                let expected: BTreeSet<_> = names.iter().map(|&name| name.to_owned()).collect();
                complain(format!("host names of {NAMESPACE}/{service}"), &list(&expected), &list(&found))
            }
            Self::OwnZones(service) => {
                let wrong = endpoints(cluster, service).filter(|endpoint| !is_for_own_zone(endpoint));
                let wrong = wrong.flat_map(|endpoint| endpoint.addresses.clone()).collect();
                let what = format!("endpoints of {NAMESPACE}/{service} without a hint for just their zone");
                complain(what, &list(&BTreeSet::new()), &list(&wrong))
            }
            Self::ManagedBy(service, controller) => {
                let found = slices(cluster, service).map(|slice| {
                    let labels = slice.metadata.labels.as_ref();
                    labels.and_then(|labels| labels.get(MANAGED_BY)).cloned().unwrap_or_default()
                });
                complain(format!("keeper of the slices of {NAMESPACE}/{service}"), controller, &list(&found.collect()))
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
