//! Choice of a Node for each new Pod: the simulated scheduler.

use std::collections::BTreeMap;

use k8s_openapi::api::core::v1::{Node, Pod, Taint, Toleration};
use kube_wire::{Object as _, ObjectKey, Uid};

use crate::cluster::{Snapshot, node_is_ready};

/// Returns the Node of each Pod that has none: of those that are ready, schedulable, tolerated and selected by the node
/// selector, the one with the fewest Pods. Pods that fit nowhere are absent.
///
/// `bound` has the Nodes of Pods that were placed before, by UID: the cluster may not show them yet. Affinity, spread
/// constraints and resources are not considered.
pub(super) fn place(cluster: &Snapshot, bound: &BTreeMap<Uid, String>) -> BTreeMap<ObjectKey, String> {
    let mut load: BTreeMap<&str, usize> = BTreeMap::new();
    for pod in cluster.pods.values() {
        if let Some(node) = node_name(pod).or_else(|| bound.get(&pod.uid()).map(String::as_str)) {
            *load.entry(node).or_default() += 1;
        }
    }
    let mut placed: BTreeMap<ObjectKey, String> = BTreeMap::new();
    for (key, pod) in cluster.pods.iter().filter(|(_, pod)| waits(pod) && !bound.contains_key(&pod.uid())) {
        let fitting = cluster.nodes.values().filter(|node| fits(pod, node)).map(|node| node.name());
        let Some(name) = fitting.min_by_key(|name| (load.get(name).copied(), *name)) else { continue };
        *load.entry(name).or_default() += 1;
        placed.insert(key.clone(), name.to_owned());
    }
    placed
}

fn node_name(pod: &Pod) -> Option<&str> {
    pod.spec.as_ref()?.node_name.as_deref().filter(|it| !it.is_empty())
}

/// Returns whether a Pod waits for the default scheduler.
fn waits(pod: &Pod) -> bool {
    let Some(spec) = &pod.spec else { return false };
    let is_default = matches!(spec.scheduler_name.as_deref(), None | Some("" | "default-scheduler"));
    let is_gated = spec.scheduling_gates.as_ref().is_some_and(|it| !it.is_empty());
    node_name(pod).is_none() && pod.metadata.deletion_timestamp.is_none() && is_default && !is_gated
}

fn fits(pod: &Pod, node: &Node) -> bool {
    let is_schedulable = node.spec.as_ref().is_none_or(|it| it.unschedulable != Some(true));
    let label = |key: &str| node.metadata.labels.as_ref().and_then(|it| it.get(key));
    let mut selector = pod.spec.iter().flat_map(|it| it.node_selector.iter().flatten());
    node_is_ready(node) == Some(true)
        && is_schedulable
        && selector.all(|(key, value)| label(key) == Some(value))
        && !repels(node, pod, |effect| effect != "PreferNoSchedule")
}

/// Returns whether a Node has a taint with the effect `NoExecute` that a Pod does not tolerate. `tolerationSeconds` count as
/// unlimited.
pub(super) fn must_leave(pod: &Pod, node: &Node) -> bool {
    repels(node, pod, |effect| effect == "NoExecute")
}

/// Returns whether a Node has a taint with one of these effects that a Pod does not tolerate.
fn repels(node: &Node, pod: &Pod, counts: impl Fn(&str) -> bool) -> bool {
    let mut taints = node.spec.iter().flat_map(|it| it.taints.iter().flatten());
    let tolerations = || pod.spec.iter().flat_map(|it| it.tolerations.iter().flatten());
    taints.any(|taint| counts(&taint.effect) && !tolerations().any(|it| tolerates(it, taint)))
}

fn tolerates(toleration: &Toleration, taint: &Taint) -> bool {
    let matches = |ours: Option<&str>, theirs: &str| ours.unwrap_or_default().is_empty() || ours == Some(theirs);
    let exists = toleration.operator.as_deref() == Some("Exists");
    let value = taint.value.as_deref().unwrap_or_default();
    matches(toleration.effect.as_deref(), &taint.effect)
        && matches(toleration.key.as_deref(), &taint.key)
        && (exists || toleration.value.as_deref().unwrap_or_default() == value)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use rstest::rstest;
    use serde_json::{Value, json};

    use super::*;

    fn cluster(nodes: &[Value], pods: &[Value]) -> Snapshot {
        let mut cluster = Snapshot::default();
        for (number, spec) in nodes.iter().enumerate() {
            let node: Node = serde_json::from_value(json!({
                "metadata": {"name": format!("n{number}"), "labels": {"zone": format!("z{number}")}},
                "spec": spec,
                "status": {"conditions": [{"type": "Ready", "status": "True"}]},
            }))
            .unwrap();
            cluster.nodes.insert(node.key(), Arc::new(node));
        }
        for (number, spec) in pods.iter().enumerate() {
            let name = format!("p{number}");
            let metadata = json!({"name": name, "namespace": "shop", "uid": name});
            let pod: Pod = serde_json::from_value(json!({"metadata": metadata, "spec": spec})).unwrap();
            cluster.pods.insert(pod.key(), Arc::new(pod));
        }
        cluster
    }

    fn placed(cluster: &Snapshot) -> String {
        let texts: Vec<String> =
            place(cluster, &BTreeMap::new()).iter().map(|(pod, node)| format!("{}:{node}", pod.name)).collect();
        texts.join(" ")
    }

    fn free() -> Value {
        json!({"containers": []})
    }

    #[test]
    fn pods_are_spread() {
        let pods = [json!({"containers": [], "nodeName": "n1"}), free(), free(), free()];
        assert_eq!(placed(&cluster(&[json!({}), json!({})], &pods)), "p1:n0 p2:n0 p3:n1");
    }

    #[rstest]
    #[case::cordoned(json!({"unschedulable": true}), free(), "")]
    #[case::tainted(json!({"taints": [{"key": "a", "value": "1", "effect": "NoSchedule"}]}), free(), "")]
    #[case::tolerated(
        json!({"taints": [{"key": "a", "value": "1", "effect": "NoSchedule"}]}),
        json!({"containers": [], "tolerations": [{"key": "a", "value": "1"}]}),
        "p0:n0"
    )]
    #[case::every_taint_tolerated(
        json!({"taints": [{"key": "a", "effect": "NoExecute"}]}),
        json!({"containers": [], "tolerations": [{"operator": "Exists"}]}),
        "p0:n0"
    )]
    #[case::preferred(json!({"taints": [{"key": "a", "effect": "PreferNoSchedule"}]}), free(), "p0:n0")]
    #[case::selected(json!({}), json!({"containers": [], "nodeSelector": {"zone": "z0"}}), "p0:n0")]
    #[case::not_selected(json!({}), json!({"containers": [], "nodeSelector": {"zone": "z1"}}), "")]
    #[case::other_scheduler(json!({}), json!({"containers": [], "schedulerName": "mine"}), "")]
    #[case::gated(json!({}), json!({"containers": [], "schedulingGates": [{"name": "later"}]}), "")]
    fn nodes_must_fit(#[case] node: Value, #[case] pod: Value, #[case] expect: &str) {
        assert_eq!(placed(&cluster(&[node], &[pod])), expect);
    }
}
