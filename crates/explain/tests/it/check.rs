//! Findings of a check: they count Pods and Services, and not reasons.

use kube_endpoint_model::{Code, Node, ServicePort, TargetPort, TargetRef, Uid};
use kube_endpoints_explain::{Finding, Kind};
use kube_wire::Object as _;
use rstest::rstest;
use serde_json::json;

use crate::broken::{healthy, insert, pod};
use crate::cluster::Cluster;

/// Returns the messages of the findings with a code, by object.
fn messages(cluster: &Cluster, code: Code) -> Vec<(String, String)> {
    let found = cluster.world().check().into_iter().filter(|finding| finding.reason.code == code);
    found.map(|Finding { object, reason, .. }| (object.to_string(), reason.message)).collect()
}

#[rstest]
#[case::one(1, "Pod checkout-a: ")]
#[case::three(3, "3 of 3 Pods (checkout-a, checkout-b, checkout-c): ")]
#[case::thirty(30, "30 of 30 Pods (checkout-a, checkout-b, checkout-c and 27 more): ")]
fn pods_that_lack_several_ports_count_once(#[case] pods: usize, #[case] expected: &str) {
    let mut cluster = healthy();
    let service = cluster.services.values_mut().next().expect("the Service");
    for name in ["metrics", "admin"] {
        let target = TargetPort::Name(name.into());
        service.ports.push(ServicePort { name: name.into(), protocol: "TCP".into(), target, app_protocol: None });
    }
    while cluster.pods.len() > pods {
        cluster.pods.pop_last();
    }
    for number in cluster.pods.len()..pods {
        insert(&mut cluster, pod(&format!("checkout-x{number:02}"), &format!("10.2.0.{number}"), "node-a"));
    }
    cluster.settle();
    let lacks = |port| format!("targetPort \"{port}\" is not a port of any container (available: http=8080)");
    let expected = format!("{expected}{}; {}", lacks("metrics"), lacks("admin"));
    assert_eq!(messages(&cluster, Code::TargetPortUnknown), [("Service shop/checkout".to_owned(), expected)]);
}

#[test]
fn a_node_without_a_zone_is_one_finding() {
    let mut cluster = healthy();
    let mut service = cluster.services.values().next().expect("the Service").clone();
    service.topology_annotation = Some("Auto".into());
    for name in ["checkout", "orders", "payments"] {
        service.name = name.into();
        cluster.services.insert(service.key(), service.clone());
    }
    let node = Node { name: "node-d".into(), ready: true, cpu_milli: 4_000, ..Node::default() };
    cluster.nodes.insert(node.key(), node);
    cluster.settle();
    let message = "Node node-d has no zone label: no topology hints for 3 Services".to_owned();
    assert_eq!(messages(&cluster, Code::HintsNodeInformation), [(format!("{} node-d", Kind::Node), message)]);
}

#[test]
fn a_slice_without_the_name_of_its_service_is_found() {
    let mut cluster = healthy();
    let mut lost = cluster.slices.values().next().expect("a slice").clone();
    lost.metadata.name = "lost".into();
    let kept = lost.metadata.labels.iter().filter(|(key, _)| *key != "kubernetes.io/service-name");
    lost.metadata.labels = kept.collect();
    cluster.slices.insert(lost.key(), lost);
    let found: Vec<_> = cluster.world().check().into_iter().map(|it| (it.object.name, it.reason.code)).collect();
    assert_eq!(found, [("lost".to_owned(), Code::SliceWithoutService)]);
}

#[test]
fn endpoints_without_conditions_count_as_ready() {
    let mut cluster = healthy();
    let slice = cluster.slices.values_mut().next().expect("a slice");
    let [first, second, third] = &mut slice.endpoints[..] else { panic!("three endpoints") };
    for (endpoint, conditions) in
        [(first, json!({})), (second, json!({"serving": false})), (third, json!({"terminating": true}))]
    {
        endpoint.conditions = serde_json::from_value(conditions).expect("conditions");
    }
    let key = slice.key();
    assert_eq!(cluster.world().slice(&key).expect("the slice").written.ready, 3);
}

/// The Pods of other namespaces than those of the slices may not have been read.
#[rstest]
#[case::exists("shop", "checkout-a", None)]
#[case::without_a_namespace("", "checkout-a", None)]
#[case::missing("shop", "db-0", Some("refers to Pods that do not exist: db-0"))]
#[case::missing_without_a_namespace("", "db-0", Some("refers to Pods that do not exist: db-0"))]
#[case::of_another_namespace("payments", "db-0", None)]
fn missing_pods_are_those_of_the_namespace_of_the_slice(
    #[case] namespace: &str,
    #[case] pod: &str,
    #[case] expected: Option<&str>,
) {
    let mut cluster = healthy();
    let mut slice = cluster.slices.values().next().expect("a slice").clone();
    slice.metadata.name = "own".into();
    let is_manager = |key: &str| key == "endpointslice.kubernetes.io/managed-by";
    slice.metadata.labels = slice.metadata.labels.iter().filter(|(key, _)| !is_manager(key)).collect();
    slice.endpoints.truncate(1);
    slice.endpoints[0].target_ref = Some(TargetRef::pod(namespace.into(), pod.into(), Uid::default()));
    cluster.slices.insert(slice.key(), slice);
    let found: Vec<String> = messages(&cluster, Code::TargetMissing).into_iter().map(|(_, message)| message).collect();
    assert_eq!(found.first().map(String::as_str), expected);
}

#[rstest]
#[case::missed(healthy(), false, &[Code::EndpointsDiffer])]
#[case::retired(healthy(), true, &[])]
#[case::of_many_pods(many_pods(), true, &[])]
fn endpoints_that_are_retired_are_not_missed(
    #[case] mut cluster: Cluster,
    #[case] retired: bool,
    #[case] found: &[Code],
) {
    cluster.settings.endpoints_retired = retired;
    let mut edited = cluster.endpoints.values().next().expect("the Endpoints object").clone();
    cluster.endpoints.clear();
    let world = cluster.world();
    assert_eq!(world.check().iter().map(|it| it.reason.code).collect::<Vec<_>>(), found);
    assert_eq!(world.changes().len(), found.len());

    // Those that are kept are compared.
    edited.subsets[0].addresses.pop();
    cluster.endpoints.insert(edited.key(), edited);
    let codes: Vec<_> = cluster.world().check().iter().map(|it| it.reason.code).collect();
    assert!(codes.contains(&Code::EndpointsDiffer), "{codes:?}");
}

fn many_pods() -> Cluster {
    let mut cluster = healthy();
    for number in 0..1_000 {
        let (high, low) = (number / 250, number % 250);
        insert(&mut cluster, pod(&format!("checkout-x{number:04}"), &format!("10.2.{high}.{low}"), "node-a"));
    }
    cluster.settle();
    cluster
}

#[test]
fn endpoints_that_a_deleted_service_has_left_are_found() {
    let mut cluster = healthy();
    let (service, slices) = (cluster.services.pop_first(), std::mem::take(&mut cluster.slices));
    assert!(service.is_some() && !slices.is_empty());
    let found: Vec<_> = cluster.world().check().into_iter().map(|it| (it.object.to_string(), it.reason.code)).collect();
    assert_eq!(found, [("Endpoints shop/checkout".to_owned(), Code::EndpointsOrphaned)]);
    // A lock is no left-over, whatever its labels.
    let endpoints = cluster.endpoints.values_mut().next().expect("the Endpoints object");
    endpoints.metadata.annotations = [("control-plane.alpha.kubernetes.io/leader", "{}")].into_iter().collect();
    assert_eq!(cluster.world().check(), []);
}
