//! Services in deletion, of other families and with other policies.

use kube_endpoint_model::{Code, IpFamily, Node};
use kube_wire::Object as _;

use super::faults::{each_pod, request_hints, service};
use super::{Case, case, insert, pod};
use crate::cluster::Cluster;

fn held(it: &mut Cluster) {
    service(it).terminating = true;
}

/// The slice is full, and no other is created.
fn held_and_scaled(it: &mut Cluster) {
    held(it);
    it.settings.max_endpoints_per_slice = std::num::NonZeroUsize::new(3).expect("not zero");
    insert(it, pod("checkout-d", "10.1.0.4", "node-a"));
}

fn both_families(it: &mut Cluster) {
    service(it).ip_families = vec![IpFamily::V4, IpFamily::V6];
    for (number, pod) in (1..).zip(it.pods.values_mut()) {
        pod.pod_ips = [format!("10.1.0.{number}"), format!("fd00::{number}")].iter().map(String::as_str).collect();
    }
}

fn one_pod_of_ipv6(it: &mut Cluster) {
    let pod = it.pods.values_mut().next().expect("a Pod");
    pod.pod_ips = ["fd00::1"].into_iter().collect();
    pod.pod_ip_family = Some(IpFamily::V6);
}

fn headless(it: &mut Cluster) {
    service(it).cluster_ip = "None".into();
}

fn headless_and_terminating(it: &mut Cluster) {
    headless(it);
    each_pod(it, |pod| pod.terminating = true);
}

fn headless_without_ports(it: &mut Cluster) {
    headless(it);
    service(it).ports.clear();
}

fn node_without_zone(it: &mut Cluster) {
    request_hints(it);
    let node = Node { name: "node-d".into(), ready: true, cpu_milli: 4_000, ..Node::default() };
    it.nodes.insert(node.key(), node);
}

fn one_zone(it: &mut Cluster) {
    request_hints(it);
    it.nodes.values_mut().for_each(|node| node.zone = "a".into());
}

fn published_and_terminating(it: &mut Cluster) {
    service(it).publish_not_ready_addresses = true;
    each_pod(it, |pod| pod.terminating = true);
}

pub(super) const CASES: &[Case] = &[
    case('!', "deleted Service that a finalizer keeps", held, &[Code::ServiceTerminating]),
    case(
        '!',
        "deleted Service that a finalizer keeps, scaled up",
        held_and_scaled,
        &[Code::ServiceTerminating, Code::PodNotWritten],
    ),
    case('✓', "dual-stack Service, dual-stack Pods", both_families, &[]),
    case('!', "one of three Pods has IPv6 only", one_pod_of_ipv6, &[Code::NoAddressOfFamily]),
    case('✓', "headless Service", headless, &[]),
    // The cluster DNS has ready endpoints only.
    case('✗', "headless Service, all Pods are being deleted", headless_and_terminating, &[Code::PodTerminating]),
    case('✓', "headless Service without ports", headless_without_ports, &[]),
    case('✓', "topology hints", request_hints, &[]),
    case('!', "topology hints, a fourth Node without a zone", node_without_zone, &[Code::HintsNodeInformation]),
    case('!', "topology hints, all Nodes in one zone", one_zone, &[Code::HintsNodeInformation]),
    case(
        '!',
        "misspelt topology annotation",
        |it| service(it).topology_annotation = Some("auto ".into()),
        &[Code::HintsUnknownPolicy],
    ),
    case(
        '✓',
        "trafficDistribution PreferClose",
        |it| service(it).traffic_distribution = Some("PreferClose".into()),
        &[],
    ),
    case(
        '✓',
        "publishNotReadyAddresses, all Pods are being deleted",
        published_and_terminating,
        &[Code::PodPublishedNotReady],
    ),
];
