//! The informers of the process: one per resource, shared by the controllers.

use std::future::{Ready, ready};
use std::time::Duration;

use futures::FutureExt as _;
use futures::future::{BoxFuture, Shared, join_all};
use kube_ambient::{Defect, is_enabled};
use kube_controller::Supervisor;
use kube_controller_client::Client;
use kube_endpoint_model::{
    EndpointSlice, Endpoints, Node, Pod, PodIndex, Service, ServiceIndex, SliceIndex, membership,
};
use kube_informer::{Builder, Guard, HandlerHandle, Index, Informer, Progress, RestoreSignal};
use kube_wire::Decode;
use tokio_util::sync::CancellationToken;

use crate::controllers::Controllers;
use crate::discovery::{RESOURCE, SliceApi};
use crate::held_lists::HeldLists;
use crate::settings::GuardSettings;

/// The informers of the process. An informer that no enabled controller reads is not started and sends no requests.
pub(crate) struct Caches {
    pub(crate) services: Informer<Service, ServiceIndex>,
    pub(crate) pods: Informer<Pod, PodIndex>,
    pub(crate) nodes: Informer<Node>,
    pub(crate) endpoints: Informer<Endpoints>,
    pub(crate) slices: Informer<EndpointSlice, SliceIndex>,
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
        guard: GuardSettings,
        metrics: Option<&kube_informer::PrometheusMetrics>,
    ) -> Caches {
        // Random, so that the informers do not resync at the same time.
        let resync = || min_resync_period.mul_f64(kube_ambient::random_range(1.0..2.0));
        let restores = RestoreSignal::default();
        let builders = (client, metrics, &restores);
        Caches {
            services: builder(builders, resync(), guard.counting(|_| true)).index(ServiceIndex::default()).build(),
            pods: builder(builders, resync(), guard.counting(serves)).index(PodIndex::default()).build(),
            nodes: builder(builders, resync(), guard.counting(|_| true)).build(),
            endpoints: builder(builders, resync(), guard.counting(|_| true)).build(),
            slices: builder(builders, resync(), guard.counting(|_| true)).index(SliceIndex::default()).build(),
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
            services: catch_up(&caches.services),
            pods: catch_up(&caches.pods),
            nodes: catch_up(&caches.nodes),
            endpoints: catch_up(&caches.endpoints),
            slices: catch_up(&caches.slices),
        }
    }

    /// Waits for the caches that `controllers` read, so that they see all writes of the process that led before.
    pub(crate) fn wait(&self, controllers: Controllers) -> impl Future<Output = ()> + Send + use<> {
        let caches = [&self.services, &self.pods, &self.nodes, &self.endpoints, &self.slices];
        let read = caches.into_iter().zip(read_by(controllers)).filter(|(_, is_read)| *is_read);
        let caches = read.map(|(cache, _)| cache.clone());
        join_all(caches).map(drop)
    }
}

fn catch_up<T: Decode, X: Index<T>>(cache: &Informer<T, X>) -> CacheCaughtUp {
    if is_enabled(Defect::LeaderWithOldCaches) {
        return ready(()).boxed().shared();
    }
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

fn builder<T: Decode>(
    (client, metrics, restores): (&Client, Option<&kube_informer::PrometheusMetrics>, &RestoreSignal),
    resync: Duration,
    guard: Option<Guard<T>>,
) -> Builder<T> {
    let mut builder = Informer::builder(client.clone()).resync(resync).restores(restores.clone());
    if let Some(metrics) = metrics {
        builder = builder.metrics(metrics.clone());
    }
    match guard {
        Some(guard) => builder.guard(guard),
        None => builder,
    }
}

/// Returns whether a Pod is a ready endpoint of a Service that selects it: the Pods that the guard counts.
fn serves(pod: &Pod) -> bool {
    membership::exclusion(pod, false).is_none() && membership::unready(pod, false).is_none()
}
