//! Informers of the controller.

use kube_endpoint_model::{Endpoints, Pod, PodIndex, Service, ServiceIndex};
use kube_informer::Informer;

/// Informers whose caches the Endpoints controller reads.
#[derive(Debug, Clone)]
pub struct Informers {
    /// Informer of Services.
    pub services: Informer<Service, ServiceIndex>,
    /// Informer of Pods.
    pub pods: Informer<Pod, PodIndex>,
    /// Informer of Endpoints, including those that users wrote.
    pub endpoints: Informer<Endpoints>,
}
