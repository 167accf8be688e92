//! The caches that plans read.

use std::sync::Arc;

use kube_endpoint_model::{Cluster, Endpoints, Labels, ObjectKey, Pod, PodIndex, Service, ServiceIndex};
use kube_informer::Lister;
use kube_wire::Object as _;

use super::superfluous::Superfluous;
use super::unanswered::UnansweredWrites;

/// Listers of the informers of the controller, and what its handlers have recorded.
#[derive(Debug)]
pub(super) struct Caches {
    pub(super) services: Lister<Service, ServiceIndex>,
    pub(super) pods: Lister<Pod, PodIndex>,
    pub(super) endpoints: Lister<Endpoints>,
    pub(super) superfluous: Arc<Superfluous>,
    pub(super) unanswered: Arc<UnansweredWrites>,
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

    fn is_left_over(&self, endpoints: &Endpoints) -> bool {
        self.superfluous.contains(endpoints) || self.unanswered.may_have_created(&endpoints.key())
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
