//! One cache of each kind, whoever reads it.

use std::time::Duration;

use kube_controller::Supervisor;
use kube_controller_client::Client;
use kube_endpoint_model::{EndpointSlice, Endpoints, Node, Pod, PodIndex, Service, ServiceIndex, SliceIndex};
use kube_informer::Informer;
use tokio_util::sync::CancellationToken;

use crate::controllers::Controllers;

/// The informers of the process. One that no controller needs is never run, and asks the server for nothing.
pub(crate) struct Caches {
    pub(crate) services: Informer<Service, ServiceIndex>,
    pub(crate) pods: Informer<Pod, PodIndex>,
    pub(crate) nodes: Informer<Node>,
    pub(crate) endpoints: Informer<Endpoints>,
    pub(crate) slices: Informer<EndpointSlice, SliceIndex>,
}

impl Caches {
    /// `min_resync_period`: how often handlers are told of everything again, at least; zero for never.
    pub(crate) fn new(client: &Client, min_resync_period: Duration) -> Caches {
        // Spread, so that the kinds do not fall into step.
        let resync = || min_resync_period.mul_f64(rand::random_range(1.0..2.0));
        Caches {
            services: Informer::builder(client.clone())
                .resync(resync())
                .index(ServiceIndex::default(), ServiceIndex::update)
                .build(),
            pods: Informer::builder(client.clone())
                .resync(resync())
                .index(PodIndex::default(), PodIndex::update)
                .build(),
            nodes: Informer::builder(client.clone()).resync(resync()).build(),
            endpoints: Informer::builder(client.clone()).resync(resync()).build(),
            slices: Informer::builder(client.clone())
                .resync(resync())
                .index(SliceIndex::default(), SliceIndex::update)
                .build(),
        }
    }

    /// Runs what the controllers need.
    pub(crate) fn spawn(&self, supervisor: &mut Supervisor, controllers: Controllers, stop: &CancellationToken) {
        let Controllers { endpoints, endpointslice, mirroring } = controllers;
        if endpoints || endpointslice || mirroring {
            supervisor.spawn("informer of services", self.services.run(stop.clone()));
        }
        if endpoints || endpointslice {
            supervisor.spawn("informer of pods", self.pods.run(stop.clone()));
        }
        if endpointslice {
            supervisor.spawn("informer of nodes", self.nodes.run(stop.clone()));
        }
        if endpoints || mirroring {
            supervisor.spawn("informer of endpoints", self.endpoints.run(stop.clone()));
        }
        if endpointslice || mirroring {
            supervisor.spawn("informer of endpointslices", self.slices.run(stop.clone()));
        }
    }
}
