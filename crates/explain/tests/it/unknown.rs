//! Explanations of clusters that could be read only in part.

use std::collections::BTreeSet;

use kube_endpoint_model::{Code, ObjectKey};
use kube_endpoints_explain::{Kind, ObjectState, PodState, TextStyle, World, text};
use kube_wire::Object as _;
use rstest::rstest;

use crate::broken::{broken, cases, custom_endpoints, healthy, insert, labels, pod};
use crate::cluster::Cluster;

/// Returns a cluster as a user sees it who may not list one kind.
fn without(kind: Kind, mut cluster: Cluster) -> World {
    match kind {
        Kind::Service => cluster.services.clear(),
        Kind::Pod => cluster.pods.clear(),
        Kind::Node => cluster.nodes.clear(),
        Kind::Endpoints => cluster.endpoints.clear(),
        Kind::EndpointSlice => cluster.slices.clear(),
    }
    let mut world = cluster.world();
    world.set_unknown(kind);
    world
}

#[rstest]
#[case::pods(Kind::Pod)]
#[case::nodes(Kind::Node)]
#[case::endpoints(Kind::Endpoints)]
#[case::slices(Kind::EndpointSlice)]
#[case::services(Kind::Service)]
fn nothing_is_concluded_from_what_may_not_be_read(#[case] kind: Kind) {
    let world = without(kind, healthy());
    assert_eq!(world.check(), []);
    assert_eq!(world.changes(), []);
    let Some(report) = world.service(&ObjectKey::new("shop", "checkout")) else {
        assert_eq!(kind, Kind::Service);
        return;
    };
    assert_eq!(report.unknown, [kind]);
    assert_eq!(report.serving, if kind == Kind::Pod { 0 } else { 3 });
    assert!(report.slices.iter().all(|slice| slice.state == ObjectState::Unknown));
}

/// A user who may read Services by name, but not list them, sees only one of two similar selectors.
#[test]
fn without_services_no_pod_is_a_near_miss() {
    let mut cluster = healthy();
    let mut canary = pod("canary", "10.1.0.9", "node-a");
    canary.labels = labels("app=check-out");
    let key = canary.key();
    insert(&mut cluster, canary);
    let mut world = cluster.world();
    let near_misses = |world: &World| {
        let of_service = world.service(&ObjectKey::new("shop", "checkout")).expect("the Service").near_misses.len();
        (of_service, world.pod(&key).expect("the Pod").near_misses.len())
    };
    assert_eq!(near_misses(&world), (1, 1));
    world.set_unknown(Kind::Service);
    assert_eq!(near_misses(&world), (0, 0));
}

/// A check marks a topic as good only if what it lacks could not have added a finding.
#[test]
fn topics_that_lack_findings_are_not_marked_as_good() {
    // By the digit of the code.
    const TOPICS: [&str; 7] = [
        "Selection",
        "Pods and their readiness",
        "Ports",
        "Addresses and Nodes",
        "Topology hints",
        "EndpointSlices and Endpoints",
        "Mirroring",
    ];
    let mut wrong = BTreeSet::new();
    for case in cases() {
        let cluster = broken(case);
        let all = cluster.world().check();
        for kind in [Kind::Pod, Kind::Node, Kind::Endpoints, Kind::EndpointSlice] {
            let partial = without(kind, cluster.clone()).check();
            let output = text::findings(&partial, &[kind], TextStyle::default());
            for finding in &all {
                let code = finding.reason.code;
                let topic = TOPICS[usize::from(code.as_str().as_bytes()[2] - b'0')];
                if output.lines().any(|line| line == format!("✓ {topic}")) {
                    wrong.insert(format!("✓ {topic} without {kind}, although there is {code}"));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn endpoints_are_compared_with_their_limits_without_pods() {
    let addresses: Vec<String> = (0..1_001).map(|number| format!("192.0.{}.{}", number / 250, number % 250)).collect();
    let mut cluster = healthy();
    cluster.services.values_mut().next().expect("the Service").selector = None;
    let endpoints = custom_endpoints(&addresses);
    cluster.endpoints.insert(endpoints.key(), endpoints);
    let report = without(Kind::Pod, cluster).service(&ObjectKey::new("shop", "checkout")).expect("the Service");
    let codes: Vec<Code> = report.findings.iter().map(|finding| finding.reason.code).collect();
    assert!(codes.contains(&Code::MirrorLimit), "{codes:?}");
}

#[test]
fn pods_are_explained_without_nodes() {
    let mut cluster = healthy();
    cluster.nodes.clear();
    cluster.pods.values_mut().next().expect("a Pod").ready = false;
    let mut world = cluster.world();
    world.set_unknown(Kind::Node);
    let report = world.service(&ObjectKey::new("shop", "checkout")).expect("the Service");
    let first = &report.pods[0];
    assert_eq!((first.state, first.reasons[0].code, &first.zone), (PodState::NotServing, Code::PodNotReady, &None));
    assert_eq!((report.serving, report.would_serve), (3, 2), "the slices are older");
}
