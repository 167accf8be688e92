//! The caches that plans read.

use std::sync::Arc;

use kube_endpoint_model::{Cluster, Endpoints, Labels, ObjectKey, Pod, PodIndex, Service, ServiceIndex};
use kube_informer::Lister;

/// Listers of the informers of the controller.
#[derive(Debug)]
pub(super) struct Caches {
    pub(super) services: Lister<Service, ServiceIndex>,
    pub(super) pods: Lister<Pod, PodIndex>,
    pub(super) endpoints: Lister<Endpoints>,
}

impl Cluster for Caches {
    fn service(&self, key: &ObjectKey) -> Option<Arc<Service>> {
        self.services.get(&key.namespace, &key.name)
    }

    fn pods(&self, namespace: &str, selector: &Labels) -> Vec<Arc<Pod>> {
        self.pods.read(|_, index| index.select(namespace, selector))
    }

    fn endpoints(&self, key: &ObjectKey) -> Option<Arc<Endpoints>> {
        self.endpoints.get(&key.namespace, &key.name)
    }

    fn withholds_service(&self, key: &ObjectKey) -> bool {
        self.services.is_withheld(&key.namespace, &key.name)
    }

    fn withholds_pod(&self, key: &ObjectKey) -> bool {
        self.pods.is_withheld(&key.namespace, &key.name)
    }

    fn withholds_any(&self) -> bool {
        self.pods.withholds_any()
    }
}
