//! The controller: joins event handlers, queue, caches and sync.

mod sync;

use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::Duration;

use kube_controller::{Controller, Metrics, RetryPolicy};
use kube_controller_client::Client;
use kube_controller_client::events::EventRecorder;
use kube_endpoint_model::well_known::MIRRORING_CONTROLLER;
use kube_endpoint_model::{EndpointSlice, Endpoints, ObjectKey, Service, ServiceIndex, SliceIndex};
use kube_endpointslice::metrics::SliceMetrics;
use kube_endpointslice::slice_events::Terminating;
use kube_endpointslice::{Reconciler, watch_slices};
use kube_informer::{Event, Informer};
use kube_wire::Object as _;
use kube_workqueue::{BucketLimiter, ItemExponential, MaxOf, Queue};

use crate::events::{endpoints_change_queues, service_change_queues};
use crate::metrics::MirroringMetrics;
use crate::plan::options;
use sync::Syncs;

/// Options of the mirroring controller.
#[derive(Clone, Copy, Debug)]
pub struct Config {
    /// Number of Services that are synced at once: `--mirroring-concurrent-service-endpoint-syncs`.
    pub concurrent_syncs: usize,
    /// Maximum number of addresses of a subset that are mirrored: `--mirroring-max-endpoints-per-subset`.
    pub max_endpoints_per_subset: NonZeroUsize,
    /// Delay between a change of a slice and the sync of its Service, which batches further changes:
    /// `--mirroring-endpointslice-updates-batch-period`. Changes of Endpoints and Services have no delay.
    pub batch_period: Duration,
}

/// Caches that the mirroring controller reads.
#[derive(Debug, Clone)]
pub struct Informers {
    /// Services.
    pub services: Informer<Service, ServiceIndex>,
    /// Endpoints.
    pub endpoints: Informer<Endpoints>,
    /// EndpointSlices, including those of other controllers.
    pub slices: Informer<EndpointSlice, SliceIndex>,
}

/// Maximum delay between two retries of a key, as upstream.
const MAX_RETRY_DELAY: Duration = Duration::from_secs(100);

/// Name in `--controllers`, logs and metrics.
const NAME: &str = "endpointslice-mirroring-controller";

/// Returns the mirroring controller, which reads the caches of `informers` and writes with `client`.
///
/// The caller runs the informers and the controller. `mirroring` receives the metrics of upstream's controller,
/// `metrics` those of the queue and of syncs. Warning events about skipped addresses go to `recorder`.
pub fn mirroring_controller(
    informers: &Informers,
    client: Client,
    recorder: EventRecorder,
    config: Config,
    mirroring: Arc<dyn MirroringMetrics>,
    metrics: Metrics,
) -> Controller<ObjectKey> {
    let limiter = MaxOf::new()
        .and(ItemExponential::new(Duration::from_secs(1), MAX_RETRY_DELAY))
        .and(BucketLimiter::new(10.0, 100));
    let queue = Queue::builder().name("endpoint_slice_mirroring").limiter(limiter);
    let mut controller = Controller::builder(NAME, queue, metrics)
        .concurrency(config.concurrent_syncs)
        .retry(RetryPolicy { slow_interval: MAX_RETRY_DELAY, ..RetryPolicy::default() });
    // The minimum delay of the slice controller does not apply (MI-H8, EC-34).
    let slices = watch_slices(
        &mut controller,
        &informers.slices,
        MIRRORING_CONTROLLER,
        Terminating::Counted,
        config.batch_period,
    );
    controller.watch(&informers.services, "services", |event: &Event<Service>, keys| {
        if service_change_queues(event.states()) {
            keys.add(event.object().key());
        }
    });
    controller.watch(&informers.endpoints, "endpoints", |event: &Event<Endpoints>, keys| {
        if endpoints_change_queues(event.states()) {
            keys.add(event.object().key());
        }
    });
    let reconciler = Reconciler::builder(client, options(config.max_endpoints_per_subset))
        .cache(informers.slices.write_through(&slices))
        .metrics(Arc::clone(&mirroring) as Arc<dyn SliceMetrics>)
        .build();
    let syncs = Arc::new(Syncs {
        services: informers.services.lister(),
        endpoints: informers.endpoints.lister(),
        slices: informers.slices.lister(),
        reconciler,
        recorder,
        max_endpoints_per_subset: config.max_endpoints_per_subset,
        metrics: mirroring,
        keys: controller.enqueuer(None),
        batch_period: config.batch_period,
    });
    controller.build(move |key| {
        let syncs = Arc::clone(&syncs);
        async move { syncs.sync(&key).await }
    })
}
