//! The controller: joins event handlers, queue, caches and sync.

mod sync;

use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::Duration;

use kube_controller::{Controller, FailureCause, Metrics, RetryPolicy, SyncOptions, Urgency};
use kube_controller_client::ReviewedClient;
use kube_controller_client::events::EventRecorder;
use kube_endpoint_model::well_known::MIRRORING_CONTROLLER_NAME;
use kube_endpoint_model::{EndpointSlice, Endpoints, Listers, ObjectKey, Service, ServiceIndex, SliceIndex};
use kube_endpointslice::metrics::SliceMetrics;
use kube_endpointslice::slice_events::Terminating;
use kube_endpointslice::{ApplyError, Reconciler, watch_slices};
use kube_informer::{Event, Informer};
use kube_wire::Object as _;
use kube_workqueue::{Queue, RetryLimiter, TokenBucket};

use crate::events::{endpoints_change_queues, loses_ready_address, service_change_queues};
use crate::metrics::MirroringMetrics;
use crate::plan::options;
use sync::Syncs;

/// Options of the mirroring controller: concurrency, batching, and the limit of addresses.
#[derive(Clone, Copy, Debug)]
pub struct Config {
    /// `--mirroring-concurrent-service-endpoint-syncs`, `--mirroring-endpointslice-updates-batch-period` and
    /// `--updates-batching`. The batch period is that of changes of slices, the batching that of changes of Endpoints.
    pub syncs: SyncOptions,
    /// Maximum number of addresses of a subset that are mirrored: `--mirroring-max-endpoints-per-subset`, whose default
    /// is 1,000.
    pub max_endpoints_per_subset: NonZeroUsize,
}

/// Informers whose caches the mirroring controller reads.
#[derive(Debug, Clone)]
pub struct Informers {
    /// Informer of Services.
    pub services: Informer<Service, ServiceIndex>,
    /// Informer of Endpoints, including those of the Endpoints controller.
    pub endpoints: Informer<Endpoints>,
    /// Informer of EndpointSlices, including those of other controllers.
    pub slices: Informer<EndpointSlice, SliceIndex>,
}

/// Maximum delay between two retries of a key, as upstream.
const MAX_RETRY_DELAY: Duration = Duration::from_secs(100);

/// Returns the mirroring controller, which reads the caches of `informers` and writes with `client`.
///
/// A [`Client`](kube_controller_client::Client) has no [review](kube_controller_client::Review) of its writes. The
/// caller runs the informers, the controller and the event writer of `recorder`, which gets Warning events about
/// skipped addresses. `mirroring` receives the metrics of upstream's controller, `metrics` those of the queue and of
/// syncs.
pub fn mirroring_controller(
    informers: &Informers,
    client: impl Into<ReviewedClient<EndpointSlice>>,
    recorder: EventRecorder,
    config: Config,
    mirroring: Arc<dyn MirroringMetrics>,
    metrics: Metrics,
) -> Controller<ObjectKey> {
    let limiter = RetryLimiter::new(Duration::from_secs(1), MAX_RETRY_DELAY).with_bucket(TokenBucket::new(10.0, 100));
    let queue = Queue::builder().name("endpoint_slice_mirroring").limiter(limiter);
    let mut controller = Controller::builder(MIRRORING_CONTROLLER_NAME, queue, metrics)
        .concurrency(config.syncs.concurrent_syncs)
        .batching(config.syncs.batching)
        .failure_cause(|error| error.downcast_ref().map_or(FailureCause::Key, ApplyError::failure_cause))
        .retry(RetryPolicy { slow_interval: MAX_RETRY_DELAY, ..RetryPolicy::default() });
    let options = options(config.max_endpoints_per_subset);
    // The minimum delay of the slice controller does not apply (MI-H8, EC-34).
    let slices =
        watch_slices(&mut controller, &informers.slices, &options, Terminating::Counted, config.syncs.batch_period);
    controller.watch(&informers.services, "services", |event: &Event<Service>, keys| {
        if service_change_queues(event.states()) {
            keys.add(event.object().key());
        }
    });
    controller.watch(&informers.endpoints, "endpoints", |event: &Event<Endpoints>, keys| {
        let states = event.states();
        if endpoints_change_queues(states) {
            let urgency = if loses_ready_address(states) { Urgency::High } else { Urgency::Normal };
            keys.add_change(event.object().key(), urgency);
        }
    });
    let reconciler = Reconciler::builder(client, options)
        .cache(informers.slices.write_through(&slices))
        .events(recorder)
        .metrics(Arc::clone(&mirroring) as Arc<dyn SliceMetrics>)
        .build();
    let syncs = Arc::new(Syncs {
        caches: Listers {
            services: Some(informers.services.lister()),
            endpoints: Some(informers.endpoints.lister()),
            slices: Some(informers.slices.lister()),
            ..Listers::default()
        },
        reconciler,
        max_endpoints_per_subset: config.max_endpoints_per_subset,
        metrics: mirroring,
        keys: controller.enqueuer(None),
        batch_period: config.syncs.batch_period,
    });
    controller.build(move |key| {
        let syncs = Arc::clone(&syncs);
        async move { syncs.sync(&key).await }
    })
}

#[cfg(test)]
mod tests {
    use kube_controller_client::{Client, ClientOptions};
    use kube_endpoint_model::well_known::SERVICE_NAME_LABEL;
    use kube_endpoint_model::{Address, EndpointAddress, EndpointSubset};
    use kube_informer::ManualSource;
    use rstest::rstest;
    use tokio::sync::mpsc;
    use tokio::task::JoinSet;
    use tokio::time::{Instant, sleep};
    use tokio_util::sync::CancellationToken;

    use super::*;
    use kube_controller::Batching;

    /// Sends the time of each sync.
    struct Synced(mpsc::UnboundedSender<Instant>);

    impl SliceMetrics for Synced {}

    impl MirroringMetrics for Synced {
        fn sync_duration(&self, _: Duration) {
            let _ = self.0.send(Instant::now());
        }
    }

    /// The controller on caches that the test fills; at the start, they contain one slice, `moved` of the Service `before`.
    struct Rig {
        endpoints: ManualSource<Endpoints>,
        slices: ManualSource<EndpointSlice, SliceIndex>,
        synced: mpsc::UnboundedReceiver<Instant>,
        _tasks: JoinSet<()>,
    }

    /// Starts the controller, and waits until it is idle. The Services do not exist and have no mirrored slices, so their
    /// syncs send no requests.
    async fn rig(batch_period: Duration, batching: Batching) -> Rig {
        let (services, service_source) = ManualSource::with_index(ServiceIndex::default());
        let (endpoints, endpoints_source) = ManualSource::new();
        let (slices, slice_source) = ManualSource::with_index(SliceIndex::default());
        let informers = Informers { services, endpoints, slices };
        let unused = kube_controller_client::Config::from_url("http://127.0.0.1:1").expect("a URL");
        let client = Client::new(&unused, ClientOptions::default()).expect("a client");
        let (recorder, _writer) = EventRecorder::new(client.clone(), "test");
        let max_endpoints_per_subset = NonZeroUsize::MIN;
        let syncs = SyncOptions { concurrent_syncs: 1, batch_period, batching };
        let config = Config { syncs, max_endpoints_per_subset };
        let (record, mut synced) = mpsc::unbounded_channel();
        let metrics = Arc::new(Synced(record));
        let controller = mirroring_controller(&informers, client, recorder, config, metrics, Metrics::default());
        let mut tasks = JoinSet::new();
        tasks.spawn(async { controller.run(CancellationToken::new()).await.expect("all caches have synced") });
        service_source.replace([], "1");
        service_source.deliver();
        endpoints_source.replace([], "1");
        endpoints_source.deliver();
        slice_source.replace([slice("before", 1)], "1");
        slice_source.deliver();
        sleep(Duration::from_secs(10)).await;
        assert!(synced.try_recv().is_err(), "synced before the change");
        Rig { endpoints: endpoints_source, slices: slice_source, synced, _tasks: tasks }
    }

    fn slice(service: &str, version: u64) -> EndpointSlice {
        let mut slice = EndpointSlice::default();
        slice.metadata.namespace = "ns".into();
        slice.metadata.name = "moved".into();
        slice.metadata.resource_version = version.into();
        slice.metadata.labels = [(SERVICE_NAME_LABEL, service)].into_iter().collect();
        slice
    }

    // EC-34, MI-H8
    #[rstest]
    #[case::no_batching(0)]
    #[case::batching(500)]
    #[tokio::test(start_paused = true)]
    async fn slice_events_are_delayed_by_the_batch_period_alone(#[case] period: u64) {
        let batch_period = Duration::from_millis(period);
        let mut rig = rig(batch_period, Batching::default()).await;
        let start = Instant::now();
        // A slice of another manager that moves from one Service to another enqueues both.
        rig.slices.apply(slice("after", 2));
        rig.slices.deliver();
        let delay = rig.synced.recv().await.expect("a sync") - start;
        // Timers of the runtime have a resolution of a millisecond.
        let longest = batch_period + batch_period / 10 + Duration::from_millis(1);
        assert!((batch_period..=longest).contains(&delay), "{delay:?}");
    }

    // MI-H6
    #[rstest]
    #[case::each_change(Batching::None, false, 100..=100)]
    #[case::additions(Batching::Adaptive, false, 4..=6)]
    #[case::removals(Batching::Adaptive, true, 11..=13)]
    #[tokio::test(start_paused = true)]
    async fn endpoints_that_keep_changing_are_synced_at_intervals(
        #[case] batching: Batching,
        #[case] removals: bool,
        #[case] expected: std::ops::RangeInclusive<usize>,
    ) {
        let rig = rig(Duration::ZERO, batching).await;
        for version in 1..=100_u8 {
            let last = if removals { 100 - version } else { version };
            let address = |number| EndpointAddress {
                ip: Address::new(&format!("10.0.0.{number}")),
                ..EndpointAddress::default()
            };
            let subset = EndpointSubset { addresses: (0..last).map(address).collect(), ..EndpointSubset::default() };
            let mut endpoints = Endpoints { subsets: vec![subset], ..Endpoints::default() };
            endpoints.metadata.namespace = "ns".into();
            endpoints.metadata.name = "web".into();
            endpoints.metadata.resource_version = u64::from(version).into();
            rig.endpoints.apply(endpoints);
            rig.endpoints.deliver();
            sleep(Duration::from_millis(20)).await;
        }
        sleep(Duration::from_secs(2)).await;
        assert!(expected.contains(&rig.synced.len()), "{} syncs", rig.synced.len());
    }
}
