//! The caches that plans read.

use std::sync::Arc;

use kube_endpoint_model::{Cluster, EndpointSlice, Endpoints, ObjectKey, Service, ServiceIndex, SliceIndex};
use kube_informer::Lister;

/// Listers of the informers of the controller.
#[derive(Debug)]
pub(super) struct Caches {
    pub(super) services: Lister<Service, ServiceIndex>,
    pub(super) endpoints: Lister<Endpoints>,
    pub(super) slices: Lister<EndpointSlice, SliceIndex>,
}

impl Cluster for Caches {
    fn service(&self, key: &ObjectKey) -> Option<Arc<Service>> {
        self.services.get(&key.namespace, &key.name)
    }

    fn endpoints(&self, key: &ObjectKey) -> Option<Arc<Endpoints>> {
        self.endpoints.get(&key.namespace, &key.name)
    }

    fn slices(&self, key: &ObjectKey, manager: &str) -> Vec<Arc<EndpointSlice>> {
        self.slices.read(|_, index| index.managed_slices(&key.namespace, &key.name, manager))
    }

    fn withholds_service(&self, key: &ObjectKey) -> bool {
        self.services.is_withheld(&key.namespace, &key.name)
    }

    fn withholds_endpoints(&self, key: &ObjectKey) -> bool {
        self.endpoints.is_withheld(&key.namespace, &key.name)
    }
}
