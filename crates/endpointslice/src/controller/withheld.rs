//! Pods and Nodes that may exist although the caches lack them.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use kube_endpoint_model::{EndpointSlice, Node, Pod, TargetRef, Text, references};

/// Pods and Nodes of one Service that the caches lack, because lists of the API server are wrong (see
/// `kube_informer::Guard`).
#[derive(Debug, Default)]
pub(super) struct Withheld {
    /// Targets of existing endpoints whose Pods are withheld: the endpoints stay.
    pub(super) pods: HashSet<TargetRef>,
    /// Stand-ins for the withheld Nodes of Pods, with the zone of existing endpoints: the Pods are not left out.
    pub(super) nodes: HashMap<Text, Arc<Node>>,
}

impl Withheld {
    /// `pods` are the Pods of the Service that the cache has.
    pub(super) fn of(
        pods: &[Arc<Pod>],
        existing: &[Arc<EndpointSlice>],
        is_withheld_pod: impl Fn(&str, &str) -> bool,
        is_withheld_node: impl Fn(&str) -> bool,
    ) -> Withheld {
        let mut withheld = Withheld::default();
        for pod in pods.iter().filter(|pod| is_withheld_node(&pod.node_name)) {
            withheld.nodes.entry(pod.node_name.clone()).or_insert_with(|| stand_in(&pod.node_name, existing));
        }
        let targets = existing.iter().flat_map(|slice| &slice.endpoints).filter_map(|it| it.target_ref.as_ref());
        let is_withheld = |target: &&TargetRef| {
            references::pod(target).is_some_and(|(key, _)| is_withheld_pod(&key.namespace, &key.name))
        };
        withheld.pods = targets.filter(is_withheld).cloned().collect();
        withheld
    }

    pub(super) fn is_empty(&self) -> bool {
        self.pods.is_empty() && self.nodes.is_empty()
    }
}

fn stand_in(name: &Text, existing: &[Arc<EndpointSlice>]) -> Arc<Node> {
    let mut endpoints = existing.iter().flat_map(|slice| &slice.endpoints);
    let zone = endpoints.find(|it| it.node_name.as_ref() == Some(name)).and_then(|it| it.zone.clone());
    Arc::new(Node { name: name.clone(), zone: zone.unwrap_or_default(), ..Node::default() })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn withheld_pods_keep_their_endpoints_and_withheld_nodes_their_zone() {
        let endpoint = |pod: &str, node: &str, zone: &str| {
            let target = json!({"kind": "Pod", "namespace": "shop", "name": pod, "uid": pod});
            json!({"addresses": ["10.0.0.1"], "nodeName": node, "zone": zone, "targetRef": target})
        };
        let endpoints = [endpoint("web-0", "n1", "a"), endpoint("web-1", "n2", "b"), endpoint("web-2", "n3", "c")];
        let slice = json!({"metadata": {"namespace": "shop"}, "addressType": "IPv4", "endpoints": endpoints});
        let existing = [Arc::new(serde_json::from_value(slice).expect("a slice"))];
        let pod = |name: &str, node: &str| {
            Arc::new(Pod { namespace: "shop".into(), name: name.into(), node_name: node.into(), ..Pod::default() })
        };
        let pods = [pod("web-1", "n2"), pod("web-2", "n3"), pod("new", "n4")];
        let withheld = Withheld::of(
            &pods,
            &existing,
            |namespace, name| (namespace, name) == ("shop", "web-0"),
            |node| ["n2", "n4"].contains(&node),
        );
        let kept: Vec<&str> = withheld.pods.iter().map(|target| &**target.name()).collect();
        assert_eq!(kept, ["web-0"]);
        let mut nodes: Vec<_> = withheld.nodes.values().map(|node| (&*node.name, &*node.zone)).collect();
        nodes.sort_unstable();
        assert_eq!(nodes, [("n2", "b"), ("n4", "")]);
    }
}
