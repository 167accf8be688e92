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

/// A cluster, and its kubelets.
struct Test {
    cluster: Snapshot,
    kubelet: Kubelet,
    stopping: Stopping,
    begin: Instant,
}

impl Test {
    /// Returns a cluster with the Node `n` in a state, and this Pod.
    fn of(state: &str, pod: Value) -> Self {
        let (cluster, kubelet) = (Snapshot::default(), Kubelet::new(DELAYS));
        let mut test = Self { cluster, kubelet, stopping: Stopping::Proceeds, begin: Instant::now() };
        node(&mut test.cluster, "n", state);
        test.put(pod);
        test
    }

    fn put(&mut self, pod: Value) {
        put(&mut self.cluster.pods, pod);
    }

    fn decide(&mut self, millis: u64) -> decide::Decision {
        self.kubelet.decide(&self.cluster, self.stopping, self.begin + Duration::from_millis(millis))
    }

    /// Returns the orders at a time in milliseconds, such as `start a 10.112.0.1`.
    fn orders(&mut self, millis: u64) -> String {
        format_orders(&self.decide(millis))
    }
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
    let mut test = Test::of(state, pod);
    assert_eq!(test.orders(0), expect);
    assert_eq!(test.orders(0), "", "the same order is not returned again");
}

#[test]
fn pod_life_cycle() {
    let mut test = Test::of("up", new_pod("a", "n"));
    let at = |test: &mut Test, millis| {
        let decision = test.decide(millis);
        let wake = decision.wake.map_or_else(String::new, |wake| format!(" @{}", (wake - test.begin).as_millis()));
        format!("{}{wake}", format_orders(&decision))
    };
    assert_eq!(at(&mut test, 0), "start a 10.112.0.1 @1000");
    test.put(running("a", "n", "False"));
    assert_eq!(at(&mut test, 400), " @1000");
    assert_eq!(at(&mut test, 1000), "ready a");
    test.put(running("a", "n", "True"));

    node(&mut test.cluster, "n", "lost");
    assert_eq!(at(&mut test, 1100), "lost a");
    test.put(running("a", "n", "False"));
    node(&mut test.cluster, "n", "up");
    assert_eq!(at(&mut test, 1200), "ready a", "the node is back");

    test.put(deleted(running("a", "n", "True")));
    test.stopping = Stopping::Paused;
    assert_eq!(at(&mut test, 2000), "");
    test.stopping = Stopping::Proceeds;
    assert_eq!(at(&mut test, 3000), " @4000");
    assert_eq!(at(&mut test, 4000), "remove a");

    test.cluster.pods.clear();
    assert_eq!(at(&mut test, 4100), "");
}

#[test]
fn pods_are_deleted_with_their_node() {
    let mut test = Test::of("up", running("a", "n", "True"));
    test.put(running("b", "never-created", "True"));
    test.stopping = Stopping::Paused;
    assert_eq!(test.orders(0), "");
    test.cluster.nodes.clear();
    assert_eq!(test.orders(0), "remove a");
    assert_eq!(test.orders(0), "", "the same order is not returned again");
}

#[test]
fn simultaneous_pods_are_spread() {
    let mut test = Test::of("up", new_pod("a", ""));
    node(&mut test.cluster, "m", "up");
    assert_eq!(test.orders(0), "bind a m");
    test.put(new_pod("b", ""));
    assert_eq!(test.orders(0), "bind b n", "a is bound, which the cluster does not show yet");
}

#[rstest]
#[case::no_execute("NoExecute", json!([]), "evict a")]
#[case::no_schedule("NoSchedule", json!([]), "")]
#[case::tolerated("NoExecute", json!([{"key": "k", "operator": "Exists"}]), "")]
fn taints_evict(#[case] effect: &str, #[case] tolerations: Value, #[case] expect: &str) {
    let mut pod = running("a", "n", "True");
    pod["spec"]["tolerations"] = tolerations;
    let mut test = Test::of("up", pod);
    put(
        &mut test.cluster.nodes,
        json!({
            "metadata": {"name": "n", "uid": "n"},
            "spec": {"taints": [{"key": "k", "effect": effect}]},
            "status": {"conditions": [{"type": "Ready", "status": "True"}]},
        }),
    );
    assert_eq!(test.orders(0), expect);
    assert_eq!(test.orders(0), "", "the same order is not returned again");
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
    let mut test = Test::of("up", gated(new_pod("a", "n"), None));
    assert_eq!(test.orders(0), "start a 10.112.0.1");
    test.put(gated(running("a", "n", "False"), None));
    assert_eq!(test.orders(1000), "containers ready a");
    assert_eq!(test.orders(1100), "", "the gate has no condition");
    test.put(gated(running("a", "n", "False"), Some("False")));
    assert_eq!(test.orders(1200), "");
    test.put(gated(running("a", "n", "False"), Some("True")));
    assert_eq!(test.orders(1300), "ready a");
    assert_eq!(test.orders(1400), "", "the same order is not returned again");
    test.put(gated(running("a", "n", "True"), Some("Unknown")));
    assert_eq!(test.orders(1500), "containers ready a");
}

#[test]
fn annotation_sets_the_result_of_the_readiness_probe() {
    let probed = |mut pod: Value, result: &str| {
        pod["metadata"]["annotations"] = json!({READY: result});
        pod
    };
    let mut test = Test::of("up", probed(new_pod("a", "n"), "false"));
    assert_eq!(test.orders(0), "start a 10.112.0.1");
    test.put(probed(running("a", "n", "False"), "false"));
    assert_eq!(test.orders(2000), "", "the probe fails");
    test.put(probed(running("a", "n", "False"), "true"));
    assert_eq!(test.orders(2100), "ready a");
    test.put(probed(running("a", "n", "True"), "false"));
    assert_eq!(test.orders(2200), "not ready a");
    assert_eq!(test.orders(2300), "", "the same order is not returned again");
    test.put(running("a", "n", "False"));
    assert_eq!(test.orders(2400), "ready a");
}

#[test]
fn host_network_pod_has_the_address_of_its_node() {
    let mut pod = new_pod("a", "n");
    pod["spec"]["hostNetwork"] = true.into();
    assert_eq!(Test::of("up", pod).orders(0), "start a 192.168.0.7");
}
