//! The caches that plans read.

use std::sync::Arc;

use kube_informer::Lister;

use crate::{
    Cluster, EndpointSlice, Endpoints, Labels, Node, ObjectKey, Pod, PodIndex, Service, ServiceIndex, SliceIndex,
};

/// Listers of the informers of a controller, as the [`Cluster`] that its plans read. Without a lister, there are no objects
/// of its kind.
#[derive(Debug, Default)]
#[expect(missing_docs, reason = "each field is named after its kind")]
pub struct Listers {
    pub services: Option<Lister<Service, ServiceIndex>>,
    pub pods: Option<Lister<Pod, PodIndex>>,
    pub nodes: Option<Lister<Node>>,
    pub endpoints: Option<Lister<Endpoints>>,
    pub slices: Option<Lister<EndpointSlice, SliceIndex>>,
}

impl Cluster for Listers {
    fn service(&self, key: &ObjectKey) -> Option<Arc<Service>> {
        self.services.as_ref()?.get(&key.namespace, &key.name)
    }

    fn pods(&self, namespace: &str, selector: &Labels) -> Vec<Arc<Pod>> {
        let select = |pods: &Lister<Pod, PodIndex>| pods.read(|_, index| index.select(namespace, selector));
        self.pods.as_ref().map(select).unwrap_or_default()
    }

    fn node(&self, name: &str) -> Option<Arc<Node>> {
        self.nodes.as_ref()?.get("", name)
    }

    fn with_nodes<R>(&self, f: impl FnOnce(&dyn Fn(&str) -> Option<Arc<Node>>) -> R) -> R {
        match &self.nodes {
            Some(nodes) => nodes.read(|nodes, ()| f(&|name| nodes.get("", name).cloned())),
            None => f(&|_| None),
        }
    }

    fn endpoints(&self, key: &ObjectKey) -> Option<Arc<Endpoints>> {
        self.endpoints.as_ref()?.get(&key.namespace, &key.name)
    }

    fn slices(&self, key: &ObjectKey, manager: &str) -> Vec<Arc<EndpointSlice>> {
        let managed = |slices: &Lister<EndpointSlice, SliceIndex>| {
            slices.read(|_, index| index.managed_slices(&key.namespace, &key.name, manager))
        };
        self.slices.as_ref().map(managed).unwrap_or_default()
    }

    fn withholds_service(&self, key: &ObjectKey) -> bool {
        self.services.as_ref().is_some_and(|services| services.is_withheld(&key.namespace, &key.name))
    }

    fn withholds_endpoints(&self, key: &ObjectKey) -> bool {
        self.endpoints.as_ref().is_some_and(|endpoints| endpoints.is_withheld(&key.namespace, &key.name))
    }

    fn withholds_pod(&self, key: &ObjectKey) -> bool {
        self.pods.as_ref().is_some_and(|pods| pods.is_withheld(&key.namespace, &key.name))
    }

    fn withholds_node(&self, name: &str) -> bool {
        self.nodes.as_ref().is_some_and(|nodes| nodes.is_withheld("", name))
    }

    fn withholds_any(&self) -> bool {
        self.pods.as_ref().is_some_and(Lister::withholds_any) || self.nodes.as_ref().is_some_and(Lister::withholds_any)
    }
}
