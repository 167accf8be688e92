//! Choice of a Node for each new Pod: the simulated scheduler.

use std::collections::BTreeMap;

use kube_wire::{Dynamic, Object as _, ObjectKey, Uid};
use serde_json::Value;

use crate::cluster::{Snapshot, list, node_is_ready, text};

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

fn node_name(pod: &Dynamic) -> Option<&str> {
    pod.value["spec"]["nodeName"].as_str().filter(|it| !it.is_empty())
}

/// Returns whether a Pod waits for the default scheduler.
fn waits(pod: &Dynamic) -> bool {
    let (metadata, spec) = (&pod.value["metadata"], &pod.value["spec"]);
    let is_default = matches!(text(&spec["schedulerName"]), "" | "default-scheduler");
    let is_gated = list(&spec["schedulingGates"]).next().is_some();
    node_name(pod).is_none() && metadata["deletionTimestamp"].is_null() && is_default && !is_gated
}

fn fits(pod: &Dynamic, node: &Dynamic) -> bool {
    let labels = &node.value["metadata"]["labels"];
    let mut selector = pod.value["spec"]["nodeSelector"].as_object().into_iter().flatten();
    node_is_ready(node) == Some(true)
        && node.value["spec"]["unschedulable"] != true
        && selector.all(|(key, value)| labels.get(key) == Some(value))
        && !repels(node, pod, |effect| effect != "PreferNoSchedule")
}

/// Returns whether a Node has a taint with the effect `NoExecute` that a Pod does not tolerate. `tolerationSeconds` count as
/// unlimited.
pub(super) fn must_leave(pod: &Dynamic, node: &Dynamic) -> bool {
    repels(node, pod, |effect| effect == "NoExecute")
}

/// Returns whether a Node has a taint with one of these effects that a Pod does not tolerate.
fn repels(node: &Dynamic, pod: &Dynamic, counts: impl Fn(&str) -> bool) -> bool {
    let tolerations = || list(&pod.value["spec"]["tolerations"]);
    let mut taints = list(&node.value["spec"]["taints"]).filter(|taint| counts(text(&taint["effect"])));
    taints.any(|taint| !tolerations().any(|it| tolerates(it, taint)))
}

fn tolerates(toleration: &Value, taint: &Value) -> bool {
    let is_equal = |field: &str| text(&toleration[field]) == text(&taint[field]);
    let matches = |field: &str| text(&toleration[field]).is_empty() || is_equal(field);
    matches("effect") && matches("key") && (toleration["operator"] == "Exists" || is_equal("value"))
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use serde_json::json;

    use super::*;
    use crate::cluster::put;

    fn cluster(nodes: &[Value], pods: &[Value]) -> Snapshot {
        let mut cluster = Snapshot::default();
        for (number, spec) in nodes.iter().enumerate() {
            let node = json!({
                "metadata": {"name": format!("n{number}"), "labels": {"zone": format!("z{number}")}},
                "spec": spec,
                "status": {"conditions": [{"type": "Ready", "status": "True"}]},
            });
            put(&mut cluster.nodes, node);
        }
        for (number, spec) in pods.iter().enumerate() {
            let name = format!("p{number}");
            let metadata = json!({"name": name, "namespace": "shop", "uid": name});
            put(&mut cluster.pods, json!({"metadata": metadata, "spec": spec}));
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
