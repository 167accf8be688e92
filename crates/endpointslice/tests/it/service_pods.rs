//! Plans for Services and their Pods, with the cases of upstream's reconciler tests.

use std::sync::Arc;

use kube_endpoint_model::{
    AddressType, EndpointSlice, IpFamily, NamedPort, Node, Pod, Service, ServicePort, TargetPort, Write,
};
use kube_endpointslice::{Hints, Input, Owner, Plan, SliceLabels, desired_endpoints_from_service_pods, plan};
use rstest::rstest;

use crate::world::{carry_out, options, service as bare_service};

fn service(edit: impl FnOnce(&mut Service)) -> Service {
    let port = ServicePort {
        name: "http".into(),
        protocol: "TCP".into(),
        target: TargetPort::Number(80),
        ..ServicePort::default()
    };
    let mut service = Service { ports: vec![port], ip_families: vec![IpFamily::V4], ..bare_service() };
    edit(&mut service);
    service
}

fn pod(name: &str, node: &str, ips: [&str; 2]) -> Pod {
    Pod {
        namespace: "ns".into(),
        name: name.into(),
        node_name: node.into(),
        pod_ips: ips.into(),
        ready: true,
        ..Pod::default()
    }
}

fn node(name: &str) -> Option<Arc<Node>> {
    let zone = match name {
        "n1" => "a",
        "n2" => "b",
        _ => return None,
    };
    Some(Arc::new(Node { name: name.into(), zone: zone.into(), ..Node::default() }))
}

/// Returns the plan, and the number of Pods that were left out because their Node is missing.
fn plan_pods(service: &Service, pods: &[Pod], existing: &[Arc<EndpointSlice>]) -> (Plan, usize) {
    let pods: Vec<Arc<Pod>> = pods.iter().cloned().map(Arc::new).collect();
    let desired = desired_endpoints_from_service_pods(service, &pods, node);
    let (owner, labels, types) = (Owner::service(service), SliceLabels::for_service(service), service.address_types());
    let input = Input::new(&owner, &types, desired.groups, existing).labels(&labels);
    (plan(input, Hints::Leave, &options(100)), desired.missing_nodes.len())
}

/// Returns slices as `type port+port: address+address rst node zone hostname, ...`, where `rst` are the conditions
/// ready, serving and terminating, or `-`.
fn shown(slices: &[Arc<EndpointSlice>]) -> Vec<String> {
    let slice = |slice: &Arc<EndpointSlice>| {
        let ports: Vec<String> = slice
            .ports
            .iter()
            .map(|port| {
                format!("{}{}", port.port.unwrap_or_default(), port.app_protocol.as_deref().unwrap_or_default())
            })
            .collect();
        let mut endpoints: Vec<String> = slice
            .endpoints
            .iter()
            .map(|it| {
                let flag = |flag: Option<bool>, letter: char| if flag == Some(true) { letter } else { '-' };
                let conditions = [
                    flag(it.conditions.ready, 'r'),
                    flag(it.conditions.serving, 's'),
                    flag(it.conditions.terminating, 't'),
                ];
                let text = |text: &Option<kube_endpoint_model::Text>| text.as_deref().unwrap_or("-").to_owned();
                let addresses: Vec<String> = it.addresses.iter().map(ToString::to_string).collect();
                format!(
                    "{} {} {} {} {}",
                    addresses.join("+"),
                    conditions.iter().collect::<String>(),
                    text(&it.node_name),
                    text(&it.zone),
                    text(&it.hostname)
                )
            })
            .collect();
        endpoints.sort();
        format!("{} {}: {}", slice.address_type.as_str(), ports.join("+"), endpoints.join(", "))
    };
    let mut shown: Vec<String> = slices.iter().map(slice).collect();
    shown.sort();
    shown
}

#[track_caller]
fn check(service: &Service, pods: &[Pod], expected: &[&str]) {
    let (plan, _) = plan_pods(service, pods, &[]);
    assert_eq!(shown(&carry_out(&[], &plan, &mut 0)), expected);
}

const V4: &str = "IPv4 80: 1.2.3.4 rs- n1 a -";
const V6: &str = "IPv6 80: 1234::5678 rs- n1 a -";

// upstream: TestReconcile1Pod
#[rstest]
#[case::no_family(service(|it| it.ip_families = vec![]), &[V4])]
#[case::no_family_headless(service(|it| { it.ip_families = vec![]; it.cluster_ip = "None".into(); }), &[V4, V6])]
#[case::ipv4(service(|_| {}), &[V4])]
#[case::ipv4_labels(service(|it| it.labels = [("foo", "bar")].into_iter().collect()), &[V4])]
#[case::ipv6(service(|it| it.ip_families = vec![IpFamily::V6]), &[V6])]
#[case::ipv6_cluster_ip(service(|it| { it.ip_families = vec![]; it.cluster_ip = "1234::1".into(); }), &[V6])]
#[case::dual_stack(service(|it| it.ip_families = vec![IpFamily::V4, IpFamily::V6]), &[V4, V6])]
fn one_pod(#[case] service: Service, #[case] expected: &[&str]) {
    check(&service, &[pod("p", "n1", ["1.2.3.4", "1234::5678"])], expected);
    let (plan, _) = plan_pods(&service, &[pod("p", "n1", ["1.2.3.4", "1234::5678"])], &[]);
    for plan in &plan.types {
        let [Write::Create(slice)] = &plan.writes[..] else { panic!("one slice a type") };
        assert_eq!(slice.metadata.generate_name.as_deref(), Some("web-"));
        assert_eq!(slice.metadata.owner_references, [Owner::service(&service).reference()]);
        assert_eq!(slice.metadata.labels.get("kubernetes.io/service-name"), Some("web"));
        assert_eq!(slice.metadata.labels.get("foo"), service.labels.get("foo"));
    }
}

// upstream: TestSyncService, TestPodToEndpoint, TestReconcile1EndpointSlicePublishNotReadyAddresses
#[rstest]
#[case::unready(|it: &mut Pod| it.ready = false, |_: &mut Service| {}, "1.2.3.4 --- n1 a -")]
#[case::unready_published(
    |it: &mut Pod| it.ready = false, |it: &mut Service| it.publish_not_ready_addresses = true, "1.2.3.4 r-- n1 a -")]
#[case::terminating(|it: &mut Pod| it.terminating = true, |_: &mut Service| {}, "1.2.3.4 -st n1 a -")]
#[case::terminating_published(
    |it: &mut Pod| it.terminating = true, |it: &mut Service| it.publish_not_ready_addresses = true, "1.2.3.4 rst n1 a -")]
#[case::not_ready_terminating(
    |it: &mut Pod| (it.ready, it.terminating) = (false, true), |_: &mut Service| {}, "1.2.3.4 --t n1 a -")]
#[case::other_zone(|it: &mut Pod| it.node_name = "n2".into(), |_: &mut Service| {}, "1.2.3.4 rs- n2 b -")]
#[case::without_node(
    |it: &mut Pod| it.node_name = "".into(), |it: &mut Service| it.publish_not_ready_addresses = true, "1.2.3.4 rs- - - -")]
#[case::several_addresses(
    |it: &mut Pod| it.pod_ips = ["1.2.3.5", "1.2.3.4"].into(), |_: &mut Service| {}, "1.2.3.4+1.2.3.5 rs- n1 a -")]
#[case::hostname(
    |it: &mut Pod| (it.hostname, it.subdomain) = ("h".into(), "web".into()), |_: &mut Service| {}, "1.2.3.4 rs- n1 a h")]
#[case::hostname_of_another_service(
    |it: &mut Pod| (it.hostname, it.subdomain) = ("h".into(), "other".into()), |_: &mut Service| {}, "1.2.3.4 rs- n1 a -")]
#[case::finished(|it: &mut Pod| it.finished = true, |_: &mut Service| {}, "")]
#[case::unparsable_address(|it: &mut Pod| it.pod_ips = ["bad", "1.2.3.4"].into(), |_: &mut Service| {}, "1.2.3.4 rs- n1 a -")]
fn one_endpoint(#[case] edit: fn(&mut Pod), #[case] edit_service: fn(&mut Service), #[case] expected: &str) {
    let mut pod = pod("p", "n1", ["1.2.3.4", "1234::5678"]);
    edit(&mut pod);
    let expected = if expected.is_empty() { "IPv4 : ".to_owned() } else { format!("IPv4 80: {expected}") };
    check(&service(edit_service), &[pod], &[&expected]);
}

// upstream: TestSyncService, `Ready and Complete pods with same IPs` and `Two Ready pods with same IPs`
#[test]
fn pods_that_share_an_address() {
    let running = pod("running", "n1", ["1.2.3.4", "::1"]);
    let complete = Pod { finished: true, ready: false, ..pod("complete", "n1", ["1.2.3.4", "::1"]) };
    check(&service(|_| {}), &[complete, running.clone()], &[V4]);
    let other = pod("other", "n1", ["1.2.3.4", "::1"]);
    check(&service(|_| {}), &[running, other], &["IPv4 80: 1.2.3.4 rs- n1 a -, 1.2.3.4 rs- n1 a -"]);
}

// upstream: TestReconcileEndpointSlicesNamedPorts, TestGetEndpointPorts
#[test]
fn named_ports_group_pods() {
    let named = |name: &str, ip: &str, port: i32| {
        let ports = vec![NamedPort { name: "web".into(), protocol: "TCP".into(), port }];
        Pod { named_ports: ports.into(), ..pod(name, "n1", [ip, "::1"]) }
    };
    let service = service(|it| it.ports[0].target = TargetPort::Name("web".into()));
    let pods = [named("a", "10.0.0.1", 8080), named("b", "10.0.0.2", 8081), named("c", "10.0.0.3", 8080)];
    check(&service, &pods, &["IPv4 8080: 10.0.0.1 rs- n1 a -, 10.0.0.3 rs- n1 a -", "IPv4 8081: 10.0.0.2 rs- n1 a -"]);
    // A Pod that does not declare the port is an endpoint without ports.
    check(&service, &[pod("d", "n1", ["10.0.0.4", "::1"])], &["IPv4 : 10.0.0.4 rs- n1 a -"]);
}

// upstream: TestGetEndpointPorts
#[test]
fn app_protocols_are_carried() {
    let service = service(|it| it.ports[0].app_protocol = Some("example.com/x".into()));
    check(&service, &[pod("p", "n1", ["1.2.3.4", "::1"])], &["IPv4 80example.com/x: 1.2.3.4 rs- n1 a -"]);
}

// upstream: TestReconcileHeadlessServiceNoPorts; EC-21, EC-22
#[rstest]
#[case("None")]
#[case("10.0.0.1")]
#[case("")]
fn without_ports(#[case] cluster_ip: &str) {
    let service = service(|it| (it.ports, it.cluster_ip) = (vec![], cluster_ip.into()));
    check(&service, &[pod("p", "n1", ["1.2.3.4", "::1"])], &["IPv4 : 1.2.3.4 rs- n1 a -"]);
}

// upstream: TestReconcilerPodMissingNode; EC-19
#[rstest]
#[case::create(false, &[], 1, &["IPv4 80: 10.0.0.2 rs- n1 a -"])]
#[case::create_published(true, &[], 0, &["IPv4 80: 10.0.0.1 rs- gone - -, 10.0.0.2 rs- n1 a -"])]
#[case::update(false, &["n2", "n1"], 1, &["IPv4 80: 10.0.0.2 rs- n1 a -"])]
#[case::update_published(true, &["n2", "n1"], 0, &["IPv4 80: 10.0.0.1 rs- gone - -, 10.0.0.2 rs- n1 a -"])]
fn pods_on_unknown_nodes(
    #[case] publish: bool,
    #[case] before: &[&str],
    #[case] missing: usize,
    #[case] expected: &[&str],
) {
    let service = service(|it| it.publish_not_ready_addresses = publish);
    let pods = |nodes: &[&str]| -> Vec<Pod> {
        let numbered = nodes.iter().zip(1..);
        numbered.map(|(node, at)| pod(&format!("p{at}"), node, [&format!("10.0.0.{at}"), "::1"])).collect()
    };
    let existing =
        if before.is_empty() { Vec::new() } else { carry_out(&[], &plan_pods(&service, &pods(before), &[]).0, &mut 0) };
    let (plan, left_out) = plan_pods(&service, &pods(&["gone", "n1"]), &existing);
    assert_eq!(left_out, missing);
    assert_eq!(shown(&carry_out(&existing, &plan, &mut 100)), expected);
}

// upstream: TestReconcilerPodMissingNode, `Update if publishNotReady false and no nodes are present`; RC-25 and RC-41
#[test]
fn no_node_known_empties_the_slice() {
    let service = service(|_| {});
    let before = plan_pods(&service, &[pod("p", "n1", ["10.0.0.1", "::1"])], &[]).0;
    let existing = carry_out(&[], &before, &mut 0);
    let (plan, missing) = plan_pods(&service, &[pod("p", "gone", ["10.0.0.1", "::1"])], &existing);
    assert_eq!((missing, shown(&carry_out(&existing, &plan, &mut 100))), (1, vec!["IPv4 : ".to_owned()]));
    let types: Vec<&AddressType> = plan.types.iter().map(|plan| &plan.address_type).collect();
    assert_eq!(types, [&AddressType::IPv4]);
}
