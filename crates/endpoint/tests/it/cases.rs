//! Upstream's test cases about the content of Endpoints, with Services and Pods decoded from JSON.

use std::sync::Arc;

use kube_endpoint_model::well_known::OVER_CAPACITY_ANNOTATION;
use kube_endpoint_model::{Endpoints, Index as _, Pod, PodIndex, Service};
use rstest::rstest;
use serde_json::{Value, json};

use crate::rig::{planned_write, read, shown};

/// Returns a Service with the target port 8080. The fields of `spec` replace those of its spec.
fn service(spec: &Value) -> Service {
    let mut object = json!({
        "metadata": {"namespace": "ns", "name": "web"},
        "spec": {"selector": {"app": "web"}, "clusterIP": "10.96.0.1", "ipFamilies": ["IPv4"],
            "ports": [{"name": "http", "port": 80, "targetPort": 8080, "protocol": "TCP"}]}
    });
    for (key, value) in spec.as_object().into_iter().flatten() {
        object["spec"][key] = value.clone();
    }
    read(&object)
}

/// Returns the Pod `p{number}`, whose address is derived from the number.
fn pod_json(number: usize, ready: bool) -> Value {
    let address = format!("10.0.{}.{}", number >> 8, number & 255);
    let name = format!("p{number}");
    json!({
        "metadata": {"namespace": "ns", "name": name, "uid": name, "labels": {"app": "web"}},
        "spec": {"nodeName": "n1"},
        "status": {"phase": "Running", "podIP": address, "podIPs": [{"ip": address}],
            "conditions": [{"type": "Ready", "status": if ready { "True" } else { "False" }}]}
    })
}

fn pods(numbers: std::ops::Range<usize>, ready: impl Fn(usize) -> bool) -> Vec<Arc<Pod>> {
    numbers.map(|number| Arc::new(read(&pod_json(number, ready(number))))).collect()
}

/// Returns the object to create or update; `None` if nothing is to be written.
fn planned(service: &Service, pods: &[Arc<Pod>], current: Option<&Endpoints>) -> Option<Endpoints> {
    planned_write(service, pods, current, None).and_then(|write| write.after().cloned())
}

// upstream: TestSyncServiceAddresses, and the three TestSyncEndpointsItemsExcludeNotReadyPodsWithRestartPolicy...
#[rstest]
#[case::running("Running", "Always", true, false, false, "10.0.0.1||TCP/8080")]
#[case::running_deleted("Running", "Always", true, true, false, "")]
#[case::unknown_ready("Unknown", "Always", true, false, false, "10.0.0.1||TCP/8080")]
#[case::unknown_ready_deleted("Unknown", "Always", true, true, false, "")]
#[case::pending_ready("Pending", "Always", true, false, false, "10.0.0.1||TCP/8080")]
#[case::pending_ready_deleted("Pending", "Always", true, true, false, "")]
#[case::unknown_not_ready("Unknown", "Always", false, false, false, "|10.0.0.1|TCP/8080")]
#[case::pending_not_ready("Pending", "Always", false, false, false, "|10.0.0.1|TCP/8080")]
#[case::failed("Failed", "Never", false, false, false, "")]
#[case::succeeded("Succeeded", "Never", false, false, false, "")]
#[case::succeeded_on_failure("Succeeded", "OnFailure", false, false, false, "")]
#[case::running_tolerated("Running", "Always", false, false, true, "10.0.0.1||TCP/8080")]
#[case::running_tolerated_deleted("Running", "Always", false, true, true, "10.0.0.1||TCP/8080")]
#[case::unknown_tolerated("Unknown", "Always", false, false, true, "10.0.0.1||TCP/8080")]
#[case::unknown_tolerated_deleted("Unknown", "Always", false, true, true, "10.0.0.1||TCP/8080")]
#[case::pending_tolerated("Pending", "Always", false, false, true, "10.0.0.1||TCP/8080")]
#[case::pending_tolerated_deleted("Pending", "Always", false, true, true, "10.0.0.1||TCP/8080")]
#[case::failed_tolerated("Failed", "Never", false, false, true, "")]
#[case::succeeded_tolerated("Succeeded", "Never", false, false, true, "")]
fn addresses(
    #[case] phase: &str,
    #[case] restart_policy: &str,
    #[case] ready: bool,
    #[case] deleted: bool,
    #[case] publish: bool,
    #[case] expected: &str,
) {
    let mut pod = pod_json(1, ready);
    pod["status"]["phase"] = phase.into();
    pod["spec"]["restartPolicy"] = restart_policy.into();
    if deleted {
        pod["metadata"]["deletionTimestamp"] = "2026-02-03T04:00:00Z".into();
    }
    let service = service(&json!({"publishNotReadyAddresses": publish}));
    let endpoints = planned(&service, &[Arc::new(read(&pod))], None).expect("a create");
    assert_eq!(shown(&endpoints), expected);
}

// upstream: TestSyncEndpointsItemsEmptySelectorSelectsAll, ...NotReady, ...Mixed
#[rstest]
#[case::ready(&[true], "10.0.0.0||TCP/8080")]
#[case::not_ready(&[false], "|10.0.0.0|TCP/8080")]
#[case::mixed(&[true, false], "10.0.0.0|10.0.0.1|TCP/8080")]
fn an_empty_selector_selects_all(#[case] ready: &[bool], #[case] expected: &str) {
    let mut index = PodIndex::default();
    for pod in pods(0..ready.len(), |number| ready[number]) {
        index.update(None, Some(&pod));
    }
    let service = service(&json!({"selector": {}}));
    let selected = index.select("ns", service.selector.as_ref().expect("a selector"));
    assert_eq!(shown(&planned(&service, &selected, None).expect("a create")), expected);
}

// upstream: TestSyncEndpointsProtocolTCP, ...UDP, ...SCTP, TestSyncEndpointsProtocolMultiProtocolSamePort,
// TestSyncEndpointsItems, TestSyncEndpointsHeadlessService, TestSyncEndpointsHeadlessWithoutPort
#[rstest]
#[case::tcp(json!({"ports": [{"targetPort": 8080, "protocol": "TCP"}]}), "10.0.0.0||TCP/8080")]
#[case::udp(json!({"ports": [{"targetPort": 8080, "protocol": "UDP"}]}), "10.0.0.0||UDP/8080")]
#[case::sctp(json!({"ports": [{"targetPort": 8080, "protocol": "SCTP"}]}), "10.0.0.0||SCTP/8080")]
#[case::same_port_of_two_protocols(
    json!({"ports": [{"name": "a", "targetPort": 8080, "protocol": "TCP"}, {"name": "b", "targetPort": 8080, "protocol": "UDP"}]}),
    "10.0.0.0||TCP/8080 UDP/8080")]
#[case::headless(json!({"clusterIP": "None"}), "10.0.0.0||TCP/8080")]
#[case::headless_without_ports(json!({"clusterIP": "None", "ports": []}), "10.0.0.0||")]
fn ports(#[case] spec: Value, #[case] expected: &str) {
    let endpoints = planned(&service(&spec), &pods(0..1, |_| true), None).expect("a create");
    assert_eq!(shown(&endpoints), expected);
}

// upstream: TestEndpointPortFromServicePort
#[rstest]
#[case::none(json!(null), None)]
#[case::http(json!("http"), Some("http"))]
fn application_protocols(#[case] protocol: Value, #[case] expected: Option<&str>) {
    let port = json!({"name": "http", "targetPort": 8080, "protocol": "TCP", "appProtocol": protocol});
    let endpoints = planned(&service(&json!({"ports": [port]})), &pods(0..1, |_| true), None).expect("a create");
    assert_eq!(endpoints.subsets[0].ports[0].app_protocol.as_deref(), expected);
}

// upstream: TestPodToEndpointAddressForService, TestPodToEndpointAddressForServiceEmptyIPFamilies
#[rstest]
#[case::v4_single("10.96.0.1", &["IPv4"], &["1.2.3.4"], "1.2.3.4")]
#[case::v4_dual("10.96.0.1", &["IPv4"], &["1.2.3.4", "2000::1"], "1.2.3.4")]
#[case::v4_dual_v6_first("10.96.0.1", &["IPv4"], &["2000::1", "1.2.3.4"], "1.2.3.4")]
#[case::v4_headless_single("None", &["IPv4"], &["1.2.3.4"], "1.2.3.4")]
#[case::v4_headless_dual("None", &["IPv4"], &["1.2.3.4", "2000::1"], "1.2.3.4")]
#[case::v6_dual("3000::1", &["IPv6"], &["1.2.3.4", "2000::1"], "2000::1")]
#[case::v6_headless_single("None", &["IPv6"], &["2000::1"], "2000::1")]
#[case::v6_headless_dual("None", &["IPv6"], &["1.2.3.4", "2000::1"], "2000::1")]
#[case::v6_in_a_v4_cluster("3000::1", &["IPv6"], &["1.2.3.4"], "")]
#[case::no_families_v4("10.96.0.1", &[], &["1.2.3.4"], "1.2.3.4")]
#[case::no_families_v6("3000::1", &[], &["2000::1"], "2000::1")]
#[case::no_families_no_match("10.96.0.1", &[], &["2000::1"], "")]
#[case::no_families_headless_v4("None", &[], &["1.2.3.4"], "1.2.3.4")]
#[case::no_families_headless_v6("None", &[], &["2000::1"], "2000::1")]
fn one_address_of_the_right_family(
    #[case] cluster_ip: &str,
    #[case] families: &[&str],
    #[case] ips: &[&str],
    #[case] expected: &str,
) {
    let mut pod = pod_json(1, true);
    pod["status"]["podIP"] = ips[0].into();
    pod["status"]["podIPs"] = ips.iter().map(|ip| json!({"ip": ip})).collect();
    let service = service(&json!({"clusterIP": cluster_ip, "ipFamilies": families}));
    let endpoints = planned(&service, &[Arc::new(read(&pod))], None).expect("a create");
    let expected = if expected.is_empty() { String::new() } else { format!("{expected}||TCP/8080") };
    assert_eq!(shown(&endpoints), expected);
}

// upstream: TestSyncServiceOverCapacity. Unlike upstream, a correct object is not written again (EC-12).
#[rstest]
#[case::empty(0, 0, None, None)]
#[case::over_with_some_ready(1_001, 500, None, Some("truncated"))]
#[case::over_with_all_ready(1_001, 1_001, None, Some("truncated"))]
#[case::below_again(1_000, 1_000, Some("truncated"), None)]
#[case::warned_and_at_capacity(1_000, 1_000, Some("warning"), None)]
#[case::warned_and_still_over(1_001, 1_001, Some("warning"), Some("truncated"))]
#[case::at_capacity(1_000, 500, Some("truncated"), None)]
#[case::value_corrected(1_500, 1_500, Some("not a value"), Some("truncated"))]
fn over_capacity(
    #[case] count: usize,
    #[case] ready: usize,
    #[case] annotation: Option<&str>,
    #[case] expected: Option<&str>,
) {
    let (service, pods) = (service(&json!({})), pods(0..count, |number| number < ready));
    let mut current = planned(&service, &pods, None).expect("a create");
    let annotations = &mut current.metadata.annotations;
    *annotations = annotations.without(|key| key == OVER_CAPACITY_ANNOTATION);
    *annotations = annotations.with(annotation.map(|value| (OVER_CAPACITY_ANNOTATION, value)));
    let after = planned(&service, &pods, Some(&current)).unwrap_or(current);
    assert_eq!(after.metadata.annotations.get(OVER_CAPACITY_ANNOTATION), expected);
    assert_eq!(planned(&service, &pods, Some(&after)), None, "written once");
}

// upstream: TestEndpointSubsetsEqualIgnoreResourceVersion, TestSyncEndpointsWithPodResourceVersionUpdateOnly
#[rstest]
#[case::same(|_: &mut Value| {}, false)]
#[case::subsets_removed(|it: &mut Value| it["subsets"] = json!([]), true)]
#[case::ready_ip_changed(|it: &mut Value| it["subsets"][0]["addresses"][0]["ip"] = "9.9.9.9".into(), true)]
#[case::not_ready_ip_changed(|it: &mut Value| it["subsets"][0]["notReadyAddresses"][0]["ip"] = "9.9.9.9".into(), true)]
#[case::pod_version(
    |it: &mut Value| it["subsets"][0]["addresses"][0]["targetRef"]["resourceVersion"] = "99".into(), false)]
#[case::pod_version_of_a_not_ready_one(
    |it: &mut Value| it["subsets"][0]["notReadyAddresses"][0]["targetRef"]["resourceVersion"] = "99".into(), false)]
#[case::ports_changed(|it: &mut Value| it["subsets"][0]["ports"][0]["port"] = 9999.into(), true)]
fn differences_that_cause_an_update(#[case] edit: fn(&mut Value), #[case] differs: bool) {
    let (service, pods) = (service(&json!({})), pods(0..2, |number| number == 0));
    let desired = planned(&service, &pods, None).expect("a create");
    let mut object = serde_json::to_value(&desired).expect("JSON");
    edit(&mut object);
    let current: Endpoints = read(&object);
    assert_eq!(planned(&service, &pods, Some(&current)).is_some(), differs);
}

// upstream: TestSyncEndpointsNewNoSubsets, TestSyncEndpointsExistingNilSubsets, TestSyncEndpointsExistingEmptySubsets
#[rstest]
#[case::absent(json!(null))]
#[case::empty(json!([]))]
fn no_subsets(#[case] subsets: Value) {
    let service = service(&json!({"selector": {"no": "pod"}}));
    let new = planned(&service, &[], None).expect("a create");
    assert!(new.subsets.is_empty(), "created without subsets");
    let mut object = serde_json::to_value(&new).expect("JSON");
    object["subsets"] = subsets;
    assert_eq!(planned(&service, &[], Some(&read(&object))), None);
}
