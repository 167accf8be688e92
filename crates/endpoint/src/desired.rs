//! The Endpoints object of a Service, and the write that brings it about.

use std::sync::Arc;

use jiff::Timestamp;
use kube_endpoint_model::membership::{self, PodOutcome, PodReason};
use kube_endpoint_model::subsets::{equal_ignoring_versions, repack};
use kube_endpoint_model::well_known::{
    ENDPOINTS_CONTROLLER, ENDPOINTS_MANAGED_BY_LABEL, HEADLESS_LABEL, OVER_CAPACITY_ANNOTATION, TRIGGER_TIME_ANNOTATION,
};
use kube_endpoint_model::{
    EndpointAddress, EndpointSubset, Endpoints, Labels, ObjectMeta, Pod, Service, SubsetPort, TriggerTime, Write,
};

use crate::legacy::Legacy;
use crate::truncate::{MAX_ADDRESSES, truncate};

/// Value of the over-capacity annotation of a truncated object.
const TRUNCATED: &str = "truncated";

/// Returns the write that brings the Endpoints object of a Service to its desired state (EP-7 to EP-13, EP-15 to EP-18);
/// `None` if there is nothing to write. A [`plan`](crate::plan()) reads the objects from a cluster instead.
///
/// `pods` are those that the selector matches, in any order, and `current` is the cached object. `trigger_time` is the
/// new value of the last-change-trigger-time annotation; a write with `None` removes the annotation.
///
/// An update that would change only that annotation is omitted. Upstream sends it at every sync if the Service has a
/// reserved label (EC-8) or too many addresses (EC-12).
pub fn planned_write(
    service: &Service,
    pods: &[Arc<Pod>],
    current: Option<&Arc<Endpoints>>,
    trigger_time: Option<Timestamp>,
    legacy: Legacy,
) -> Option<Write<Endpoints>> {
    let subsets = desired_subsets(Vec::new(), service, pods, legacy, |_, _| {});
    write_to(service, subsets, current, TriggerTime::Write(trigger_time))
}

/// Returns the write that gives an object these subsets, which [`desired_subsets`] returned.
pub(crate) fn write_to(
    service: &Service,
    subsets: Vec<EndpointSubset>,
    current: Option<&Arc<Endpoints>>,
    trigger_time: TriggerTime,
) -> Option<Write<Endpoints>> {
    let Some(current) = current else {
        let metadata =
            ObjectMeta { namespace: service.namespace.clone(), name: service.name.clone(), ..ObjectMeta::default() };
        return Some(Write::Create(desired_object(service, subsets, metadata, trigger_time)));
    };

    let has_subsets = || {
        equal_ignoring_versions(&current.subsets, &subsets)
            || equal_ignoring_versions(&repack(&current.subsets), &subsets)
    };
    if capacity_is_correct(current) && labels_are_correct(current, service) && has_subsets() {
        return None;
    }
    let new = desired_object(service, subsets, current.metadata.clone(), trigger_time);
    (!equal_except_trigger_time(&new, current)).then(|| Write::Update { stored: Arc::clone(current), desired: new })
}

/// Address of one Pod in the Endpoints object of a Service.
struct PodAddress {
    address: EndpointAddress,
    ports: Vec<SubsetPort>,
    /// Why the address is not ready.
    unready: Option<PodReason>,
}

impl PodAddress {
    /// `publish` is the result of [`Legacy::publishes_not_ready`].
    fn new(service: &Service, pod: &Pod, publish: bool, legacy: Legacy) -> Result<PodAddress, PodReason> {
        if let Some(reason) = legacy.exclusion(pod, publish) {
            return Err(reason);
        }
        let ip = legacy.address(pod, service)?;
        let address = EndpointAddress {
            hostname: membership::hostname(pod, service).unwrap_or_default(),
            ip,
            // Upstream writes an empty name, which the API server rejects (EC-51).
            node_name: Some(pod.node_name.clone()).filter(|name| !name.is_empty()),
            target_ref: Some(membership::target(pod)),
        };
        let ports: Vec<SubsetPort> = service
            .ports
            .iter()
            .filter_map(|port| {
                Some(SubsetPort {
                    name: port.name.clone(),
                    port: membership::find_port(pod, port).ok()?,
                    protocol: port.protocol.clone(),
                    app_protocol: port.app_protocol.clone(),
                })
            })
            .collect();
        // An address without ports is listed only for a headless Service without ports (EP-10).
        if ports.is_empty() && !(service.ports.is_empty() && service.is_headless()) {
            return Err(PodReason::NoPort);
        }
        Ok(PodAddress { address, ports, unready: membership::unready(pod, publish) })
    }
}

/// Returns the subsets of a Service in canonical form, before they are truncated: `kept` and those of the Pods. Passes the
/// decision about each Pod to `observe`.
pub(crate) fn desired_subsets(
    kept: Vec<EndpointSubset>,
    service: &Service,
    pods: &[Arc<Pod>],
    legacy: Legacy,
    mut observe: impl FnMut(&Arc<Pod>, PodOutcome),
) -> Vec<EndpointSubset> {
    let publish = legacy.publishes_not_ready(service);
    let mut subsets = kept;
    for pod in pods {
        let PodAddress { address, ports, unready } = match PodAddress::new(service, pod, publish, legacy) {
            Ok(address) => address,
            Err(reason) => {
                observe(pod, PodOutcome::LeftOut(reason));
                continue;
            }
        };
        observe(pod, unready.map_or(PodOutcome::Ready, PodOutcome::NotReady));
        // Most Pods have the ports of the one before. A Service may have thousands of them.
        let last = subsets.pop_if(|last| last.ports == ports);
        let mut subset = last.unwrap_or_else(|| EndpointSubset { ports, ..EndpointSubset::default() });
        let addresses = if unready.is_none() { &mut subset.addresses } else { &mut subset.not_ready_addresses };
        addresses.push(address);
        subsets.push(subset);
    }
    repack(&subsets)
}

/// Returns the object to write (EP-18). It keeps the metadata of other clients, except for the labels, which are those
/// of the Service.
fn desired_object(
    service: &Service,
    mut subsets: Vec<EndpointSubset>,
    metadata: ObjectMeta,
    trigger_time: TriggerTime,
) -> Endpoints {
    let truncated = truncate(&mut subsets);
    let time = match trigger_time {
        TriggerTime::Leave => metadata.annotations.get(TRIGGER_TIME_ANNOTATION).map(str::to_owned),
        TriggerTime::Write(time) => time.map(|time| time.to_string()),
    };
    let annotations =
        [(OVER_CAPACITY_ANNOTATION, truncated.then_some(TRUNCATED)), (TRIGGER_TIME_ANNOTATION, time.as_deref())];
    let annotations = metadata
        .annotations
        .without(|key| annotations.iter().any(|(own, _)| *own == key))
        .with_fitting(annotations.iter().filter_map(|(key, value)| Some((*key, (*value)?))));
    let headless = (!service.has_cluster_ip()).then_some((HEADLESS_LABEL, ""));
    let labels = service
        .labels
        .without(|key| key == HEADLESS_LABEL)
        .with(headless.into_iter().chain([(ENDPOINTS_MANAGED_BY_LABEL, ENDPOINTS_CONTROLLER)]));
    Endpoints { metadata: ObjectMeta { annotations, labels, ..metadata }, subsets }
}

/// Returns whether the labels are the managed-by label of this controller and those of the Service, apart from the
/// headless label (EP-16; upstream: `labelsCorrectForEndpoints`).
fn labels_are_correct(current: &Endpoints, service: &Service) -> bool {
    let labels = &current.metadata.labels;
    labels.get(ENDPOINTS_MANAGED_BY_LABEL) == Some(ENDPOINTS_CONTROLLER)
        && labels.without(|key| key == ENDPOINTS_MANAGED_BY_LABEL || key == HEADLESS_LABEL) == service.labels
}

/// Returns whether the object is within the limit and has no over-capacity annotation (EP-17; upstream:
/// `capacityAnnotationSetCorrectly`).
fn capacity_is_correct(current: &Endpoints) -> bool {
    let addresses: usize =
        current.subsets.iter().map(|subset| subset.addresses.len() + subset.not_ready_addresses.len()).sum();
    addresses <= MAX_ADDRESSES && !current.metadata.annotations.contains_key(OVER_CAPACITY_ANNOTATION)
}

fn equal_except_trigger_time(a: &Endpoints, b: &Endpoints) -> bool {
    let without_time = |labels: &Labels| labels.without(|key| key == TRIGGER_TIME_ANNOTATION);
    a.metadata.labels == b.metadata.labels
        && without_time(&a.metadata.annotations) == without_time(&b.metadata.annotations)
        && equal_ignoring_versions(&a.subsets, &b.subsets)
}
