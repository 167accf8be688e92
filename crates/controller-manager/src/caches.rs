//! The informers of the process: one per resource, shared by the controllers.

use futures::FutureExt as _;
use futures::future::{BoxFuture, Shared, join_all};
use kube_controller::{AnyInformer, Supervisor};
use kube_controller_client::Client;
use kube_endpoint_model::{
    EndpointSlice, Endpoints, Node, Pod, PodIndex, Service, ServiceIndex, SliceIndex, references::Written,
};
use kube_informer::{Builder, Informer, RestoreSignal};
use kube_wire::{Decode, Resource};
use tokio_util::sync::CancellationToken;

use crate::controllers::Controllers;
use crate::discovery::SliceApi;
use crate::held_lists::HeldLists;
use crate::history::Reports;
use crate::settings::Settings;

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

impl Caches {
    pub(crate) fn new(
        client: &Client,
        settings: &Settings,
        metrics: Option<&kube_informer::PrometheusMetrics>,
        reports: Option<&Reports>,
    ) -> Caches {
        let (restores, metrics) = (RestoreSignal::default(), (metrics, reports));
        Caches {
            services: builder(client, settings, metrics, &restores).index(ServiceIndex::default()).build(),
            pods: builder(client, settings, metrics, &restores).index(PodIndex::default()).build(),
            nodes: builder(client, settings, metrics, &restores).build(),
            endpoints: builder(client, settings, metrics, &restores).build(),
            slices: builder(client, settings, metrics, &restores).index(SliceIndex::default()).build(),
            restores,
        }
    }

    /// Returns all informers, in the order of their start.
    fn all(&self) -> [&dyn AnyInformer; 5] {
        [&self.services, &self.pods, &self.nodes, &self.endpoints, &self.slices]
    }

    /// Returns the informers that `controllers` read, in the order of their start.
    pub(crate) fn read_by(&self, controllers: &Controllers) -> impl Iterator<Item = &dyn AnyInformer> {
        let resources = controllers.reads();
        self.all().into_iter().filter(move |informer| resources.contains(&informer.resource()))
    }

    pub(crate) fn held_lists(&self) -> HeldLists {
        self.all().map(|informer| (informer.resource().plural, informer.held_list())).into()
    }

    /// Starts the informers that `controllers` read. The informer of EndpointSlices starts once `api` finds them served with
    /// `client`.
    pub(crate) fn spawn(
        &self,
        supervisor: &mut Supervisor,
        controllers: &Controllers,
        client: &Client,
        api: &SliceApi,
        stop: &CancellationToken,
    ) {
        for informer in self.read_by(controllers) {
            let (name, run) = (format!("informer of {}", informer.resource().plural), informer.run(stop.clone()));
            if informer.resource() != EndpointSlice::RESOURCE {
                supervisor.try_spawn(name, run);
                continue;
            }
            let (client, api, stop) = (client.clone(), api.clone(), stop.clone());
            let waiting = controllers.slice_controllers();
            supervisor.try_spawn(name, async move {
                if api.wait_until_served(&client, &waiting, &stop).await { run.await } else { Ok(()) }
            });
        }
    }

    /// Compares the caches of `resources` with the objects to which the slices and Endpoints in them refer.
    async fn check_references(&self, resources: &[Resource]) {
        let has = |resource: Resource| resources.contains(&resource);
        let slices = if has(EndpointSlice::RESOURCE) { self.slices.lister().list() } else { Vec::new() };
        let endpoints = if has(Endpoints::RESOURCE) { self.endpoints.lister().list() } else { Vec::new() };
        let written = Written { slices: &slices, endpoints: &endpoints };
        let checks = [
            has(Service::RESOURCE).then(|| self.services.check_references(written.services()).boxed()),
            has(Pod::RESOURCE).then(|| self.pods.check_references(written.pods()).boxed()),
            has(Node::RESOURCE).then(|| self.nodes.check_references(written.nodes()).boxed()),
            has(Endpoints::RESOURCE).then(|| self.endpoints.check_references(written.endpoints()).boxed()),
        ];
        join_all(checks.into_iter().flatten()).await;
    }
}

/// The wait of controllers, before their first sync, until their caches have the state that the server had when this was
/// created.
pub(crate) struct CaughtUp {
    caches: Caches,
    each: Vec<(Resource, Shared<BoxFuture<'static, ()>>)>,
}

impl CaughtUp {
    pub(crate) fn new(caches: &Caches) -> CaughtUp {
        let each = caches.all().map(|informer| (informer.resource(), informer.catch_up().shared()));
        CaughtUp { caches: caches.clone(), each: each.into() }
    }

    /// Waits for the caches of `resources`, so that they contain all writes of the process that led before, and until the
    /// guard has compared them with what is written.
    pub(crate) fn wait(&self, resources: Vec<Resource>) -> impl Future<Output = ()> + Send + use<> {
        let read = self.each.iter().filter(|(resource, _)| resources.contains(resource));
        let caught_up = join_all(read.map(|(_, caught_up)| caught_up.clone()));
        let caches = self.caches.clone();
        async move {
            caught_up.await;
            caches.check_references(&resources).await;
        }
    }
}

/// Returns a builder with the options of all informers. The resync period is drawn at random between `min_resync_period`
/// and twice that, as upstream's `ResyncPeriod`, so that the informers do not resync at the same time; zero disables
/// resyncs.
fn builder<T: Decode>(
    client: &Client,
    settings: &Settings,
    (metrics, reports): (Option<&kube_informer::PrometheusMetrics>, Option<&Reports>),
    restores: &RestoreSignal,
) -> Builder<T> {
    let resync = settings.min_resync_period.mul_f64(kube_ambient::random_range(1.0..2.0));
    let builder = Informer::builder(client.clone()).resync(resync);
    let builder = builder.restores(restores.clone()).guard(settings.guard);
    let Some(Reports { gaps, authors }) = reports.cloned() else {
        return match metrics {
            Some(metrics) => builder.metrics(metrics.clone()),
            None => builder,
        };
    };
    let builder = builder.observe(move |encoding, object| authors.observe(encoding, object));
    match metrics {
        Some(metrics) => builder.metrics((metrics.clone(), gaps)),
        None => builder.metrics(gaps),
    }
}

#[cfg(test)]
mod tests {
    use kube_controller_client::{ClientOptions, Config};

    use super::*;

    #[tokio::test]
    async fn every_resource_that_a_controller_reads_has_a_cache() {
        let client = Client::new(&Config::from_url("http://127.0.0.1:1").unwrap(), ClientOptions::default()).unwrap();
        let caches = Caches::new(&client, &Settings::default(), None, None);
        let resources = caches.all().map(AnyInformer::resource);
        for resource in Controllers::default().reads() {
            assert!(resources.contains(&resource), "{resource}");
        }
    }
}
