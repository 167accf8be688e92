//! Pods that serve in part, share addresses, or are not selected.

use kube_endpoint_model::{Addresses, Code, NamedPort, ServicePort, TargetPort};
use kube_wire::Object as _;
use serde_json::json;

use super::faults::{each_pod, first_pod, service};
use super::{Case, case, insert, labels, pod, set_details};
use crate::cluster::Cluster;

fn one_unready(it: &mut Cluster) {
    first_pod(it).ready = false;
}

fn crash_loop(it: &mut Cluster) {
    one_unready(it);
    let waiting = json!({"waiting": {"reason": "CrashLoopBackOff"}});
    let container =
        json!({"name": "web", "ready": false, "state": waiting, "image": "", "imageID": "", "restartCount": 7});
    set_details(it, "checkout-a", &json!({"phase": "Running", "containerStatuses": [container]}));
}

fn all_unready(it: &mut Cluster) {
    each_pod(it, |pod| pod.ready = false);
}

fn pending(it: &mut Cluster) {
    let mut pending = pod("checkout-d", "10.1.0.4", "node-a");
    (pending.ready, pending.pod_ips, pending.pod_ip_family) = (false, Addresses::default(), None);
    insert(it, pending);
}

fn other_namespace(it: &mut Cluster) {
    let pods = std::mem::take(&mut it.pods);
    for mut pod in pods.into_values() {
        pod.namespace = "payments".into();
        it.pods.insert(pod.key(), pod);
    }
}

fn more_pairs(it: &mut Cluster) {
    service(it).selector = Some(labels("app=checkout,tier=front"));
}

fn finished_beside(it: &mut Cluster) {
    let mut finished = pod("checkout-job", "10.1.0.9", "node-a");
    (finished.finished, finished.ready) = (true, false);
    insert(it, finished);
}

fn canary_typo(it: &mut Cluster) {
    let mut canary = pod("canary", "10.1.0.9", "node-a");
    canary.labels = labels("app=check-out");
    insert(it, canary);
}

fn alias_of_a_typo(it: &mut Cluster) {
    super::faults::external_name(it);
    service(it).selector = Some(labels("app=chekcout"));
}

fn undeclared_number(it: &mut Cluster) {
    service(it).ports[0].target = TargetPort::Number(9_999);
}

fn two_versions(it: &mut Cluster) {
    first_pod(it).named_ports = [NamedPort { name: "http".into(), protocol: "TCP".into(), port: 9_090 }].into();
}

fn port(name: &str, target: &str) -> ServicePort {
    let target = TargetPort::Name(target.into());
    ServicePort { name: name.into(), protocol: "TCP".into(), target, app_protocol: None }
}

/// One Pod serves only the second port, the others only the first.
fn ports_in_turn(it: &mut Cluster) {
    service(it).ports.push(port("metrics", "metrics"));
    first_pod(it).named_ports = [NamedPort { name: "metrics".into(), protocol: "TCP".into(), port: 9_090 }].into();
}

/// A rollout removes the second port: the Pod that drains is the last one to have it.
fn port_of_a_draining_pod(it: &mut Cluster) {
    service(it).ports.push(port("metrics", "metrics"));
    let both = [("http", 8_080), ("metrics", 9_090)];
    first_pod(it).named_ports =
        both.map(|(name, port)| NamedPort { name: name.into(), protocol: "TCP".into(), port }).into();
    first_pod(it).terminating = true;
}

/// The cluster DNS has an address record for each ready endpoint, whatever its ports.
fn headless_without_the_port(it: &mut Cluster) {
    service(it).cluster_ip = "None".into();
    super::faults::unknown_target_port(it);
}

fn two_ports_unserved(it: &mut Cluster) {
    service(it).ports.extend([port("metrics", "metrics"), port("admin", "admin")]);
}

/// A Pod with the network of the Node of another one.
fn on_the_same_node(it: &mut Cluster, number: i32) {
    let mut other = pod("checkout-d", "10.1.0.1", "node-a");
    other.named_ports = [NamedPort { name: "http".into(), protocol: "TCP".into(), port: number }].into();
    insert(it, other);
}

pub(super) const CASES: &[Case] = &[
    case('!', "one of three Pods is not ready", one_unready, &[Code::PodNotReady]),
    case('!', "one of three Pods crashes again and again", crash_loop, &[Code::PodNotReady]),
    case('✗', "no Pod is ready", all_unready, &[Code::PodNotReady]),
    case('!', "a Pod is pending", pending, &[Code::PodWithoutAddress]),
    case('✗', "the Pods are in another namespace", other_namespace, &[Code::NoPodSelected]),
    case('✗', "the selector has one pair more than the Pods", more_pairs, &[Code::NoPodSelected]),
    case('!', "a finished Job has the labels of the Service", finished_beside, &[Code::PodFinished]),
    case('!', "misspelt label of a canary", canary_typo, &[Code::PodNotSelected]),
    case('-', "type ExternalName, with a misspelt selector", alias_of_a_typo, &[Code::ExternalName]),
    case('✓', "targetPort that no container declares", undeclared_number, &[]),
    case('✓', "named targetPort, two versions with different numbers", two_versions, &[]),
    case('!', "each Pod serves one of two ports", ports_in_turn, &[Code::TargetPortUnknown]),
    case(
        '!',
        "two ports, and only a Pod that drains serves the second",
        port_of_a_draining_pod,
        &[Code::TargetPortUnknown, Code::PodTerminating],
    ),
    case(
        '!',
        "headless, misspelt targetPort",
        headless_without_the_port,
        &[Code::PortWithoutRecord, Code::TargetPortUnknown, Code::NoPort],
    ),
    case('✗', "two ports that no container has", two_ports_unserved, &[Code::PortUnserved, Code::TargetPortUnknown]),
    case('✓', "hostNetwork, two Pods of a Node with different ports", |it| on_the_same_node(it, 9_090), &[]),
    case(
        '!',
        "hostNetwork, two Pods of a Node with one port",
        |it| on_the_same_node(it, 8_080),
        &[Code::DuplicateAddress],
    ),
];
