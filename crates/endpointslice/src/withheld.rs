//! Pods and Nodes that may exist although the caches lack them.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use kube_endpoint_model::{Cluster, EndpointSlice, Node, Pod, Service, TargetRef, Text};

/// Pods and Nodes of one Service that the caches lack, because lists of the API server are wrong (see
/// `kube_informer::Guard`).
#[derive(Debug, Default)]
pub(crate) struct Withheld<'a> {
    /// Targets of existing endpoints whose Pods are withheld: the endpoints stay.
    pub(crate) pods: HashSet<&'a TargetRef>,
    /// Stand-ins for the withheld Nodes of Pods, with the zone of existing endpoints: the Pods are not left out.
    pub(crate) nodes: HashMap<Text, Arc<Node>>,
}

impl<'a> Withheld<'a> {
    /// Reads the Pods of a Service, and what of them is withheld.
    pub(crate) fn read(
        cluster: &impl Cluster,
        service: &Service,
        existing: &'a [Arc<EndpointSlice>],
    ) -> (Vec<Arc<Pod>>, Self) {
        let targets = existing.iter().flat_map(|slice| &slice.endpoints).filter_map(|it| it.target_ref.as_ref());
        let mut withheld = Withheld { pods: cluster.withheld_pods(targets), nodes: HashMap::new() };
        let pods = cluster.selected_pods(service);
        if cluster.withholds_any() {
            for pod in pods.iter().filter(|pod| cluster.withholds_node(&pod.node_name)) {
                withheld.nodes.entry(pod.node_name.clone()).or_insert_with(|| stand_in(&pod.node_name, existing));
            }
        }
        (pods, withheld)
    }

    pub(crate) fn is_empty(&self) -> bool {
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
    use std::cell::Cell;

    use kube_endpoint_model::{Labels, ObjectKey};
    use serde_json::json;

    use super::*;

    /// Lists that lack two Nodes and a Pod, which the right list brings after the read of the Pods.
    struct WrongLists {
        pods: Vec<Arc<Pod>>,
        is_corrected: Cell<bool>,
    }

    impl Cluster for WrongLists {
        fn pods(&self, _: &str, _: &Labels) -> Vec<Arc<Pod>> {
            self.is_corrected.set(true);
            self.pods.clone()
        }

        fn withholds_pod(&self, key: &ObjectKey) -> bool {
            key.to_string() == "shop/web-0" && !self.is_corrected.get()
        }

        fn withholds_node(&self, name: &str) -> bool {
            ["n2", "n4"].contains(&name)
        }

        fn withholds_any(&self) -> bool {
            true
        }
    }

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
        let pods = vec![pod("web-1", "n2"), pod("web-2", "n3"), pod("new", "n4")];
        let lists = WrongLists { pods, is_corrected: Cell::new(false) };
        let service = Service { selector: Some(Labels::default()), ..Service::default() };
        let (_, withheld) = Withheld::read(&lists, &service, &existing);
        let kept: Vec<&str> = withheld.pods.iter().map(|target| &**target.name()).collect();
        assert_eq!(kept, ["web-0"]);
        let mut nodes: Vec<_> = withheld.nodes.values().map(|node| (&*node.name, &*node.zone)).collect();
        nodes.sort_unstable();
        assert_eq!(nodes, [("n2", "b"), ("n4", "")]);
    }
}
