//! The law of what is written: a Service is marked as good only if the stored slices serve every one of its ports.

use kube_endpoint_model::well_known::SERVICE_NAME_LABEL;
use kube_endpoint_model::{Endpoint, EndpointSlice, Service, ServicePort};
use kube_endpoints_explain::{ServiceReport, TextStyle, text};

use crate::cluster::Cluster;

pub(crate) fn check(cluster: &Cluster, service: &Service, report: &ServiceReport) {
    let shown = text::service(report, TextStyle::default());
    if !shown.starts_with('✓') {
        return;
    }
    assert!(!service.external_name, "an alias has no endpoints: {shown}");
    let served = if service.ports.is_empty() {
        slices(cluster, service).any(|slice| slice.endpoints.iter().any(|it| is_used(service, it)))
    } else {
        service.ports.iter().all(|port| slices(cluster, service).any(|slice| serves(service, slice, port)))
    };
    assert!(served, "{shown}{:#?}{:#?}", service.ports, slices(cluster, service).collect::<Vec<_>>());
}

/// The rules of kube-proxy, a second time: from the API documentation of Service and EndpointSlice.
fn slices<'a>(cluster: &'a Cluster, service: &Service) -> impl Iterator<Item = &'a EndpointSlice> {
    let (namespace, name) = (service.namespace.clone(), service.name.clone());
    let (types, headless) = (service.address_types(), &*service.cluster_ip == "None");
    cluster.slices.values().filter(move |slice| {
        let metadata = &slice.metadata;
        let is_ip = matches!(slice.address_type.as_str(), "IPv4" | "IPv6");
        metadata.namespace == namespace
            && metadata.labels.get(SERVICE_NAME_LABEL) == Some(&*name)
            && is_ip
            && (headless || types.contains(&slice.address_type))
    })
}

fn serves(service: &Service, slice: &EndpointSlice, wanted: &ServicePort) -> bool {
    let matches = slice.ports.iter().any(|port| {
        let (name, protocol) = (port.name.as_deref(), port.protocol.as_deref());
        name == Some(&*wanted.name)
            && protocol.unwrap_or("TCP") == &*wanted.protocol
            && !matches!(port.port, None | Some(0))
    });
    matches && slice.endpoints.iter().any(|it| is_used(service, it))
}

/// `ready`: "A nil value should be interpreted as true." `serving`: "If nil, consumers should defer to the ready condition."
/// The DNS of a headless Service has no endpoints that drain.
fn is_used(service: &Service, endpoint: &Endpoint) -> bool {
    let ready = endpoint.conditions.ready.unwrap_or(true);
    let serving = endpoint.conditions.serving.unwrap_or(ready);
    let drains = &*service.cluster_ip != "None" && serving && endpoint.conditions.terminating == Some(true);
    !endpoint.addresses.is_empty() && (ready || drains)
}
