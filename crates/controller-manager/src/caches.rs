//! One cache of each kind, whoever reads it.

use std::future::{Ready, ready};
use std::time::Duration;

use kube_ambient::{Defect, has};
use kube_controller::Supervisor;
use kube_controller_client::Client;
use kube_endpoint_model::{EndpointSlice, Endpoints, Node, Pod, PodIndex, Service, ServiceIndex, SliceIndex};
use kube_informer::{Builder, HandlerHandle, Informer, Progress, RestoreSignal};
use kube_wire::Decode;
use tokio_util::sync::CancellationToken;

use crate::controllers::Controllers;
use crate::discovery::{RESOURCE, SliceApi};

/// The informers of the process. One that no controller needs is never run, and asks the server for nothing.
pub(crate) struct Caches {
    pub(crate) services: Informer<Service, ServiceIndex>,
    pub(crate) pods: Informer<Pod, PodIndex>,
    pub(crate) nodes: Informer<Node>,
    pub(crate) endpoints: Informer<Endpoints>,
    pub(crate) slices: Informer<EndpointSlice, SliceIndex>,
}

/// What health checks read of a running informer.
pub(crate) struct Cache {
    /// Plural name of the resource.
    pub(crate) resource: &'static str,
    /// Synced after the first list.
    pub(crate) synced: HandlerHandle,
    pub(crate) progress: Progress,
}

impl Caches {
    /// `min_resync_period`: how often handlers are told of everything again, at least; zero for never.
    pub(crate) fn new(
        client: &Client,
        min_resync_period: Duration,
        metrics: Option<&kube_informer::PrometheusMetrics>,
    ) -> Caches {
        // Spread, so that the kinds do not fall into step.
        let resync = || min_resync_period.mul_f64(kube_ambient::random_range(1.0..2.0));
        let restores = RestoreSignal::default();
        let builders = (client, metrics, &restores);
        Caches {
            services: builder(builders, resync()).index(ServiceIndex::default(), ServiceIndex::update).build(),
            pods: builder(builders, resync()).index(PodIndex::default(), PodIndex::update).build(),
            nodes: builder(builders, resync()).build(),
            endpoints: builder(builders, resync()).build(),
            slices: builder(builders, resync()).index(SliceIndex::default(), SliceIndex::update).build(),
        }
    }

    /// Runs the informers that the controllers need. That of slices starts once `discovery` finds them served.
    pub(crate) fn spawn(
        &self,
        supervisor: &mut Supervisor,
        controllers: Controllers,
        discovery: (Client, SliceApi),
        stop: &CancellationToken,
    ) -> Vec<Cache> {
        let Controllers { endpoints, endpointslice, mirroring } = controllers;
        let mut caches = Vec::new();
        if endpoints || endpointslice || mirroring {
            caches.push(spawn(supervisor, "services", &self.services, at_once(), stop));
        }
        if endpoints || endpointslice {
            caches.push(spawn(supervisor, "pods", &self.pods, at_once(), stop));
        }
        if endpointslice {
            caches.push(spawn(supervisor, "nodes", &self.nodes, at_once(), stop));
        }
        if endpoints || mirroring {
            caches.push(spawn(supervisor, "endpoints", &self.endpoints, at_once(), stop));
        }
        if endpointslice || mirroring {
            let stopped = stop.clone();
            let served = async move {
                let (client, api) = discovery;
                api.served(&client, &controllers.of_slices(), &stopped).await
            };
            caches.push(spawn(supervisor, RESOURCE, &self.slices, served, stop));
        }
        caches
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
    // A cache without its initial list gets that from now on.
    if is_read && !has(Defect::LeaderWithOldCaches) && cache.store_synced().has_synced() {
        cache.catch_up(client, PATIENCE).await;
    }
}

/// For an informer that need not wait.
fn at_once() -> Ready<bool> {
    ready(true)
}

/// Runs one informer, once `may_start` returns `true`.
fn spawn<T: Decode, X: Clone + Send + Sync + 'static>(
    supervisor: &mut Supervisor,
    resource: &'static str,
    informer: &Informer<T, X>,
    may_start: impl Future<Output = bool> + Send + 'static,
    stop: &CancellationToken,
) -> Cache {
    let run = informer.run(stop.clone());
    supervisor.spawn(format!("informer of {resource}"), async {
        if may_start.await {
            run.await;
        }
    });
    Cache { resource, synced: informer.store_synced(), progress: informer.progress() }
}

fn builder<T: Decode>(
    (client, metrics, restores): (&Client, Option<&kube_informer::PrometheusMetrics>, &RestoreSignal),
    resync: Duration,
) -> Builder<T> {
    let builder = Informer::builder(client.clone()).resync(resync).restores(restores.clone());
    match metrics {
        Some(metrics) => builder.metrics(metrics.clone()),
        None => builder,
    }
}
