//! The faults that are injected into a healthy Service.

use kube_endpoint_model::well_known::{LEADER_ANNOTATION, SKIP_MIRROR_LABEL, SLICE_MANAGED_BY_LABEL};
use kube_endpoint_model::{Addresses, IpFamily, NamedPort, Node, ObjectKey, Pod, Service, ServicePort, TargetPort};
use kube_wire::Object as _;
use serde_json::json;

use super::{custom_endpoints, insert, labels, pod, set_details};
use crate::cluster::Cluster;

pub(super) fn service(cluster: &mut Cluster) -> &mut Service {
    cluster.services.values_mut().next().expect("the Service")
}

pub(super) fn each_pod(cluster: &mut Cluster, edit: impl Fn(&mut Pod)) {
    cluster.pods.values_mut().for_each(edit);
}

pub(super) fn first_pod(cluster: &mut Cluster) -> &mut Pod {
    cluster.pods.values_mut().next().expect("a Pod")
}

fn first_node(cluster: &mut Cluster) -> &mut Node {
    cluster.nodes.values_mut().next().expect("a Node")
}

pub(super) fn selector_typo(it: &mut Cluster) {
    service(it).selector = Some(labels("app=chekcout"));
}

pub(super) fn label_typo(it: &mut Cluster) {
    each_pod(it, |pod| pod.labels = labels("app=check-out"));
}

pub(super) fn other_selector(it: &mut Cluster) {
    service(it).selector = Some(labels("app=payments"));
}

pub(super) fn no_pods(it: &mut Cluster) {
    it.pods.clear();
}

pub(super) fn no_selector(it: &mut Cluster) {
    service(it).selector = None;
    it.slices.clear();
    it.endpoints.clear();
}

pub(super) fn external_name(it: &mut Cluster) {
    service(it).external_name = true;
    it.slices.clear();
    it.endpoints.clear();
}

pub(super) fn finished(it: &mut Cluster) {
    each_pod(it, |pod| (pod.finished, pod.ready) = (true, false));
}

pub(super) fn evicted(it: &mut Cluster) {
    let mut evicted = pod("checkout-0", "10.1.0.1", "node-a");
    (evicted.finished, evicted.ready) = (true, false);
    insert(it, evicted);
    set_details(it, "checkout-0", &json!({"phase": "Failed", "reason": "Evicted"}));
}

pub(super) fn readiness_gate(it: &mut Cluster) {
    each_pod(it, |pod| pod.ready = false);
    for pod in ["checkout-a", "checkout-b", "checkout-c"] {
        let conditions = json!([{"type": "lb/attached", "status": "False"}]);
        let containers = json!([{"name": "web", "ready": true, "image": "", "imageID": "", "restartCount": 0}]);
        set_details(it, pod, &json!({"phase": "Running", "conditions": conditions, "containerStatuses": containers}));
    }
}

pub(super) fn terminating(it: &mut Cluster) {
    each_pod(it, |pod| pod.terminating = true);
}

pub(super) fn unscheduled(it: &mut Cluster) {
    each_pod(it, |pod| {
        (pod.ready, pod.pod_ips, pod.pod_ip_family) = (false, Addresses::default(), None);
        pod.node_name = "".into();
    });
    let condition = json!({"type": "PodScheduled", "status": "False", "message": "0/3 nodes are available"});
    set_details(it, "checkout-a", &json!({"phase": "Pending", "conditions": [condition]}));
}

pub(super) fn published(it: &mut Cluster) {
    service(it).publish_not_ready_addresses = true;
    each_pod(it, |pod| pod.ready = false);
}

pub(super) fn unknown_target_port(it: &mut Cluster) {
    service(it).ports[0].target = TargetPort::Name("htpp".into());
}

pub(super) fn renamed_container_port(it: &mut Cluster) {
    first_pod(it).named_ports = [NamedPort { name: "web".into(), protocol: "TCP".into(), port: 8_080 }].into();
}

pub(super) fn protocol(it: &mut Cluster) {
    service(it).ports[0].protocol = "UDP".into();
}

pub(super) fn second_port(it: &mut Cluster) {
    let target = TargetPort::Name("metrics".into());
    service(it).ports.push(ServicePort { name: "metrics".into(), protocol: "TCP".into(), target, app_protocol: None });
}

pub(super) fn ports_and_readiness(it: &mut Cluster) {
    unknown_target_port(it);
    each_pod(it, |pod| pod.ready = false);
}

pub(super) fn other_family(it: &mut Cluster) {
    service(it).ip_families = vec![IpFamily::V6];
}

pub(super) fn second_family(it: &mut Cluster) {
    service(it).ip_families = vec![IpFamily::V4, IpFamily::V6];
}

pub(super) fn invalid_address(it: &mut Cluster) {
    each_pod(it, |pod| pod.pod_ips = ["10.1.0"].into());
}

pub(super) fn unusable_address(it: &mut Cluster) {
    first_pod(it).pod_ips = ["127.0.0.1"].into();
}

pub(super) fn nodes_missing(it: &mut Cluster) {
    it.nodes.clear();
}

pub(super) fn request_hints(it: &mut Cluster) {
    service(it).topology_annotation = Some("Auto".into());
}

pub(super) fn too_few_endpoints(it: &mut Cluster) {
    request_hints(it);
    it.pods.remove(&ObjectKey::new("shop", "checkout-b"));
}

pub(super) fn no_nodes(it: &mut Cluster) {
    request_hints(it);
    service(it).publish_not_ready_addresses = true;
    it.nodes.clear();
}

pub(super) fn node_without_cpu(it: &mut Cluster) {
    request_hints(it);
    first_node(it).cpu_milli = 0;
}

pub(super) fn uneven_cpu(it: &mut Cluster) {
    request_hints(it);
    first_node(it).cpu_milli = 72_000;
    insert(it, pod("checkout-d", "10.1.0.4", "node-a"));
}

pub(super) fn endpoint_without_zone(it: &mut Cluster) {
    request_hints(it);
    let node = Node { name: "node-d".into(), ..Node::default() };
    it.nodes.insert(node.key(), node);
    first_pod(it).node_name = "node-d".into();
}

pub(super) fn unknown_distribution(it: &mut Cluster) {
    service(it).traffic_distribution = Some("PreferNear".into());
}

pub(super) fn moved_pod(it: &mut Cluster) {
    first_pod(it).pod_ips = ["10.1.0.99"].into();
}

pub(super) fn edited_endpoints(it: &mut Cluster) {
    let endpoints = it.endpoints.values_mut().next().expect("the Endpoints object");
    endpoints.subsets[0].addresses.pop();
}

pub(super) fn selector_removed(it: &mut Cluster) {
    service(it).selector = None;
    it.endpoints.clear();
}

pub(super) fn foreign_slice(it: &mut Cluster) {
    let mut slice = it.slices.values().next().expect("a slice").clone();
    slice.metadata.name = "checkout-mesh".into();
    slice.metadata.labels = slice.metadata.labels.with([(SLICE_MANAGED_BY_LABEL, "mesh.example.com")]);
    it.slices.insert(slice.key(), slice);
}

pub(super) fn terminating_slice(it: &mut Cluster) {
    let mut slice = it.slices.values().next().expect("a slice").clone();
    slice.metadata.name = "checkout-old".into();
    slice.metadata.deletion_timestamp = Some(jiff::Timestamp::UNIX_EPOCH);
    it.slices.insert(slice.key(), slice);
}

pub(super) fn duplicate_address(it: &mut Cluster) {
    insert(it, pod("checkout-d", "10.1.0.1", "node-b"));
}

pub(super) fn truncated(it: &mut Cluster) {
    for number in 0..1_100 {
        let address = format!("10.2.{}.{}", number / 250, number % 250);
        insert(it, pod(&format!("many-{number:04}"), &address, "node-a"));
    }
}

/// Replaces the selector by an Endpoints object that a user wrote.
pub(super) fn custom(it: &mut Cluster, addresses: &[String]) {
    no_selector(it);
    let endpoints = custom_endpoints(addresses);
    it.endpoints.insert(endpoints.key(), endpoints);
}

pub(super) fn mirror_of_selector(_: &mut Cluster) {}

pub(super) fn skip_mirror(it: &mut Cluster) {
    custom(it, &["192.0.2.1".to_owned()]);
    let endpoints = it.endpoints.values_mut().next().expect("the Endpoints object");
    endpoints.metadata.labels = labels(&format!("{SKIP_MIRROR_LABEL}=true"));
}

pub(super) fn leader_lock(it: &mut Cluster) {
    custom(it, &["192.0.2.1".to_owned()]);
    let endpoints = it.endpoints.values_mut().next().expect("the Endpoints object");
    endpoints.metadata.annotations = [(LEADER_ANNOTATION, "{}")].into_iter().collect();
}

pub(super) fn mirror_without_service(it: &mut Cluster) {
    custom(it, &["192.0.2.1".to_owned()]);
    it.services.clear();
}

pub(super) fn mirror_invalid(it: &mut Cluster) {
    custom(it, &["192.0.2.1".to_owned(), "db.example.com".to_owned()]);
}

pub(super) fn mirror_limit(it: &mut Cluster) {
    let addresses: Vec<String> = (0..1_001).map(|number| format!("192.0.{}.{}", number / 250, number % 250)).collect();
    custom(it, &addresses);
}
