//! Plans and statuses of `ReplicaSet`s.

use std::sync::Arc;

use k8s_openapi::{api::apps::v1::ReplicaSetStatus, apimachinery::pkg::apis::meta::v1::Time};
use rstest::rstest;
use serde_json::{Value, json};

use super::plan::{Plan, plan, status};
use crate::workloads::objects::{Pod, ReplicaSet};

const CREATED: &str = "2027-01-15T07:59:50Z";

fn set(replicas: i32) -> ReplicaSet {
    let template = json!({"metadata": {"labels": {"app": "web"}}, "spec": {"containers": []}});
    let spec = json!({"replicas": replicas, "selector": {"matchLabels": {"app": "web"}}, "template": template});
    serde_json::from_value(json!({"metadata": {"name": "web", "uid": "s", "generation": 2}, "spec": spec})).unwrap()
}

/// Returns a Pod that is ready, changed by a closure.
fn pod(name: &str, change: impl FnOnce(&mut Value)) -> Arc<Pod> {
    let mut pod = json!({
        "metadata": {"name": name, "creationTimestamp": CREATED},
        "spec": {"nodeName": "n", "containers": []},
        "status": {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]},
    });
    change(&mut pod);
    Arc::new(serde_json::from_value(pod).unwrap())
}

fn plain(name: &str) -> Arc<Pod> {
    pod(name, |_| {})
}

fn deleted(pod: &mut Value) {
    pod["metadata"]["deletionTimestamp"] = json!(CREATED);
}

fn failed(pod: &mut Value) {
    pod["status"]["phase"] = json!("Failed");
}

fn unready(pod: &mut Value) {
    pod["status"]["conditions"] = json!([]);
}

#[rstest]
#[case::none(3, vec![], 3)]
#[case::some(3, vec![plain("a")], 2)]
#[case::enough(1, vec![plain("a")], 0)]
#[case::terminating(2, vec![plain("a"), pod("b", deleted)], 1)]
#[case::failed(2, vec![plain("a"), pod("b", failed)], 1)]
fn missing_pods_are_created(#[case] replicas: i32, #[case] pods: Vec<Arc<Pod>>, #[case] expect: usize) {
    assert_eq!(plan(&set(replicas), &pods), Plan { create: expect, delete: Vec::new() });
}

/// Of two Pods, the one named `x` is deleted, whatever the order.
#[rstest]
#[case::without_a_node(pod("x", |pod| pod["spec"] = json!({"containers": []})), pod("a", unready))]
#[case::not_ready(pod("x", unready), plain("a"))]
#[case::younger(pod("x", |pod| pod["metadata"]["creationTimestamp"] = json!("2027-01-15T07:59:59Z")), plain("a"))]
#[case::by_name(plain("x"), plain("y"))]
fn least_valuable_pod_is_deleted(#[case] victim: Arc<Pod>, #[case] other: Arc<Pod>) {
    for pods in [[Arc::clone(&victim), Arc::clone(&other)], [other, Arc::clone(&victim)]] {
        assert_eq!(plan(&set(1), &pods), Plan { create: 0, delete: vec![Arc::clone(&victim)] });
    }
}

#[test]
fn deleted_set_creates_nothing() {
    let mut set = set(3);
    set.metadata.deletion_timestamp = Some(Time(CREATED.parse().unwrap()));
    assert_eq!(plan(&set, &[]), Plan::default());
}

#[test]
fn status_counts_active_pods() {
    let pods = [plain("a"), pod("b", unready), pod("c", deleted), pod("d", failed)];
    let expect = ReplicaSetStatus {
        replicas: 2,
        ready_replicas: Some(1),
        available_replicas: Some(1),
        observed_generation: Some(2),
        ..ReplicaSetStatus::default()
    };
    assert_eq!(status(&set(3), &pods), expect);
}
