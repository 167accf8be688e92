//! Decisions of the simulated kubelets.

use std::time::Duration;

use rstest::rstest;
use serde_json::{Value, json};
use tokio::time::Instant;

use super::*;
use crate::cluster::{Snapshot, put};

const DELAYS: Delays = Delays { ready_after: Duration::from_secs(1), stop_after: Duration::from_secs(2) };

/// Adds a Node that is `up`, `lost` or `mute` (without conditions).
fn node(cluster: &mut Snapshot, name: &str, state: &str) {
    let ready = match state {
        "up" => json!([{"type": "Ready", "status": "True"}]),
        "lost" => json!([{"type": "Ready", "status": "Unknown"}]),
        _ => json!([]),
    };
    let addresses = json!([{"type": "Hostname", "address": name}, {"type": "InternalIP", "address": "192.168.0.7"}]);
    let status = json!({"conditions": ready, "addresses": addresses});
    put(&mut cluster.nodes, json!({"metadata": {"name": name, "uid": name}, "status": status}));
}

/// Returns a Pod as created, without addresses.
fn new_pod(name: &str, node: &str) -> Value {
    json!({
        "metadata": {"name": name, "namespace": "shop", "uid": name},
        "spec": {"nodeName": node, "containers": []},
        "status": {"phase": "Pending"},
    })
}

fn running(name: &str, node: &str, ready: &str) -> Value {
    let mut pod = new_pod(name, node);
    let conditions = json!([{"type": "Ready", "status": ready}]);
    pod["status"] = json!({"phase": "Running", "podIP": "10.0.0.9", "conditions": conditions});
    pod
}

fn deleted(mut pod: Value) -> Value {
    pod["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:30Z".into();
    pod
}

/// Formats the orders, such as `start a 10.112.0.1`.
fn format_orders(decision: &decide::Decision) -> String {
    let orders = decision.orders.iter().map(|order| match order {
        Order::RegisterNode { node } => format!("register {node}"),
        Order::Bind { pod, node, .. } => format!("bind {} {node}", pod.name),
        Order::Evict { pod, .. } => format!("evict {}", pod.name),
        Order::Start { pod, addresses } => format!("start {} {}", pod.name, addresses[0]),
        Order::Report { pod, containers: false, .. } => format!("not ready {}", pod.name),
        Order::Report { pod, ready: false, .. } => format!("containers ready {}", pod.name),
        Order::Report { pod, .. } => format!("ready {}", pod.name),
        Order::Lost { pod } => format!("lost {}", pod.name),
        Order::Remove { pod, .. } => format!("remove {}", pod.name),
    });
    orders.collect::<Vec<_>>().join(", ")
}

#[rstest]
#[case::start("up", new_pod("a", "n"), "start a 10.112.0.1")]
#[case::no_node_yet("up", new_pod("a", ""), "bind a n")]
#[case::no_node_yet_and_none_up("lost", new_pod("a", ""), "")]
#[case::unknown_node("up", new_pod("a", "other"), "")]
#[case::lost_node("lost", new_pod("a", "n"), "")]
#[case::pod_with_addresses_is_left_alone("up", running("a", "n", "False"), "")]
#[case::lost("lost", running("a", "n", "True"), "lost a")]
#[case::lost_and_unready("lost", running("a", "n", "False"), "")]
#[case::stopping_begins("up", deleted(running("a", "n", "True")), "")]
#[case::stopping_on_a_lost_node("lost", deleted(running("a", "n", "True")), "lost a")]
#[case::stopping_on_a_node_that_is_gone("up", deleted(running("a", "other", "True")), "remove a")]
#[case::mute_node("mute", new_pod("a", "n"), "register n")]
fn first_decision(#[case] state: &str, #[case] pod: Value, #[case] expect: &str) {
    let mut cluster = Snapshot::default();
    node(&mut cluster, "n", state);
    put(&mut cluster.pods, pod);
    let mut kubelet = Kubelet::new(DELAYS);
    let now = Instant::now();
    assert_eq!(format_orders(&kubelet.decide(&cluster, Stopping::Proceeds, now)), expect);
    assert_eq!(
        format_orders(&kubelet.decide(&cluster, Stopping::Proceeds, now)),
        "",
        "the same order is not returned again"
    );
}

#[test]
fn pod_life_cycle() {
    let mut cluster = Snapshot::default();
    node(&mut cluster, "n", "up");
    put(&mut cluster.pods, new_pod("a", "n"));
    let (mut kubelet, begin) = (Kubelet::new(DELAYS), Instant::now());
    let mut at = |cluster: &Snapshot, stopping, millis| {
        let decision = kubelet.decide(cluster, stopping, begin + Duration::from_millis(millis));
        let wake = decision.wake.map_or_else(String::new, |wake| format!(" @{}", (wake - begin).as_millis()));
        format!("{}{wake}", format_orders(&decision))
    };
    assert_eq!(at(&cluster, Stopping::Proceeds, 0), "start a 10.112.0.1 @1000");
    put(&mut cluster.pods, running("a", "n", "False"));
    assert_eq!(at(&cluster, Stopping::Proceeds, 400), " @1000");
    assert_eq!(at(&cluster, Stopping::Proceeds, 1000), "ready a");
    put(&mut cluster.pods, running("a", "n", "True"));

    node(&mut cluster, "n", "lost");
    assert_eq!(at(&cluster, Stopping::Proceeds, 1100), "lost a");
    put(&mut cluster.pods, running("a", "n", "False"));
    node(&mut cluster, "n", "up");
    assert_eq!(at(&cluster, Stopping::Proceeds, 1200), "ready a", "the node is back");

    put(&mut cluster.pods, deleted(running("a", "n", "True")));
    assert_eq!(at(&cluster, Stopping::Paused, 2000), "");
    assert_eq!(at(&cluster, Stopping::Proceeds, 3000), " @4000");
    assert_eq!(at(&cluster, Stopping::Proceeds, 4000), "remove a");

    cluster.pods.clear();
    assert_eq!(at(&cluster, Stopping::Proceeds, 4100), "");
}

#[test]
fn pods_are_deleted_with_their_node() {
    let mut cluster = Snapshot::default();
    node(&mut cluster, "n", "up");
    put(&mut cluster.pods, running("a", "n", "True"));
    put(&mut cluster.pods, running("b", "never-created", "True"));
    let mut kubelet = Kubelet::new(DELAYS);
    let mut orders = |cluster: &Snapshot| format_orders(&kubelet.decide(cluster, Stopping::Paused, Instant::now()));
    assert_eq!(orders(&cluster), "");
    cluster.nodes.clear();
    assert_eq!(orders(&cluster), "remove a");
    assert_eq!(orders(&cluster), "", "the same order is not returned again");
}

#[test]
fn simultaneous_pods_are_spread() {
    let mut cluster = Snapshot::default();
    node(&mut cluster, "m", "up");
    node(&mut cluster, "n", "up");
    let mut kubelet = Kubelet::new(DELAYS);
    let mut orders = |cluster: &Snapshot| format_orders(&kubelet.decide(cluster, Stopping::Proceeds, Instant::now()));
    put(&mut cluster.pods, new_pod("a", ""));
    assert_eq!(orders(&cluster), "bind a m");
    put(&mut cluster.pods, new_pod("b", ""));
    assert_eq!(orders(&cluster), "bind b n", "a is bound, which the cluster does not show yet");
}

#[rstest]
#[case::no_execute("NoExecute", json!([]), "evict a")]
#[case::no_schedule("NoSchedule", json!([]), "")]
#[case::tolerated("NoExecute", json!([{"key": "k", "operator": "Exists"}]), "")]
fn taints_evict(#[case] effect: &str, #[case] tolerations: Value, #[case] expect: &str) {
    let mut cluster = Snapshot::default();
    put(
        &mut cluster.nodes,
        json!({
            "metadata": {"name": "n", "uid": "n"},
            "spec": {"taints": [{"key": "k", "effect": effect}]},
            "status": {"conditions": [{"type": "Ready", "status": "True"}]},
        }),
    );
    let mut pod = running("a", "n", "True");
    pod["spec"]["tolerations"] = tolerations;
    put(&mut cluster.pods, pod);
    let mut kubelet = Kubelet::new(DELAYS);
    let mut orders = || format_orders(&kubelet.decide(&cluster, Stopping::Proceeds, Instant::now()));
    assert_eq!(orders(), expect);
    assert_eq!(orders(), "", "the same order is not returned again");
}

#[test]
fn readiness_gates_delay_ready() {
    let gated = |mut pod: Value, status: Option<&str>| {
        pod["spec"]["readinessGates"] = json!([{"conditionType": "lb/attached"}]);
        if let Some(status) = status {
            let conditions = json!([{"type": "Ready", "status": "False"}, {"type": "lb/attached", "status": status}]);
            pod["status"]["conditions"] = conditions;
        }
        pod
    };
    let mut cluster = Snapshot::default();
    node(&mut cluster, "n", "up");
    put(&mut cluster.pods, gated(new_pod("a", "n"), None));
    let (mut kubelet, begin) = (Kubelet::new(DELAYS), Instant::now());
    let mut at = |cluster: &Snapshot, millis| {
        format_orders(&kubelet.decide(cluster, Stopping::Proceeds, begin + Duration::from_millis(millis)))
    };
    assert_eq!(at(&cluster, 0), "start a 10.112.0.1");
    put(&mut cluster.pods, gated(running("a", "n", "False"), None));
    assert_eq!(at(&cluster, 1000), "containers ready a");
    assert_eq!(at(&cluster, 1100), "", "the gate has no condition");
    put(&mut cluster.pods, gated(running("a", "n", "False"), Some("False")));
    assert_eq!(at(&cluster, 1200), "");
    put(&mut cluster.pods, gated(running("a", "n", "False"), Some("True")));
    assert_eq!(at(&cluster, 1300), "ready a");
    assert_eq!(at(&cluster, 1400), "", "the same order is not returned again");
    put(&mut cluster.pods, gated(running("a", "n", "True"), Some("Unknown")));
    assert_eq!(at(&cluster, 1500), "containers ready a");
}

#[test]
fn annotation_sets_the_result_of_the_readiness_probe() {
    let probed = |mut pod: Value, result: &str| {
        pod["metadata"]["annotations"] = json!({READY: result});
        pod
    };
    let mut cluster = Snapshot::default();
    node(&mut cluster, "n", "up");
    put(&mut cluster.pods, probed(new_pod("a", "n"), "false"));
    let (mut kubelet, begin) = (Kubelet::new(DELAYS), Instant::now());
    let mut at = |cluster: &Snapshot, millis| {
        format_orders(&kubelet.decide(cluster, Stopping::Proceeds, begin + Duration::from_millis(millis)))
    };
    assert_eq!(at(&cluster, 0), "start a 10.112.0.1");
    put(&mut cluster.pods, probed(running("a", "n", "False"), "false"));
    assert_eq!(at(&cluster, 2000), "", "the probe fails");
    put(&mut cluster.pods, probed(running("a", "n", "False"), "true"));
    assert_eq!(at(&cluster, 2100), "ready a");
    put(&mut cluster.pods, probed(running("a", "n", "True"), "false"));
    assert_eq!(at(&cluster, 2200), "not ready a");
    assert_eq!(at(&cluster, 2300), "", "the same order is not returned again");
    put(&mut cluster.pods, running("a", "n", "False"));
    assert_eq!(at(&cluster, 2400), "ready a");
}

#[test]
fn host_network_pod_has_the_address_of_its_node() {
    let mut cluster = Snapshot::default();
    node(&mut cluster, "n", "up");
    let mut pod = new_pod("a", "n");
    pod["spec"]["hostNetwork"] = true.into();
    put(&mut cluster.pods, pod);
    let decision = Kubelet::new(DELAYS).decide(&cluster, Stopping::Proceeds, Instant::now());
    assert_eq!(format_orders(&decision), "start a 192.168.0.7");
}
