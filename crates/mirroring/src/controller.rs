//! The controller: caches, queue, plan and API server.

mod sync;

use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::Duration;

use kube_controller::{ControllerMetrics, KeyWaker, Propagation, RetryPolicy, Workers};
use kube_controller_client::Client;
use kube_controller_client::events::EventRecorder;
use kube_endpoint_model::well_known::MIRRORING_CONTROLLER;
use kube_endpoint_model::{Cause, Change, EndpointSlice, Endpoints, ObjectKey, Service, ServiceIndex, SliceIndex};
use kube_endpointslice::metrics::SliceMetrics;
use kube_endpointslice::slice_events::Terminating;
use kube_endpointslice::{Reconciler, watch_slices};
use kube_informer::{Event, HandlerHandle, Informer, NeverSynced, synced_before};
use kube_wire::Object as _;
use kube_workqueue::{BucketLimiter, ItemExponential, MaxOf, Queue, Timer};
use tokio_util::sync::CancellationToken;

use crate::events::{endpoints_wake, service_wakes};
use crate::metrics::Metrics;
use crate::plan::options;
use sync::Syncs;

/// How the mirroring controller works.
#[derive(Clone, Copy, Debug)]
pub struct Config {
    /// Services synced at once: `--mirroring-concurrent-service-endpoint-syncs`.
    pub concurrent_syncs: usize,
    /// The most addresses of a subset that are mirrored: `--mirroring-max-endpoints-per-subset`.
    pub max_endpoints_per_subset: NonZeroUsize,
    /// How long changes of slices are gathered before their Services are synced:
    /// `--mirroring-endpointslice-updates-batch-period`. Changes of Endpoints and Services act at once.
    pub batch_period: Duration,
}

/// The caches the mirroring controller reads.
#[derive(Debug, Clone)]
pub struct Informers {
    /// Services.
    pub services: Informer<Service, ServiceIndex>,
    /// Endpoints.
    pub endpoints: Informer<Endpoints>,
    /// Slices, those of other controllers included.
    pub slices: Informer<EndpointSlice, SliceIndex>,
}

/// The longest delay between two tries.
const LONGEST_DELAY: Duration = Duration::from_secs(100);

/// The mirroring controller; see the [crate](crate).
pub struct MirroringController {
    queue: Queue<ObjectKey>,
    timer: Timer<ObjectKey>,
    concurrent_syncs: usize,
    syncs: Arc<Syncs>,
    metrics: Arc<dyn ControllerMetrics>,
    synced: Vec<HandlerHandle>,
}

/// Its name in `--controllers`.
pub(crate) const NAME: &str = "endpointslice-mirroring-controller";

impl MirroringController {
    /// A controller that hears of changes through `informers`, and writes with `client`.
    pub fn new(informers: &Informers, client: Client, recorder: EventRecorder, config: Config) -> Self {
        MirroringController::with_metrics(informers, client, recorder, config, Metrics::default())
    }

    /// The same, telling `metrics` what it does.
    pub fn with_metrics(
        informers: &Informers,
        client: Client,
        recorder: EventRecorder,
        config: Config,
        metrics: Metrics,
    ) -> Self {
        let Metrics { mirroring, queues, controller, propagation } = metrics;
        let propagation = Propagation::new(propagation);
        let Config { concurrent_syncs, max_endpoints_per_subset, batch_period } = config;
        let limiter = MaxOf::new()
            .and(ItemExponential::new(Duration::from_secs(1), LONGEST_DELAY))
            .and(BucketLimiter::new(10.0, 100));
        let queue = Queue::builder().name("endpoint_slice_mirroring").limiter(limiter);
        let (queue, timer) = match queues {
            Some(provider) => queue.metrics(provider).build(),
            None => queue.build(),
        };
        let waker = KeyWaker::new(queue.clone(), propagation.clone());
        // Without the slice controller's minimum delay (MI-H8, EC-34).
        let slices =
            watch_slices(&informers.slices, MIRRORING_CONTROLLER, Terminating::Counted, waker.clone(), batch_period);
        let reconciler = Reconciler::builder(client, options(max_endpoints_per_subset))
            .cache(informers.slices.write_through(&slices))
            .metrics(Arc::clone(&mirroring) as Arc<dyn SliceMetrics>)
            .build();
        let synced = vec![watch_services(informers, waker.clone()), watch_endpoints(informers, waker), slices];
        let syncs = Arc::new(Syncs {
            services: informers.services.lister(),
            endpoints: informers.endpoints.lister(),
            slices: informers.slices.lister(),
            reconciler,
            recorder,
            max_endpoints_per_subset,
            metrics: mirroring,
            propagation,
        });
        MirroringController { queue, timer, concurrent_syncs, syncs, metrics: controller, synced }
    }

    /// Reconciles from the time when all caches have synced until `stop` is cancelled.
    ///
    /// Errors: [`NeverSynced`] if a cache ends before it has synced; then nothing has been reconciled.
    pub async fn run(self, stop: CancellationToken) -> Result<(), NeverSynced> {
        let MirroringController { queue, timer, concurrent_syncs, syncs, metrics, synced } = self;
        if !synced_before(&stop, &synced).await? {
            return Ok(());
        }
        let workers = Workers {
            name: NAME,
            queue,
            timer,
            count: concurrent_syncs,
            retry: RetryPolicy { slowest: LONGEST_DELAY, ..RetryPolicy::default() },
            metrics,
        };
        let sync = move |key| {
            let syncs = Arc::clone(&syncs);
            async move { syncs.sync(&key).await }
        };
        workers.run(stop, sync).await;
        Ok(())
    }
}

fn watch_services(informers: &Informers, waker: KeyWaker<ObjectKey, Cause>) -> HandlerHandle {
    let handle = move |event: Event<Service>| {
        if service_wakes(event.states()) {
            waker.wake(event.object().key(), || event.news().map(Change::of_service));
        }
    };
    informers.services.add_handler(handle).named("services")
}

fn watch_endpoints(informers: &Informers, waker: KeyWaker<ObjectKey, Cause>) -> HandlerHandle {
    let handle = move |event: Event<Endpoints>| {
        if endpoints_wake(event.states()) {
            waker.wake(event.object().key(), || event.news().map(Change::of_endpoints));
        }
    };
    informers.endpoints.add_handler(handle).named("endpoints")
}

#[cfg(test)]
mod tests {
    use kube_controller_client::ClientOptions;
    use kube_informer::ManualSource;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_cache_that_stops_before_it_synced_is_an_error() {
        let (services, service_source) = ManualSource::with_index(ServiceIndex::default(), ServiceIndex::update);
        let (endpoints, _) = ManualSource::new();
        let (slices, _) = ManualSource::with_index(SliceIndex::default(), SliceIndex::update);
        let informers = Informers { services, endpoints, slices };
        let nowhere = kube_controller_client::Config::from_url("http://127.0.0.1:1").expect("a URL");
        let client = Client::new(&nowhere, ClientOptions::default()).expect("a client");
        let (recorder, _writer) = EventRecorder::new(client.clone(), "endpoint-slice-mirroring-controller");
        let max_endpoints_per_subset = NonZeroUsize::new(1000).expect("not zero");
        let config = Config { concurrent_syncs: 1, max_endpoints_per_subset, batch_period: Duration::ZERO };
        let controller = MirroringController::new(&informers, client, recorder, config);
        service_source.replace([], "1");
        service_source.deliver();
        let stopped = CancellationToken::new();
        stopped.cancel();
        informers.endpoints.run(stopped).await;
        let error = controller.run(CancellationToken::new()).await.unwrap_err();
        assert_eq!(error.to_string(), "the cache of manual source (endpoints) stopped before it synced");
    }
}
