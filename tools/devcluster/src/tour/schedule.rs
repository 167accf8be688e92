//! Assignment of Nodes to the user's Pods.
//!
//! There is no scheduler, so `spec.nodeName` is set before the Pods are created.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use crate::{
    cluster::{Snapshot, node_is_ready},
    manifest::Object,
};

/// Assigns each Pod without a Node to the ready Node with the fewest Pods; of several such Nodes, the first by name.
pub(super) fn assign_nodes(objects: &mut [Object], cluster: &Snapshot) {
    let ready = cluster.nodes.iter().filter(|(_, node)| node_is_ready(node) == Some(true));
    let mut load: BTreeMap<&str, usize> = ready.map(|(key, _)| (&*key.name, 0)).collect();
    for pod in cluster.pods.values() {
        let node = pod.spec.as_ref().and_then(|spec| spec.node_name.as_deref()).unwrap_or_default();
        load.entry(node).and_modify(|pods| *pods += 1);
    }
    let pods = objects.iter_mut().filter(|object| object.api_version == "v1" && object.kind == "Pod");
    for spec in pods.filter_map(unscheduled_spec) {
        let Some((node, pods)) = load.iter_mut().min_by_key(|(_, pods)| **pods) else { return };
        *pods += 1;
        spec.insert("nodeName".to_owned(), (*node).into());
    }
}

/// Returns the spec of a Pod; `None` if it has a Node already.
fn unscheduled_spec(pod: &mut Object) -> Option<&mut Map<String, Value>> {
    let Some(Value::Object(spec)) = pod.fields.get_mut("spec") else { return None };
    let node = spec.get("nodeName").and_then(Value::as_str).unwrap_or_default();
    node.is_empty().then_some(spec)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use kube_wire::ObjectKey;
    use serde_json::json;

    use super::*;
    use crate::manifest::{Syntax, objects};

    #[test]
    fn pods_are_assigned_to_the_least_loaded_node() {
        let mut cluster = Snapshot::default();
        for (name, ready) in [("m", "True"), ("n", "True"), ("o", "Unknown")] {
            let status = json!({"conditions": [{"type": "Ready", "status": ready}]});
            let node = serde_json::from_value(json!({"metadata": {"name": name}, "status": status})).unwrap();
            cluster.nodes.insert(ObjectKey::new("", name), Arc::new(node));
        }
        let pod = json!({"metadata": {"name": "z"}, "spec": {"nodeName": "m", "containers": []}});
        cluster.pods.insert(ObjectKey::new("shop", "z"), Arc::new(serde_json::from_value(pod).unwrap()));

        let text = "{apiVersion: v1, kind: Pod, metadata: {name: a}, spec: {}}\n---\n\
                    {apiVersion: v1, kind: Pod, metadata: {name: b}, spec: {nodeName: o}}\n---\n\
                    {apiVersion: v1, kind: Service, metadata: {name: s}, spec: {}}\n---\n\
                    {apiVersion: v1, kind: Pod, metadata: {name: c}, spec: {}}\n---\n\
                    {apiVersion: v1, kind: Pod, metadata: {name: d}, spec: {}}\n---\n\
                    {apiVersion: v1, kind: Pod, metadata: {name: e}}\n";
        let mut own = objects("own.yaml", Syntax::Yaml, text).unwrap();
        assign_nodes(&mut own, &cluster);
        let nodes: Vec<_> =
            own.iter().map(|it| it.fields.get("spec").and_then(|spec| spec["nodeName"].as_str())).collect();
        assert_eq!(nodes, [Some("n"), Some("o"), None, Some("m"), Some("n"), None]);
    }

    #[test]
    fn no_assignment_without_ready_nodes() {
        let text = "{apiVersion: v1, kind: Pod, metadata: {name: a}, spec: {}}";
        let mut own = objects("own.yaml", Syntax::Yaml, text).unwrap();
        let before = own.clone();
        assign_nodes(&mut own, &Snapshot::default());
        assert_eq!(own, before);
    }
}
