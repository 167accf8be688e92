//! What a comparison is created from.

use std::time::Duration;

use kube_endpoint_model::{EndpointSlice, Endpoints, Node, Pod, PodIndex, Service, ServiceIndex, SliceIndex};
use kube_endpoints_explain::Settings;
use kube_informer::Informer;
use kube_lease_election::LeaseName;

/// Informers whose caches are compared with the plans: those that the controllers share.
#[derive(Clone, Debug)]
pub struct Informers {
    /// Informer of Services.
    pub services: Informer<Service, ServiceIndex>,
    /// Informer of Pods.
    pub pods: Informer<Pod, PodIndex>,
    /// Informer of Nodes.
    pub nodes: Informer<Node>,
    /// Informer of Endpoints.
    pub endpoints: Informer<Endpoints>,
    /// Informer of EndpointSlices, including those of other controllers.
    pub slices: Informer<EndpointSlice, SliceIndex>,
}

/// When a difference is a mismatch.
#[derive(Clone, Debug)]
pub struct Options {
    /// Minimum time for which a difference must last, without a change of the objects of its Service, before it is a
    /// mismatch.
    pub settle_period: Duration,
    /// Lease whose renewal shows that the writer runs. While it is not renewed, no difference becomes a mismatch. `None`: time
    /// alone decides.
    pub writer_lease: Option<LeaseName>,
    /// Period in which every Service is compared at least once.
    pub compare_period: Duration,
    /// Limits of the controllers, on which their plans depend.
    pub limits: Settings,
}
