//! The informers of the process: one per resource, shared by the controllers.

use std::future::{Ready, ready};
use std::time::Duration;

use futures::FutureExt as _;
use futures::future::{BoxFuture, Shared, join_all};
use kube_controller::Supervisor;
use kube_controller_client::Client;
use kube_endpoint_model::{
    EndpointSlice, Endpoints, Node, Pod, PodIndex, Service, ServiceIndex, SliceIndex, references::Written,
};
use kube_informer::{Builder, Guard, HandlerHandle, Index, Informer, Progress, RestoreSignal};
use kube_wire::Decode;
use tokio_util::sync::CancellationToken;

use crate::controllers::Controllers;
use crate::discovery::{RESOURCE, SliceApi};
use crate::held_lists::HeldLists;

/// The informers of the process. An informer that no enabled controller reads is not started and sends no requests.
#[derive(Clone)]
pub(crate) struct Caches {
    pub(crate) services: Informer<Service, ServiceIndex>,
    pub(crate) pods: Informer<Pod, PodIndex>,
    pub(crate) nodes: Informer<Node>,
    pub(crate) endpoints: Informer<Endpoints>,
    pub(crate) slices: Informer<EndpointSlice, SliceIndex>,
    /// Restores of etcd, and the caches that are behind after an outage.
    pub(crate) restores: RestoreSignal,
}

/// Returns whether `controllers` read Services, Pods, Nodes, Endpoints and EndpointSlices, in this order.
fn read_by(controllers: Controllers) -> [bool; 5] {
    let Controllers { endpoints, endpointslice, mirroring } = controllers;
    [
        endpoints || endpointslice || mirroring,
        endpoints || endpointslice,
        endpointslice,
        endpoints || mirroring,
        endpointslice || mirroring,
    ]
}

/// State of a running informer for the health checks.
pub(crate) struct Cache {
    /// Plural name of the resource.
    pub(crate) resource: &'static str,
    /// Synced once the first list is stored.
    pub(crate) synced: HandlerHandle,
    pub(crate) progress: Progress,
}

impl Caches {
    /// Builds the informers without starting them.
    ///
    /// Each resync period is drawn at random between `min_resync_period` and twice that, as upstream's
    /// `ResyncPeriod`; zero disables resyncs.
    pub(crate) fn new(
        client: &Client,
        min_resync_period: Duration,
        guard: Guard,
        metrics: Option<&kube_informer::PrometheusMetrics>,
    ) -> Caches {
        // Random, so that the informers do not resync at the same time.
        let resync = || min_resync_period.mul_f64(kube_ambient::random_range(1.0..2.0));
        let restores = RestoreSignal::default();
        let common = CommonOptions { client, metrics, restores: &restores, guard };
        Caches {
            services: common.builder(resync()).index(ServiceIndex::default()).build(),
            pods: common.builder(resync()).index(PodIndex::default()).build(),
            nodes: common.builder(resync()).build(),
            endpoints: common.builder(resync()).build(),
            slices: common.builder(resync()).index(SliceIndex::default()).build(),
            restores,
        }
    }

    /// Returns the held list of each cache.
    pub(crate) fn held_lists(&self) -> HeldLists {
        vec![
            ("services", self.services.held_list()),
            ("pods", self.pods.held_list()),
            ("nodes", self.nodes.held_list()),
            ("endpoints", self.endpoints.held_list()),
            (RESOURCE, self.slices.held_list()),
        ]
    }

    /// Starts the informers that `controllers` read. The informer of EndpointSlices starts once `discovery` finds them
    /// served.
    pub(crate) fn spawn(
        &self,
        supervisor: &mut Supervisor,
        controllers: Controllers,
        discovery: (Client, SliceApi),
        stop: &CancellationToken,
    ) -> Vec<Cache> {
        let [services, pods, nodes, endpoints, slices] = read_by(controllers);
        let mut caches = Vec::new();
        if services {
            caches.push(spawn(supervisor, "services", &self.services, start_immediately(), stop));
        }
        if pods {
            caches.push(spawn(supervisor, "pods", &self.pods, start_immediately(), stop));
        }
        if nodes {
            caches.push(spawn(supervisor, "nodes", &self.nodes, start_immediately(), stop));
        }
        if endpoints {
            caches.push(spawn(supervisor, "endpoints", &self.endpoints, start_immediately(), stop));
        }
        if slices {
            let stopped = stop.clone();
            let served = async move {
                let (client, api) = discovery;
                api.wait_until_served(&client, &controllers.slice_controllers(), &stopped).await
            };
            caches.push(spawn(supervisor, RESOURCE, &self.slices, served, stop));
        }
        caches
    }
}

/// Time that a controller waits at its start for a watch to reach the current resource version of the server before it
/// lists instead.
const CATCH_UP_TIMEOUT: Duration = Duration::from_millis(500);

/// One future per cache, which ends once the cache has the state that the server had when this was created.
pub(crate) struct CaughtUp {
    caches: Caches,
    services: CacheCaughtUp,
    pods: CacheCaughtUp,
    nodes: CacheCaughtUp,
    endpoints: CacheCaughtUp,
    slices: CacheCaughtUp,
}

type CacheCaughtUp = Shared<BoxFuture<'static, ()>>;

impl CaughtUp {
    pub(crate) fn new(caches: &Caches) -> CaughtUp {
        CaughtUp {
            caches: caches.clone(),
            services: catch_up(&caches.services),
            pods: catch_up(&caches.pods),
            nodes: catch_up(&caches.nodes),
            endpoints: catch_up(&caches.endpoints),
            slices: catch_up(&caches.slices),
        }
    }

    /// Waits for the caches that `controllers` read, so that they see all writes of the process that led before, and
    /// until the guard has compared them with what is written.
    pub(crate) fn wait(&self, controllers: Controllers) -> impl Future<Output = ()> + Send + use<> {
        let caches = [&self.services, &self.pods, &self.nodes, &self.endpoints, &self.slices];
        let read = caches.into_iter().zip(read_by(controllers)).filter(|(_, is_read)| *is_read);
        let caught_up = join_all(read.map(|(cache, _)| cache.clone()));
        let caches = self.caches.clone();
        async move {
            caught_up.await;
            caches.check_references(read_by(controllers)).await;
        }
    }
}

impl Caches {
    /// Compares these caches with the objects to which the slices and Endpoints in them refer: Services, Pods, Nodes,
    /// Endpoints and EndpointSlices.
    async fn check_references(&self, [services, pods, nodes, endpoints, slices]: [bool; 5]) {
        let stored_slices = if slices { self.slices.lister().list() } else { Vec::new() };
        let stored_endpoints = if endpoints { self.endpoints.lister().list() } else { Vec::new() };
        let written = Written { slices: &stored_slices, endpoints: &stored_endpoints };
        let mut checks = Vec::new();
        if services {
            checks.push(self.services.check_references(written.services()).boxed());
        }
        if pods {
            checks.push(self.pods.check_references(written.pods()).boxed());
        }
        if nodes {
            checks.push(self.nodes.check_references(written.nodes()).boxed());
        }
        if endpoints {
            checks.push(self.endpoints.check_references(written.endpoints()).boxed());
        }
        join_all(checks).await;
    }
}

fn catch_up<T: Decode, X: Index<T>>(cache: &Informer<T, X>) -> CacheCaughtUp {
    cache.catch_up(CATCH_UP_TIMEOUT).boxed().shared()
}

/// The `may_start` of an informer that starts at once.
fn start_immediately() -> Ready<bool> {
    ready(true)
}

/// Starts the task of one informer, which runs the informer once `may_start` returns `true`.
fn spawn<T: Decode, X: Index<T>>(
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

/// Options of all informers.
struct CommonOptions<'a> {
    client: &'a Client,
    metrics: Option<&'a kube_informer::PrometheusMetrics>,
    restores: &'a RestoreSignal,
    guard: Guard,
}

impl CommonOptions<'_> {
    fn builder<T: Decode>(&self, resync: Duration) -> Builder<T> {
        let builder = Informer::builder(self.client.clone()).resync(resync);
        let builder = builder.restores(self.restores.clone()).guard(self.guard);
        match self.metrics {
            Some(metrics) => builder.metrics(metrics.clone()),
            None => builder,
        }
    }
}
