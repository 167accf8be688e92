//! Objects of tests, all in the namespace `shop`, and their events.

use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use kube_endpoint_model::well_known::{SERVICE_NAME_LABEL, SLICE_CONTROLLER, SLICE_MANAGED_BY_LABEL};
use kube_endpoint_model::{
    AddressType, Endpoint, EndpointConditions, EndpointPort, EndpointSlice, IpFamily, ObjectMeta, Pod, Service,
    TargetRef,
};
use kube_informer::Event;

use super::model::Moment;

/// Returns an IPv4 Service that selects `app=<name>`.
pub(crate) fn service(name: &str) -> Service {
    Service {
        namespace: "shop".into(),
        name: name.into(),
        uid: name.into(),
        resource_version: 1.into(),
        cluster_ip: "10.96.0.1".into(),
        selector: Some([("app", name)].into_iter().collect()),
        ip_families: vec![IpFamily::V4],
        ..Service::default()
    }
}

/// Returns a Pod with the label `app=web` and the address `10.0.0.<address>`; without an address for 0.
pub(crate) fn pod(name: &str, address: u8, ready: bool) -> Pod {
    let ip = (address > 0).then(|| format!("10.0.0.{address}"));
    Pod {
        namespace: "shop".into(),
        name: name.into(),
        uid: name.into(),
        resource_version: 1.into(),
        labels: [("app", "web")].into_iter().collect(),
        node_name: "node-a".into(),
        pod_ip_family: ip.as_ref().map(|_| IpFamily::V4),
        pod_ips: ip.iter().map(String::as_str).collect(),
        ready,
        ..Pod::default()
    }
}

/// Returns a slice of the slice controller; an endpoint is the name of a Pod, its address as in [`pod`], and whether it
/// is ready.
pub(crate) fn slice(name: &str, service: &str, endpoints: &[(&str, u8, bool)]) -> EndpointSlice {
    let labels = [(SERVICE_NAME_LABEL, service), (SLICE_MANAGED_BY_LABEL, SLICE_CONTROLLER)];
    let endpoint = |&(pod, address, ready): &(&str, u8, bool)| Endpoint {
        addresses: [&*format!("10.0.0.{address}")].into_iter().collect(),
        conditions: EndpointConditions { ready: Some(ready), serving: Some(ready), terminating: Some(false) },
        target_ref: Some(TargetRef::pod("shop".into(), pod.into(), pod.into())),
        node_name: Some("node-a".into()),
        ..Endpoint::default()
    };
    EndpointSlice {
        metadata: ObjectMeta {
            namespace: "shop".into(),
            name: name.into(),
            uid: name.into(),
            resource_version: 1.into(),
            labels: labels.into_iter().collect(),
            ..ObjectMeta::default()
        },
        address_type: AddressType::IPv4,
        endpoints: endpoints.iter().map(endpoint).collect(),
        ports: vec![EndpointPort {
            name: Some("http".into()),
            protocol: Some("TCP".into()),
            port: Some(8080),
            ..EndpointPort::default()
        }],
    }
}

/// Returns the time `millis` milliseconds after the start, which is the Unix epoch.
pub(crate) fn at(millis: u64) -> Moment {
    let elapsed = Duration::from_millis(millis);
    Moment { elapsed, utc: Timestamp::UNIX_EPOCH + elapsed }
}

/// Returns the event of a watch that adds an object.
pub(crate) fn added<T>(object: T) -> Event<T> {
    Event::Added { object: Arc::new(object), initial: false, relisted: false }
}

/// Returns the event of an object of the initial list.
pub(crate) fn listed<T>(object: T) -> Event<T> {
    Event::Added { object: Arc::new(object), initial: true, relisted: false }
}

/// Returns the event of a watch that updates an object.
pub(crate) fn updated<T>(old: T, new: T) -> Event<T> {
    Event::Updated { old: Arc::new(old), new: Arc::new(new), relisted: false }
}

/// Returns the event of a relist that updates an object.
pub(crate) fn relisted<T>(old: T, new: T) -> Event<T> {
    Event::Updated { old: Arc::new(old), new: Arc::new(new), relisted: true }
}

/// Returns the event of a watch that deletes an object.
pub(crate) fn deleted<T>(object: T) -> Event<T> {
    Event::Deleted { object: Arc::new(object), tombstone: false }
}
