//! Addresses that several endpoints of a Service have.

use std::collections::BTreeMap;
use std::sync::Arc;

use kube_endpoint_model::well_known::{SLICE_CONTROLLER, SLICE_MANAGED_BY_LABEL};
use kube_endpoint_model::{Code, EndpointSlice};

use crate::report::{PodEndpointReport, PodReport, Reason};

/// Returns the addresses that several Pods of a Service have with a port in common, one reason for each.
///
/// Pods that use the network of one Node have one address, and different ports.
pub(crate) fn of_pods(pods: &[PodReport]) -> Vec<Reason> {
    let mut by_address: BTreeMap<&str, Vec<(&str, &PodEndpointReport)>> = BTreeMap::new();
    for pod in pods {
        for endpoint in &pod.endpoints {
            by_address.entry(&endpoint.address).or_default().push((&pod.name, endpoint));
        }
    }
    by_address.retain(|_, endpoints| endpoints.len() > 1);
    let reason = |(address, endpoints): (&str, Vec<(&str, &PodEndpointReport)>)| {
        let overlaps = |(pod, it): &&(&str, &PodEndpointReport)| {
            endpoints.iter().any(|(other, its)| other != pod && overlap(it, its))
        };
        let pods: Vec<&str> = endpoints.iter().filter(overlaps).map(|(pod, _)| *pod).collect();
        let message = format!("{address} is the address of Pods {}", pods.join(", "));
        (!pods.is_empty()).then_some(Reason { code: Code::DuplicateAddress, message })
    };
    by_address.into_iter().filter_map(reason).collect()
}

/// Returns whether two endpoints of one address cannot be told apart: they share a port, or one has none.
fn overlap(one: &PodEndpointReport, other: &PodEndpointReport) -> bool {
    one.ports.is_empty() || other.ports.is_empty() || one.ports.iter().any(|port| other.ports.contains(port))
}

/// Returns the slices of other managers that repeat addresses of the slices that are made from Pods, one reason for each.
pub(crate) fn of_slices<'a>(slices: impl Iterator<Item = &'a Arc<EndpointSlice>>) -> Vec<Reason> {
    let (own, foreign): (Vec<_>, Vec<_>) = slices.partition(|slice| slice.is_managed_by(SLICE_CONTROLLER));
    if foreign.is_empty() {
        return Vec::new();
    }
    let mut pods = BTreeMap::new();
    for endpoint in own.iter().flat_map(|slice| &slice.endpoints) {
        if let (Some(address), Some(target)) = (endpoint.addresses.first(), &endpoint.target_ref) {
            pods.insert(address.to_string(), target.name());
        }
    }
    let reason = |slice: &&'a Arc<EndpointSlice>| {
        let addresses = slice.endpoints.iter().filter_map(|endpoint| endpoint.addresses.first());
        let mut repeated = addresses.filter_map(|it| Some((it, pods.get(&it.to_string())?)));
        let (address, pod) = repeated.next()?;
        let more = match repeated.count() {
            0 => String::new(),
            more => format!(", and {more} more of its addresses are those of Pods"),
        };
        let manager = slice.metadata.labels.get(SLICE_MANAGED_BY_LABEL).unwrap_or("no controller");
        let name = &slice.metadata.name;
        let message = format!("{address} of Pod {pod} is in slice {name} too, managed by {manager}{more}");
        Some(Reason { code: Code::DuplicateAddress, message })
    };
    foreign.iter().filter_map(reason).collect()
}
