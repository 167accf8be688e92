//! Explanations of clusters that could be read only in part.

use kube_endpoint_model::{Code, ObjectKey};
use kube_endpoints_explain::{Kind, ObjectState, PodState, World};
use rstest::rstest;

use crate::broken::healthy;

/// Returns the healthy cluster as a user sees it who may not list one kind.
fn without(kind: Kind) -> World {
    let mut cluster = healthy();
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
    let world = without(kind);
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
