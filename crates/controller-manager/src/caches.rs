//! One cache of each kind, whoever reads it.

use std::time::Duration;

use kube_controller::Supervisor;
use kube_controller_client::Client;
use kube_endpoint_model::{EndpointSlice, Endpoints, Node, Pod, PodIndex, Service, ServiceIndex, SliceIndex};
use kube_informer::{Builder, HandlerHandle, Informer};
use kube_wire::Decode;
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
    pub(crate) fn new(
        client: &Client,
        min_resync_period: Duration,
        metrics: &kube_informer::PrometheusMetrics,
    ) -> Caches {
        // Spread, so that the kinds do not fall into step.
        let resync = || min_resync_period.mul_f64(rand::random_range(1.0..2.0));
        Caches {
            services: builder(client, resync(), metrics).index(ServiceIndex::default(), ServiceIndex::update).build(),
            pods: builder(client, resync(), metrics).index(PodIndex::default(), PodIndex::update).build(),
            nodes: builder(client, resync(), metrics).build(),
            endpoints: builder(client, resync(), metrics).build(),
            slices: builder(client, resync(), metrics).index(SliceIndex::default(), SliceIndex::update).build(),
        }
    }

    /// Runs what the controllers need, and gives what tells when it has synced.
    pub(crate) fn spawn(
        &self,
        supervisor: &mut Supervisor,
        controllers: Controllers,
        stop: &CancellationToken,
    ) -> Vec<HandlerHandle> {
        let mut synced = Vec::new();
        let Controllers { endpoints, endpointslice, mirroring } = controllers;
        if endpoints || endpointslice || mirroring {
            supervisor.spawn("informer of services", self.services.run(stop.clone()));
            synced.push(self.services.store_synced());
        }
        if endpoints || endpointslice {
            supervisor.spawn("informer of pods", self.pods.run(stop.clone()));
            synced.push(self.pods.store_synced());
        }
        if endpointslice {
            supervisor.spawn("informer of nodes", self.nodes.run(stop.clone()));
            synced.push(self.nodes.store_synced());
        }
        if endpoints || mirroring {
            supervisor.spawn("informer of endpoints", self.endpoints.run(stop.clone()));
            synced.push(self.endpoints.store_synced());
        }
        if endpointslice || mirroring {
            supervisor.spawn("informer of endpointslices", self.slices.run(stop.clone()));
            synced.push(self.slices.store_synced());
        }
        synced
    }
}

/// How long a new leader waits for its watches to arrive at the state of the server before it lists what is missing.
const PATIENCE: Duration = Duration::from_millis(500);

impl Caches {
    /// Brings the caches that the controllers read up to the state that the server has now, so that a new leader sees all writes
    /// of the previous one.
    pub(crate) async fn catch_up(&self, client: &Client, controllers: Controllers) {
        let Controllers { endpoints, endpointslice, mirroring } = controllers;
        tokio::join!(
            catch_up(client, &self.services, endpoints || endpointslice || mirroring),
            catch_up(client, &self.pods, endpoints || endpointslice),
            catch_up(client, &self.nodes, endpointslice),
            catch_up(client, &self.endpoints, endpoints || mirroring),
            catch_up(client, &self.slices, endpointslice || mirroring),
        );
    }
}

async fn catch_up<T: Decode, X: Clone + Send + Sync + 'static>(client: &Client, cache: &Informer<T, X>, is_read: bool) {
    if is_read && cache.store_synced().synced().await {
        cache.catch_up(client, PATIENCE).await;
    }
}

fn builder<T: Decode>(client: &Client, resync: Duration, metrics: &kube_informer::PrometheusMetrics) -> Builder<T> {
    Informer::builder(client.clone()).resync(resync).metrics(metrics.clone())
}
