//! What the Endpoints object of a Service must look like, and whether it must be written: pure.

use std::sync::Arc;

use jiff::Timestamp;
use kube_endpoint_model::subsets::{equal_ignoring_versions, repack};
use kube_endpoint_model::well_known::{
    ENDPOINTS_CONTROLLER, ENDPOINTS_MANAGED_BY_LABEL, HEADLESS_LABEL, OVER_CAPACITY_ANNOTATION, TRIGGER_TIME_ANNOTATION,
};
use kube_endpoint_model::{
    EndpointAddress, EndpointSubset, Endpoints, Labels, ObjectMeta, Pod, Service, SubsetPort, membership,
};

use crate::legacy::Legacy;
use crate::truncate::{MAX_ADDRESSES, truncate};

/// What must be written.
#[derive(Clone, Debug, PartialEq)]
pub enum Change {
    /// There is no object yet.
    Create(Endpoints),
    /// The object must become this one; its resource version is that of the object the decision was made on.
    Update(Endpoints),
}

/// The value of the annotation of an object that could not hold all addresses.
const TRUNCATED: &str = "truncated";

/// Decides about the Endpoints object of a Service (EP-7 to EP-18): `pods` are those its selector matches, `current` the
/// object there is, `trigger_time` what the next write is for, `legacy` the older rules that hold.
///
/// Nothing is written that would change nothing but the time: where upstream writes the same object at every sync, for
/// a Service with reserved labels (EC-8) or more addresses than fit (EC-12), here it is left alone.
pub fn plan(
    service: &Service,
    pods: &[Arc<Pod>],
    current: Option<&Endpoints>,
    trigger_time: Option<Timestamp>,
    legacy: Legacy,
) -> Option<Change> {
    let subsets = desired_subsets(service, pods, legacy);
    let Some(current) = current else {
        let metadata =
            ObjectMeta { namespace: service.namespace.clone(), name: service.name.clone(), ..ObjectMeta::default() };
        return Some(Change::Create(desired_object(service, subsets, metadata, trigger_time)));
    };

    let same_subsets = equal_ignoring_versions(&current.subsets, &subsets)
        || equal_ignoring_versions(&repack(&current.subsets), &subsets);
    if same_subsets && has_right_labels(current, service) && has_right_capacity(current) {
        return None;
    }
    let new = desired_object(service, subsets, current.metadata.clone(), trigger_time);
    (!equal_but_for_time(&new, current)).then_some(Change::Update(new))
}

/// The subsets of a Service in canonical form.
fn desired_subsets(service: &Service, pods: &[Arc<Pod>], legacy: Legacy) -> Vec<EndpointSubset> {
    let publish = legacy.publishes_not_ready(service);
    let mut subsets = Vec::new();
    for pod in pods.iter().filter(|pod| legacy.is_endpoint(pod, publish)) {
        let Some(ip) = legacy.address(pod, service) else {
            continue;
        };
        let address = EndpointAddress {
            hostname: membership::hostname(pod, service).unwrap_or_default(),
            ip,
            // Present even while empty (EC-4).
            node_name: Some(pod.node_name.clone()),
            target_ref: Some(membership::target(pod)),
        };
        let ports: Vec<SubsetPort> = service
            .ports
            .iter()
            .filter_map(|port| {
                Some(SubsetPort {
                    name: port.name.clone(),
                    port: membership::find_port(pod, port)?,
                    protocol: port.protocol.clone(),
                    app_protocol: port.app_protocol.clone(),
                })
            })
            .collect();
        // Without ports there is an endpoint only behind a headless Service that has none either (EP-10).
        if ports.is_empty() && !(service.ports.is_empty() && service.is_headless()) {
            continue;
        }
        let ready = membership::is_ready(pod, publish);
        let (addresses, not_ready_addresses) = if ready { (vec![address], vec![]) } else { (vec![], vec![address]) };
        subsets.push(EndpointSubset { addresses, not_ready_addresses, ports });
    }
    repack(&subsets)
}

/// The object as it is to be written (EP-18): what others put there stays, but for labels, which are the Service's.
fn desired_object(
    service: &Service,
    mut subsets: Vec<EndpointSubset>,
    metadata: ObjectMeta,
    trigger_time: Option<Timestamp>,
) -> Endpoints {
    let truncated = truncate(&mut subsets);
    let time = trigger_time.map(|time| time.to_string());
    let annotations =
        [(TRIGGER_TIME_ANNOTATION, time.as_deref()), (OVER_CAPACITY_ANNOTATION, truncated.then_some(TRUNCATED))];
    let annotations = metadata
        .annotations
        .without(|key| annotations.iter().any(|(ours, _)| *ours == key))
        .with(annotations.iter().filter_map(|(key, value)| Some((*key, (*value)?))));
    let headless = (!service.has_cluster_ip()).then_some((HEADLESS_LABEL, ""));
    let labels = service
        .labels
        .without(|key| key == HEADLESS_LABEL)
        .with(headless.into_iter().chain([(ENDPOINTS_MANAGED_BY_LABEL, ENDPOINTS_CONTROLLER)]));
    Endpoints { metadata: ObjectMeta { annotations, labels, ..metadata }, subsets }
}

/// EP-16: managed by this controller, and otherwise exactly the Service's labels. The headless label does not count.
fn has_right_labels(current: &Endpoints, service: &Service) -> bool {
    let labels = &current.metadata.labels;
    labels.get(ENDPOINTS_MANAGED_BY_LABEL) == Some(ENDPOINTS_CONTROLLER)
        && labels.without(|key| key == ENDPOINTS_MANAGED_BY_LABEL || key == HEADLESS_LABEL) == service.labels
}

/// EP-17: within the limit, and not marked as over it.
fn has_right_capacity(current: &Endpoints) -> bool {
    let addresses: usize =
        current.subsets.iter().map(|subset| subset.addresses.len() + subset.not_ready_addresses.len()).sum();
    addresses <= MAX_ADDRESSES && !current.metadata.annotations.contains_key(OVER_CAPACITY_ANNOTATION)
}

fn equal_but_for_time(a: &Endpoints, b: &Endpoints) -> bool {
    let timeless = |labels: &Labels| labels.without(|key| key == TRIGGER_TIME_ANNOTATION);
    a.metadata.labels == b.metadata.labels
        && timeless(&a.metadata.annotations) == timeless(&b.metadata.annotations)
        && equal_ignoring_versions(&a.subsets, &b.subsets)
}
