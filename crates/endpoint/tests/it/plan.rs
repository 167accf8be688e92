//! Upstream's test cases of the plan, with Services and Pods built as values.

use std::sync::Arc;

use kube_endpoint_model::well_known::{
    ENDPOINTS_MANAGED_BY_LABEL, HEADLESS_LABEL, OVER_CAPACITY_ANNOTATION, TRIGGER_TIME_ANNOTATION,
};
use kube_endpoint_model::{Endpoints, IpFamily, Labels, NamedPort, Pod, Service, ServicePort, TargetPort, Text, Write};
use rstest::rstest;

use crate::rig::{planned_write, shown};

fn service() -> Service {
    Service {
        namespace: "ns".into(),
        name: "web".into(),
        cluster_ip: "10.96.0.1".into(),
        ip_families: vec![IpFamily::V4],
        ports: vec![port("http", TargetPort::Number(8080))],
        ..Service::default()
    }
}

fn port(name: &str, target: TargetPort) -> ServicePort {
    ServicePort { name: name.into(), protocol: "TCP".into(), target, app_protocol: None }
}

fn pod(number: usize, ready: bool) -> Pod {
    let address = format!("10.{}.{}.{}", number >> 16, (number >> 8) & 255, number & 255);
    Pod {
        namespace: "ns".into(),
        name: format!("p{number}").into(),
        uid: format!("u{number}").into(),
        node_name: "n1".into(),
        pod_ips: [address.as_str()].into(),
        pod_ip_family: Some(IpFamily::V4),
        ready,
        ..Pod::default()
    }
}

fn pods(pods: impl IntoIterator<Item = Pod>) -> Vec<Arc<Pod>> {
    pods.into_iter().map(Arc::new).collect()
}

/// Returns the object of a write with a resource version, as the API server stores it.
fn written(change: Option<Write<Endpoints>>) -> Endpoints {
    let mut endpoints = change.and_then(|write| write.after().cloned()).expect("a write");
    endpoints.metadata.resource_version = "7".into();
    endpoints
}

/// EC-53: annotations of other clients may leave no space for those of the controller.
#[test]
fn annotations_beyond_the_limit_of_the_server_are_left_out() {
    let time = "2026-01-02T03:04:05Z".parse().expect("a time");
    let mut current = written(planned_write(&service(), &[], None, None));
    for (space, expected) in [(10, None), (1_000, Some("2026-01-02T03:04:05Z"))] {
        let value = "x".repeat(256 * 1024 - "filler".len() - space);
        current.metadata.annotations = [("filler", value.as_str())].into_iter().collect();
        let update = written(planned_write(&service(), &pods([pod(1, true)]), Some(&current), Some(time)));
        let annotations = &update.metadata.annotations;
        assert_eq!(annotations.get(TRIGGER_TIME_ANNOTATION), expected);
        assert_eq!(annotations.get("filler"), Some(value.as_str()));
    }
}

// upstream: TestSyncServiceAddresses, and the cases of TestSyncEndpoints... about which Pods are endpoints
#[rstest]
#[case::ready(|_: &mut Pod| {}, false, "10.0.0.1||TCP/8080")]
#[case::not_ready(|it: &mut Pod| it.ready = false, false, "|10.0.0.1|TCP/8080")]
#[case::not_ready_published(|it: &mut Pod| it.ready = false, true, "10.0.0.1||TCP/8080")]
#[case::finished(|it: &mut Pod| it.finished = true, false, "")]
#[case::finished_published(|it: &mut Pod| it.finished = true, true, "")]
#[case::terminating(|it: &mut Pod| it.terminating = true, false, "")]
#[case::terminating_published(|it: &mut Pod| it.terminating = true, true, "10.0.0.1||TCP/8080")]
#[case::no_address_yet(|it: &mut Pod| (it.pod_ips, it.pod_ip_family) = Default::default(), false, "")]
#[case::only_the_other_family(|it: &mut Pod| it.pod_ips = ["fd00::1"].into(), false, "")]
fn membership(#[case] edit: fn(&mut Pod), #[case] publish: bool, #[case] expected: &str) {
    let mut pod = pod(1, true);
    edit(&mut pod);
    let service = Service { publish_not_ready_addresses: publish, ..service() };
    assert_eq!(shown(&written(planned_write(&service, &pods([pod]), None, None))), expected);
}

// upstream: TestSyncEndpointsHeadlessWithoutPort, TestSyncEndpointsAddDeletePorts, TestEndpointPortFromServicePort
#[rstest]
#[case::headless_without_ports("None", vec![], "10.0.0.1||")]
#[case::without_ports("10.96.0.1", vec![], "")]
#[case::empty_cluster_ip_without_ports("", vec![], "")]
#[case::two_ports("10.96.0.1", vec![port("a", TargetPort::Number(80)), port("b", TargetPort::Number(81))], "10.0.0.1||TCP/80 TCP/81")]
#[case::named("10.96.0.1", vec![port("a", TargetPort::Name("web".into()))], "10.0.0.1||TCP/9000")]
#[case::unknown_name("10.96.0.1", vec![port("a", TargetPort::Name("other".into()))], "")]
#[case::one_of_two_unknown(
    "10.96.0.1", vec![port("a", TargetPort::Name("other".into())), port("b", TargetPort::Number(81))], "10.0.0.1||TCP/81")]
fn served_ports(#[case] cluster_ip: &str, #[case] ports: Vec<ServicePort>, #[case] expected: &str) {
    let mut pod = pod(1, true);
    pod.named_ports = [NamedPort { name: "web".into(), protocol: "TCP".into(), port: 9000 }].into();
    let service = Service { cluster_ip: cluster_ip.into(), ports, ..service() };
    assert_eq!(shown(&written(planned_write(&service, &pods([pod]), None, None))), expected);
}

#[test]
fn an_address_has_host_name_node_name_and_target() {
    let mut named = pod(1, true);
    (named.hostname, named.subdomain, named.node_name) = ("h".into(), "web".into(), Text::default());
    let endpoints = written(planned_write(&service(), &pods([named]), None, None));
    let address = &endpoints.subsets[0].addresses[0];
    assert_eq!((&*address.hostname, address.node_name.as_deref()), ("h", None), "EC-4");
    let target = address.target_ref.as_ref().expect("a target");
    assert_eq!((target.kind(), &**target.name(), target.uid().to_string().as_str()), ("Pod", "p1", "u1"));
}

// upstream: TestSyncEndpointsHeadlessServiceLabel, TestSyncEndpointsItemsPreexistingLabelsChange
#[rstest]
#[case::plain("10.96.0.1", &[("team", "a")], &[("team", "a")])]
#[case::headless("None", &[("team", "a")], &[("team", "a"), (HEADLESS_LABEL, "")])]
#[case::empty_is_headless("", &[], &[(HEADLESS_LABEL, "")])]
#[case::a_false_headless_label_is_dropped("10.96.0.1", &[(HEADLESS_LABEL, "")], &[])]
#[case::managed_by_is_replaced("10.96.0.1", &[(ENDPOINTS_MANAGED_BY_LABEL, "evil")], &[])]
fn carried_labels(#[case] cluster_ip: &str, #[case] labels: &[(&str, &str)], #[case] expected: &[(&str, &str)]) {
    let labels: Labels = labels.iter().copied().collect();
    let service = Service { cluster_ip: cluster_ip.into(), labels, ..service() };
    let endpoints = written(planned_write(&service, &[], None, None));
    let managed = (ENDPOINTS_MANAGED_BY_LABEL, "endpoint-controller");
    let expected: Labels = expected.iter().copied().chain([managed]).collect();
    assert_eq!(endpoints.metadata.labels, expected);
    assert_eq!(planned_write(&service, &[], Some(&endpoints), None), None, "EC-8: not written again");
}

// upstream: TestSyncEndpointsItemsPreexistingIdentical, ...IdenticalUnsorted
#[test]
fn an_up_to_date_object_is_not_written() {
    let all = pods([pod(1, true), pod(2, true), pod(3, false)]);
    let current = written(planned_write(&service(), &all, None, None));
    assert_eq!(planned_write(&service(), &all, Some(&current), None), None);

    let mut unsorted = current.clone();
    unsorted.subsets[0].addresses.reverse();
    assert_eq!(planned_write(&service(), &all, Some(&unsorted), None), None, "order is ignored");

    let mut headless = current.clone();
    headless.metadata.labels = headless.metadata.labels.with([(HEADLESS_LABEL, "")]);
    assert_eq!(planned_write(&service(), &all, Some(&headless), None), None, "EC-11");

    let Some(Write::Update { desired: changed, .. }) =
        planned_write(&service(), &pods([pod(1, true)]), Some(&current), None)
    else {
        panic!("expected an update")
    };
    assert_eq!((shown(&changed).as_str(), &changed.metadata.resource_version), ("10.0.0.1||TCP/8080", &7.into()));
}

#[test]
fn metadata_of_other_clients_is_kept_except_labels() {
    let mut current = written(planned_write(&service(), &[], None, None));
    current.metadata.annotations = [("note", "mine")].into_iter().collect();
    current.metadata.finalizers = vec!["example.com/hold".into()];
    current.metadata.labels = current.metadata.labels.with([("extra", "1")]);
    let updated = written(planned_write(&service(), &pods([pod(1, true)]), Some(&current), None));
    assert_eq!(updated.metadata.annotations.get("note"), Some("mine"));
    assert_eq!(updated.metadata.finalizers, current.metadata.finalizers);
    assert!(!updated.metadata.labels.contains_key("extra"), "labels are those of the Service");
}

// upstream: TestLastTriggerChangeTimeAnnotation, ..._AnnotationOverridden, ..._AnnotationCleared
#[test]
fn the_trigger_time_is_set_and_cleared_by_writes_only() {
    let time: jiff::Timestamp = "2026-02-03T04:00:00Z".parse().expect("a time");
    let current = written(planned_write(&service(), &[], None, Some(time)));
    let annotation =
        |endpoints: &Endpoints| endpoints.metadata.annotations.get(TRIGGER_TIME_ANNOTATION).map(str::to_owned);
    assert_eq!(annotation(&current).as_deref(), Some("2026-02-03T04:00:00Z"));
    assert_eq!(planned_write(&service(), &[], Some(&current), None), None, "the time alone causes no write");
    let cleared = written(planned_write(&service(), &pods([pod(1, true)]), Some(&current), None));
    assert_eq!(annotation(&cleared), None);
}

// upstream: TestSyncServiceOverCapacity
#[test]
fn addresses_over_capacity_are_truncated_annotated_and_written_once() {
    let many = pods((0..1_200).map(|number| pod(number, number < 900)));
    let current = written(planned_write(&service(), &many, None, None));
    assert_eq!(current.metadata.annotations.get(OVER_CAPACITY_ANNOTATION), Some("truncated"));
    let subset = &current.subsets[0];
    assert_eq!((subset.addresses.len(), subset.not_ready_addresses.len()), (900, 100));
    assert_eq!(planned_write(&service(), &many, Some(&current), None), None, "EC-12");
}
