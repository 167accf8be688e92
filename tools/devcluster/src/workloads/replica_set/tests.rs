//! Plans and statuses of `ReplicaSet`s.

use std::{sync::Arc, time::Duration};

use k8s_openapi::{
    api::{
        apps::v1::{ReplicaSet, ReplicaSetStatus},
        core::v1::Pod,
    },
    jiff::Timestamp,
};
use rstest::rstest;
use serde_json::{Value, json};

use super::{
    plan::{Plan, plan},
    status::{Failure, status},
};

const NOW: Timestamp = Timestamp::constant(1_800_000_000, 0);
/// Ten seconds before [`NOW`].
const TEN_AGO: &str = "2027-01-15T07:59:50Z";

fn set(replicas: i32) -> ReplicaSet {
    let template = json!({"metadata": {"labels": {"app": "web"}}, "spec": {"containers": []}});
    let spec = json!({"replicas": replicas, "selector": {"matchLabels": {"app": "web"}}, "template": template});
    serde_json::from_value(json!({"metadata": {"name": "web", "uid": "s", "generation": 2}, "spec": spec})).unwrap()
}

/// Returns a Pod that is ready since ten seconds, changed by a closure.
fn pod(name: &str, change: impl FnOnce(&mut Value)) -> Arc<Pod> {
    let ready = json!({"type": "Ready", "status": "True", "lastTransitionTime": TEN_AGO});
    let mut pod = json!({
        "metadata": {"name": name, "labels": {"app": "web"}, "creationTimestamp": TEN_AGO, "annotations": {}},
        "spec": {"nodeName": "n", "containers": []},
        "status": {"phase": "Running", "conditions": [ready], "containerStatuses": []},
    });
    change(&mut pod);
    Arc::new(serde_json::from_value(pod).unwrap())
}

fn plain(name: &str) -> Arc<Pod> {
    pod(name, |_| {})
}

fn deleted(pod: &mut Value) {
    pod["metadata"]["deletionTimestamp"] = json!(TEN_AGO);
}

fn phase(phase: &'static str) -> impl FnOnce(&mut Value) {
    move |pod| pod["status"] = json!({"phase": phase})
}

#[rstest]
#[case::none(3, vec![], 3)]
#[case::some(3, vec![plain("a")], 2)]
#[case::enough(1, vec![plain("a")], 0)]
#[case::terminating(2, vec![plain("a"), pod("b", deleted)], 1)]
#[case::failed(2, vec![plain("a"), pod("b", phase("Failed"))], 1)]
#[case::burst(2_000, vec![], 500)]
fn missing_pods_are_created(#[case] replicas: i32, #[case] pods: Vec<Arc<Pod>>, #[case] expect: usize) {
    assert_eq!(plan(&set(replicas), &pods), Plan { create: expect, delete: Vec::new() });
}

/// Of two Pods, the one named `x` is deleted, whatever the order.
#[rstest]
#[case::without_a_node(pod("x", |pod| pod["spec"]["nodeName"] = json!("")), plain("a"))]
#[case::pending(pod("x", phase("Pending")), pod("a", phase("Running")))]
#[case::not_ready(pod("x", |pod| pod["status"]["conditions"] = json!([])), plain("a"))]
#[case::cheap(
    pod("x", |pod| pod["metadata"]["annotations"] = json!({"controller.kubernetes.io/pod-deletion-cost": "-5"})),
    plain("a")
)]
#[case::ready_later(
    pod("x", |pod| pod["status"]["conditions"][0]["lastTransitionTime"] = json!("2027-01-15T07:59:59Z")),
    plain("a")
)]
#[case::restarted(
    pod("x", |pod| pod["status"]["containerStatuses"] =
        json!([{"name": "c", "image": "", "imageID": "", "ready": true, "restartCount": 3}])),
    plain("a")
)]
#[case::younger(pod("x", |pod| pod["metadata"]["creationTimestamp"] = json!("2027-01-15T07:59:59Z")), plain("a"))]
#[case::by_name(plain("x"), plain("y"))]
fn least_valuable_pod_is_deleted(#[case] victim: Arc<Pod>, #[case] other: Arc<Pod>) {
    for pods in [[Arc::clone(&victim), Arc::clone(&other)], [other, Arc::clone(&victim)]] {
        assert_eq!(plan(&set(1), &pods), Plan { create: 0, delete: vec![Arc::clone(&victim)] });
    }
}

#[test]
fn pods_on_a_crowded_node_are_deleted_first() {
    let on = |name: &str, node: &'static str| pod(name, move |pod| pod["spec"]["nodeName"] = json!(node));
    let pods = [on("a", "lonely"), on("b", "crowded"), on("c", "crowded")];
    let Plan { delete, .. } = plan(&set(2), &pods);
    assert_eq!(delete, [Arc::clone(&pods[1])]);
}

#[test]
fn deleted_set_creates_nothing() {
    let mut set = set(3);
    set.metadata.deletion_timestamp = Some(k8s_openapi::apimachinery::pkg::apis::meta::v1::Time(NOW));
    assert_eq!(plan(&set, &[]), Plan::default());
}

#[rstest]
#[case::ready_long_enough(10, Some(1), None)]
#[case::not_yet(12, None, Some(Duration::from_secs(2)))]
#[case::at_once(0, Some(1), None)]
fn pods_become_available(#[case] min_ready: i32, #[case] available: Option<i32>, #[case] wake: Option<Duration>) {
    let mut set = set(3);
    set.spec.as_mut().unwrap().min_ready_seconds = Some(min_ready);
    let other = pod("b", |pod| {
        pod["metadata"]["labels"] = json!({"other": "label"});
        pod["status"]["conditions"] = json!([]);
    });
    let pods = [plain("a"), other, pod("c", deleted), pod("d", phase("Failed"))];
    let expect = ReplicaSetStatus {
        replicas: 2,
        fully_labeled_replicas: Some(1),
        ready_replicas: Some(1),
        available_replicas: available,
        terminating_replicas: Some(1),
        observed_generation: Some(2),
        conditions: None,
    };
    assert_eq!(status(&set, &pods, None, NOW), (expect, wake));
}

#[test]
fn failures_are_reported_until_they_are_over() {
    let failure = |message: &str| Some(Failure { reason: "FailedCreate", message: message.to_owned() });
    let mut set = set(1);
    let (first, _) = status(&set, &[], failure("quota"), NOW);
    let condition = &first.conditions.as_ref().unwrap()[0];
    assert_eq!((condition.reason.as_deref(), condition.message.as_deref()), (Some("FailedCreate"), Some("quota")));
    set.status = Some(first.clone());
    let (again, _) = status(&set, &[], failure("other"), NOW);
    assert_eq!(again, first, "the first failure stays");
    assert_eq!(status(&set, &[], None, NOW).0.conditions, None);
}
