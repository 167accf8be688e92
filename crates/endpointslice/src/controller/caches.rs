//! The caches that plans read.

use std::sync::Arc;

use kube_endpoint_model::{
    Cluster, EndpointSlice, Labels, Node, ObjectKey, Pod, PodIndex, Service, ServiceIndex, SliceIndex,
};
use kube_informer::Lister;

/// Listers of the informers of the controller.
#[derive(Debug)]
pub(super) struct Caches {
    pub(super) services: Lister<Service, ServiceIndex>,
    pub(super) pods: Lister<Pod, PodIndex>,
    pub(super) nodes: Lister<Node>,
    pub(super) slices: Lister<EndpointSlice, SliceIndex>,
}

impl Cluster for Caches {
    fn service(&self, key: &ObjectKey) -> Option<Arc<Service>> {
        self.services.get(&key.namespace, &key.name)
    }

    fn pods(&self, namespace: &str, selector: &Labels) -> Vec<Arc<Pod>> {
        self.pods.read(|_, index| index.select(namespace, selector))
    }

    fn node(&self, name: &str) -> Option<Arc<Node>> {
        self.nodes.get("", name)
    }

    fn with_nodes<R>(&self, f: impl FnOnce(&dyn Fn(&str) -> Option<Arc<Node>>) -> R) -> R {
        self.nodes.read(|nodes, ()| f(&|name| nodes.get("", name).cloned()))
    }

    fn slices(&self, key: &ObjectKey, manager: &str) -> Vec<Arc<EndpointSlice>> {
        self.slices.read(|_, index| index.managed_slices(&key.namespace, &key.name, manager))
    }

    fn withholds_service(&self, key: &ObjectKey) -> bool {
        self.services.is_withheld(&key.namespace, &key.name)
    }

    fn withholds_pod(&self, key: &ObjectKey) -> bool {
        self.pods.is_withheld(&key.namespace, &key.name)
    }

    fn withholds_node(&self, name: &str) -> bool {
        self.nodes.is_withheld("", name)
    }

    fn withholds_any(&self) -> bool {
        self.pods.withholds_any() || self.nodes.withholds_any()
    }
}
