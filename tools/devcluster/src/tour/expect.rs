//! Expectations on the cluster, which a stage of the tour waits for.

use std::fmt;

use kube_endpoint_model::{Code, Endpoint, EndpointSlice};
use kube_endpoints_explain::ServiceReport;
use kube_wire::ObjectKey;

use super::explain::world;
use crate::{cluster::Snapshot, view::EndpointCounts};

/// Namespace of all objects of the tour.
pub(super) const NAMESPACE: &str = "shop";

/// Expected state of the cluster.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Expectation {
    /// Number of addresses in the Endpoints object of a Service, by state.
    Endpoints(&'static str, EndpointCounts),
    /// Total number of endpoints in the slices of a Service and an address type, by state.
    Slices(&'static str, &'static str, EndpointCounts),
    /// Every endpoint in the slices of a Service has a hint for exactly its own zone.
    OwnZones(&'static str),
    /// Code of the first cause in the explanation of a Service, and a part of its message.
    FirstCause(&'static str, Code, &'static str),
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
                    .filter(|slice| slice.address_type.as_str() == *family)
                    .for_each(|slice| found += EndpointCounts::of_slice(slice));
                compare(format!("{family} slices of {NAMESPACE}/{service}"), counts, &found)
            }
            Self::OwnZones(service) => {
                let wrong = endpoints(cluster, service).filter(|endpoint| !is_for_own_zone(endpoint)).count();
                let what = format!("endpoints of {NAMESPACE}/{service} without a hint for exactly their own zone");
                compare(what, &0, &wrong)
            }
            Self::FirstCause(service, code, part) => {
                let report = world(cluster, None).service(&ObjectKey::new(NAMESPACE, *service));
                let cause = report.as_ref().and_then(ServiceReport::first_cause);
                let is_met = cause.is_some_and(|cause| cause.code == *code && cause.message.contains(part));
                let found = cause.map_or_else(|| "none".to_owned(), |it| format!("{} {}", it.code, it.message));
                let what = format!("first cause of {NAMESPACE}/{service}");
                (!is_met).then(|| format!("{what}: expected {code} with {part:?}, found {found}"))
            }
        }
    }
}

fn slices<'a>(cluster: &'a Snapshot, service: &'a str) -> impl Iterator<Item = &'a EndpointSlice> {
    cluster.slices.iter().filter_map(move |(key, slice)| {
        (&*key.namespace == NAMESPACE && slice.service_name() == Some(service)).then_some(&**slice)
    })
}

fn endpoints<'a>(cluster: &'a Snapshot, service: &'a str) -> impl Iterator<Item = &'a Endpoint> {
    slices(cluster, service).flat_map(|slice| &slice.endpoints)
}

fn is_for_own_zone(endpoint: &Endpoint) -> bool {
    endpoint.hints.iter().flat_map(|hints| &hints.for_zones).eq(&endpoint.zone)
}
