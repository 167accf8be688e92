//! Services that are broken on purpose, or look so: the mark is right, and the first cause that is reported is the one that was
//! injected.

use std::collections::BTreeSet;

use kube_endpoint_model::{
    Addresses, Code, Endpoints, IpFamily, Labels, Node, ObjectKey, ObjectMeta, Part as _, Pod, Service, ServicePort,
    TargetPort,
};
use kube_endpoints_explain::{Finding, PodDetails, Reason, TextStyle, text};
use kube_wire::Object as _;
use rstest::rstest;

use crate::cluster::Cluster;
use crate::law::written;

mod cases;
mod faults;
mod lifecycle;
mod mirrored;
mod pods;
mod slices;

use cases::UNUSABLE_ADDRESS;

pub(crate) fn cases() -> impl Iterator<Item = &'static Case> {
    [cases::CASES, slices::CASES, mirrored::CASES, lifecycle::CASES, pods::CASES].into_iter().flatten()
}

/// A Service that is broken in one or two ways, or only looks so.
pub(crate) struct Case {
    /// Mark of the Service: the first character that `explain` prints.
    pub(crate) mark: char,
    /// What was done to the healthy Service.
    pub(crate) fault: &'static str,
    pub(crate) inject: fn(&mut Cluster),
    /// Whether the controllers run after the fault.
    pub(crate) settles: bool,
    pub(crate) explained: Explained,
    /// The cause that must be reported first, and others that must be reported too; empty if there is none.
    pub(crate) causes: &'static [Code],
}

#[derive(Clone, Copy)]
pub(crate) enum Explained {
    Service,
    Endpoints,
    Slice(&'static str),
}

/// A case that the controllers see.
const fn case(mark: char, fault: &'static str, inject: fn(&mut Cluster), causes: &'static [Code]) -> Case {
    Case { mark, fault, inject, settles: true, explained: Explained::Service, causes }
}

/// A fault that the controllers do not see: they have stopped.
const fn stopped(mark: char, fault: &'static str, inject: fn(&mut Cluster), causes: &'static [Code]) -> Case {
    Case { settles: false, ..case(mark, fault, inject, causes) }
}

/// Returns the Service that all cases break: three ready Pods in three zones.
pub(crate) fn healthy() -> Cluster {
    let mut cluster = Cluster::default();
    for zone in ["a", "b", "c"] {
        let name = format!("node-{zone}");
        let node =
            Node { name: name.as_str().into(), zone: zone.into(), ready: true, cpu_milli: 4_000, ..Node::default() };
        cluster.nodes.insert(ObjectKey::new("", name.as_str()), node);
        let number = zone.as_bytes()[0] - b'a' + 1;
        insert(&mut cluster, pod(&format!("checkout-{zone}"), &format!("10.1.0.{number}"), &name));
    }
    let service = Service {
        namespace: "shop".into(),
        name: "checkout".into(),
        uid: "uid".into(),
        cluster_ip: "10.96.0.1".into(),
        ip_families: vec![IpFamily::V4],
        selector: Some(labels("app=checkout")),
        ports: vec![ServicePort {
            name: "web".into(),
            protocol: "TCP".into(),
            target: TargetPort::Name("http".into()),
            app_protocol: None,
        }],
        ..Service::default()
    };
    cluster.services.insert(service.key(), service);
    cluster.settle();
    cluster
}

pub(crate) fn labels(text: &str) -> Labels {
    text.split(',').filter_map(|pair| pair.split_once('=')).collect()
}

pub(crate) fn pod(name: &str, address: &str, node: &str) -> Pod {
    Pod {
        namespace: "shop".into(),
        name: name.into(),
        uid: name.into(),
        labels: labels("app=checkout"),
        pod_ip_family: Some(IpFamily::V4),
        pod_ips: [address].into_iter().collect::<Addresses>(),
        named_ports: [kube_endpoint_model::NamedPort { name: "http".into(), protocol: "TCP".into(), port: 8_080 }]
            .into(),
        node_name: node.into(),
        ready: true,
        ..Pod::default()
    }
}

pub(crate) fn insert(cluster: &mut Cluster, pod: Pod) {
    cluster.pods.insert(pod.key(), pod);
}

pub(crate) fn broken(case: &Case) -> Cluster {
    let mut cluster = healthy();
    (case.inject)(&mut cluster);
    if case.settles {
        cluster.settle();
    }
    cluster
}

/// Explains a broken Service: the mark of the Service, the first cause, and the codes of all reasons and findings.
pub(crate) fn explained(case: &Case) -> (char, Option<Reason>, BTreeSet<Code>) {
    let world = broken(case).world();
    let key = ObjectKey::new("shop", "checkout");
    let service = world.service(&key);
    let mark = service.as_ref().and_then(|it| text::service(it, TextStyle::default()).chars().next()).unwrap_or(' ');
    let of_object = |findings: &[Finding]| {
        let first = findings.first().map(|finding| finding.reason.clone());
        (mark, first, findings.iter().map(|finding| finding.reason.code).collect())
    };
    match case.explained {
        Explained::Endpoints => of_object(&world.endpoints(&key).expect("the Endpoints object").findings),
        Explained::Slice(name) => of_object(&world.slice(&ObjectKey::new("shop", name)).expect("the slice").findings),
        Explained::Service => {
            let report = service.expect("the Service");
            (mark, report.first_cause().cloned(), report.reasons().map(|it| it.code).collect())
        }
    }
}

#[test]
fn the_healthy_service_has_no_cause() {
    let world = healthy().world();
    let report = world.service(&ObjectKey::new("shop", "checkout")).expect("the Service");
    assert_eq!((report.first_cause(), report.serving, report.findings.len()), (None, 3, 0));
    assert_eq!(world.check(), []);
    assert_eq!(world.changes(), []);
}

// EC-50
#[test]
fn a_pod_with_an_address_that_no_endpoint_can_have_is_explained() {
    assert_eq!(wrong_answer(&UNUSABLE_ADDRESS), None);
    let (_, first, _) = explained(&UNUSABLE_ADDRESS);
    assert_eq!(first.expect("a cause").message, "no IPv4 address that an endpoint can have (has 127.0.0.1)");
}

#[rstest]
#[case(
    "own slice with a named port, Service with one without",
    "no endpoint serves the TCP port without a name: the endpoints have port \"postgresql\" (5432/TCP)"
)]
#[case(
    "own slice, port without a number",
    "no endpoint serves port \"web\" (TCP): the endpoints have port \"web\" (TCP, no number)"
)]
fn ports_of_endpoints_are_named(#[case] fault: &str, #[case] message: &str) {
    let case = cases().find(|case| case.fault == fault).expect("a case");
    assert_eq!(explained(case).1.expect("a cause").message, message);
}

#[test]
fn the_first_cause_is_the_injected_one() {
    assert!(cases().count() >= 80, "{}", cases().count());
    let wrong: Vec<String> = cases().filter_map(wrong_answer).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn what_is_marked_as_good_is_served() {
    for case in cases() {
        let cluster = broken(case);
        let world = cluster.world();
        for service in cluster.services.values() {
            written::check(&cluster, service, &world.service(&service.key()).expect("the Service"));
        }
    }
}

fn wrong_answer(case: &Case) -> Option<String> {
    let (mark, first, codes) = explained(case);
    let first = first.map(|it| (it.code, it.message)).unzip();
    let is_right = mark == case.mark
        && first.0 == case.causes.first().copied()
        && case.causes.iter().all(|code| codes.contains(code));
    (!is_right)
        .then(|| format!("{}: expected {} {:?}, got {mark} {first:?} of {codes:?}", case.fault, case.mark, case.causes))
}

#[test]
fn every_code_of_a_cause_is_injected() {
    let injected: BTreeSet<Code> = cases().chain([&UNUSABLE_ADDRESS]).flat_map(|case| case.causes).copied().collect();
    // Codes from EP700 are reasons of changes, not causes.
    let causes = Code::ALL.iter().filter(|code| code.as_str() < "EP700");
    let missing: Vec<&Code> = causes.filter(|code| !injected.contains(code)).collect();
    assert!(missing.is_empty(), "no case for {missing:?}");
    assert!(cases().filter(|case| case.causes.len() > 1).count() >= 4, "cases with two causes");
}

/// Returns an Endpoints object that a user wrote for a Service without a selector.
pub(crate) fn custom_endpoints(addresses: &[String]) -> Endpoints {
    let subset = kube_endpoint_model::EndpointSubset {
        addresses: addresses
            .iter()
            .map(|ip| kube_endpoint_model::EndpointAddress { ip: ip.as_str().into(), ..Default::default() })
            .collect(),
        not_ready_addresses: Vec::new(),
        ports: vec![kube_endpoint_model::SubsetPort {
            name: "web".into(),
            port: 8_080,
            protocol: "TCP".into(),
            app_protocol: None,
        }],
    };
    let metadata =
        ObjectMeta { namespace: "shop".into(), name: "checkout".into(), uid: "endpoints".into(), ..Default::default() };
    Endpoints { metadata, subsets: vec![subset] }
}

pub(crate) fn set_details(cluster: &mut Cluster, pod: &str, status: &serde_json::Value) {
    let spec = serde_json::json!({"readinessGates": [{"conditionType": "lb/attached"}]});
    let pod_json = serde_json::json!({"spec": spec, "status": status}).to_string();
    let details = PodDetails::from_json("Pod", pod_json.as_bytes()).expect("a Pod");
    cluster.details.insert(ObjectKey::new("shop", pod), details);
}
