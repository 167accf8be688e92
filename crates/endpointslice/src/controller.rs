//! The slice controller of kube-controller-manager.
//!
//! Handlers of Services, Pods, Nodes and slices enqueue the keys of Services; a sync reconciles the slices of one
//! Service. The name of the controller in `--controllers` is `endpointslice-controller`.

mod sync;

use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::Duration;

use kube_controller::{Controller, ControllerBuilder, Metrics, SyncOptions, Urgency};
use kube_controller_client::ReviewedClient;
use kube_controller_client::events::EventRecorder;
use kube_endpoint_model::well_known::{SLICE_CONTROLLER, SLICE_CONTROLLER_NAME};
use kube_endpoint_model::{
    EndpointSlice, Listers, Node, ObjectKey, Pod, PodIndex, Service, ServiceIndex, SliceIndex, pod_change,
};
use kube_informer::{Event, Informer};
use kube_topology::TopologyCache;
use kube_wire::Object as _;
use kube_workqueue::{Queue, endpoint_slice_limiter};
use tokio::sync::Notify;

use crate::metrics::SliceMetrics;
use crate::options::Options;
use crate::reconciler::Reconciler;
use crate::slice_events::Terminating;
use crate::watch::{SLICE_CHANGE_DELAY, watch_slices};
use sync::{Syncs, failure_cause};

/// Options of the slice controller, named after the flags of kube-controller-manager.
#[derive(Clone, Copy, Debug)]
pub struct Config {
    /// `--concurrent-service-endpoint-syncs`, `--endpointslice-updates-batch-period` and `--updates-batching`. Changes of
    /// Pods are batched, and those of the zones of Nodes; the batch period is that of Pods.
    pub syncs: SyncOptions,
    /// Maximum number of endpoints that a slice is filled with: `--max-endpoints-per-slice`, 100 in
    /// kube-controller-manager.
    pub max_endpoints_per_slice: NonZeroUsize,
}

/// Informers whose caches the slice controller reads.
#[derive(Debug, Clone)]
pub struct Informers {
    /// Informer of Services.
    pub services: Informer<Service, ServiceIndex>,
    /// Informer of Pods.
    pub pods: Informer<Pod, PodIndex>,
    /// Informer of Nodes.
    pub nodes: Informer<Node>,
    /// Informer of EndpointSlices, including those of other controllers.
    pub slices: Informer<EndpointSlice, SliceIndex>,
}

/// Returns the slice controller, which reads from the caches of `informers` and writes with `client`.
///
/// A [`Client`](kube_controller_client::Client) has no [review](kube_controller_client::Review) of its writes.
/// `slices` receives the metrics of upstream's slice controller, `metrics` those of the queue and of syncs. The caller
/// starts the informers ([`Informer::run`]) and the controller ([`Controller::run`]).
pub fn endpointslice_controller(
    informers: &Informers,
    client: impl Into<ReviewedClient<EndpointSlice>>,
    recorder: EventRecorder,
    config: Config,
    slices: Arc<dyn SliceMetrics>,
    metrics: Metrics,
) -> Controller<ObjectKey> {
    let queue = Queue::builder().name("endpoint_slice").limiter(endpoint_slice_limiter());
    let controller =
        Controller::builder(SLICE_CONTROLLER_NAME, queue, metrics).concurrency(config.syncs.concurrent_syncs);
    let mut controller = controller.batching(config.syncs.batching).failure_cause(failure_cause);
    let slice_delay = SLICE_CHANGE_DELAY.max(config.syncs.batch_period);
    let options = Options::for_services(SLICE_CONTROLLER).max_endpoints_per_slice(config.max_endpoints_per_slice);
    let handler = watch_slices(&mut controller, &informers.slices, &options, Terminating::Ignored, slice_delay);
    // ES-H1: at once.
    controller.watch(&informers.services, "services", |event: &Event<Service>, keys| keys.add(event.object().key()));
    watch_pods(&mut controller, informers, config.syncs.batch_period);
    let nodes_changed = Arc::new(Notify::new());
    watch_nodes(&mut controller, informers, Arc::clone(&nodes_changed));
    let reconciler = Reconciler::builder(client, options)
        .cache(informers.slices.write_through(&handler))
        .topology_cache(TopologyCache::default())
        .events(recorder)
        .metrics(Arc::clone(&slices))
        .build();
    let syncs = Arc::new(Syncs {
        caches: Listers {
            services: Some(informers.services.lister()),
            pods: Some(informers.pods.lister()),
            nodes: Some(informers.nodes.lister()),
            slices: Some(informers.slices.lister()),
            ..Listers::default()
        },
        reconciler,
        metrics: slices,
        echo_delay: slice_delay,
        keys: controller.enqueuer(None),
    });
    let (topology, keys) = (Arc::clone(&syncs), controller.enqueuer(Some("nodes")));
    let controller = controller.background(async move {
        topology.nodes_changed();
        loop {
            nodes_changed.notified().await;
            for service in topology.nodes_changed() {
                keys.add_change(service, Urgency::Normal);
            }
        }
    });
    controller.build(move |key| {
        let syncs = Arc::clone(&syncs);
        async move { syncs.sync(&key).await }
    })
}

/// Adds a handler that enqueues the Services that a change of a Pod affects, after the batch period (ES-H2).
fn watch_pods(controller: &mut ControllerBuilder<ObjectKey>, informers: &Informers, batch_period: Duration) {
    let services = informers.services.lister();
    controller.watch(&informers.pods, "pods", move |event: &Event<Pod>, keys| {
        for service in services.read(|_, index| pod_change::services_to_sync(event.states(), index)) {
            let urgency = if service.loses_ready_endpoint { Urgency::High } else { Urgency::Normal };
            keys.add_change_after(service.key, urgency, batch_period);
        }
    });
}

/// Adds a handler that notifies `nodes_changed` when a Node is added or deleted or changes its zone or readiness, so
/// that the CPU ratios of the zones are recomputed (ES-H8, ES-H9).
fn watch_nodes(controller: &mut ControllerBuilder<ObjectKey>, informers: &Informers, nodes_changed: Arc<Notify>) {
    controller.watch(&informers.nodes, "nodes", move |event: &Event<Node>, _| match event.states() {
        (Some(old), Some(new)) if old.ready == new.ready && old.zone == new.zone => {}
        _ => nodes_changed.notify_one(),
    });
}

#[cfg(test)]
mod tests {
    use kube_controller_client::{Client, ClientOptions};
    use kube_endpoint_model::Labels;
    use kube_endpoint_model::well_known::{SERVICE_NAME_LABEL, SLICE_MANAGED_BY_LABEL};
    use kube_informer::ManualSource;
    use rstest::rstest;
    use tokio::sync::mpsc;
    use tokio::task::JoinSet;
    use tokio::time::{Instant, sleep, timeout};
    use tokio_util::sync::CancellationToken;

    use super::*;

    fn test_controller() -> ControllerBuilder<ObjectKey> {
        Controller::builder("test", Queue::builder().limiter(endpoint_slice_limiter()), Metrics::default())
    }

    /// Returns informers, and the manual sources of Services, Pods and Nodes.
    fn informers() -> (Informers, ManualSource<Service, ServiceIndex>, ManualSource<Pod, PodIndex>, ManualSource<Node>)
    {
        let (services, service_source) = ManualSource::with_index(ServiceIndex::default());
        let (pods, pod_source) = ManualSource::with_index(PodIndex::default());
        let (nodes, node_source) = ManualSource::new();
        let (slices, _) = ManualSource::with_index(SliceIndex::default());
        (Informers { services, pods, nodes, slices }, service_source, pod_source, node_source)
    }

    fn labels() -> Labels {
        [("app", "web")].into_iter().collect()
    }

    fn pod(number: usize, version: u64) -> Pod {
        Pod {
            namespace: "ns".into(),
            name: format!("p{number}").into(),
            resource_version: version.into(),
            labels: labels(),
            ready: version.is_multiple_of(2),
            ..Pod::default()
        }
    }

    #[derive(Clone, Copy, Debug)]
    enum Change {
        Add,
        Update,
        Delete,
    }

    // upstream: TestPodAddsBatching, TestPodUpdatesBatching, TestPodDeleteBatching
    #[rstest]
    #[case::no_batching(0, [200, 300, 300], 3)]
    #[case::one_batch(1_000, [200, 100, 200], 1)]
    #[case::two_batches(1_000, [200, 100, 2_000], 2)]
    #[tokio::test(start_paused = true)]
    async fn batches(
        #[case] period: u64,
        #[case] pauses: [u64; 3],
        #[case] syncs: usize,
        #[values(Change::Add, Change::Update, Change::Delete)] change: Change,
    ) {
        let (informers, services, pods, _) = informers();
        let service =
            Service { namespace: "ns".into(), name: "web".into(), selector: Some(labels()), ..Service::default() };
        services.replace([service], "1");
        let before = if matches!(change, Change::Add) { 0 } else { 3 };
        pods.replace((0..before).map(|number| pod(number, 1)), "1");
        pods.deliver();
        let mut controller = test_controller();
        watch_pods(&mut controller, &informers, Duration::from_millis(period));
        let (record, mut synced) = mpsc::unbounded_channel();
        let controller = controller.build(move |_| {
            let recorded = record.send(());
            async move { recorded }
        });
        let mut tasks = tokio::task::JoinSet::new();
        tasks.spawn(async { controller.run(CancellationToken::new()).await.expect("all caches have synced") });
        pods.deliver();
        sleep(Duration::from_secs(10)).await;
        while synced.try_recv().is_ok() {}

        for (number, pause) in pauses.into_iter().enumerate() {
            sleep(Duration::from_millis(pause)).await;
            match change {
                Change::Add | Change::Update => pods.apply(pod(number, 2)),
                Change::Delete => pods.delete(pod(number, 2)),
            }
            pods.deliver();
        }
        sleep(Duration::from_secs(10)).await;
        assert_eq!(synced.len(), syncs);
    }

    /// Sends the time of each sync.
    struct Synced(mpsc::UnboundedSender<Instant>);

    impl SliceMetrics for Synced {
        fn synced(&self, _: bool) {
            let _ = self.0.send(Instant::now());
        }
    }

    // EC-34
    #[rstest]
    #[case::no_batching(0, 1_000)]
    #[case::short_period(500, 1_000)]
    #[case::long_period(3_000, 3_000)]
    #[tokio::test(start_paused = true)]
    async fn slice_events_are_delayed_by_a_second_or_the_batch_period(#[case] period: u64, #[case] expected: u128) {
        let (informers, services, pods, nodes) = informers();
        let (slices, slice_source) = ManualSource::with_index(SliceIndex::default());
        let informers = Informers { slices, ..informers };
        // The Service does not exist, so its sync sends no request.
        let unused = kube_controller_client::Config::from_url("http://127.0.0.1:1").expect("a URL");
        let client = Client::new(&unused, ClientOptions::default()).expect("a client");
        let (recorder, _writer) = EventRecorder::new(client.clone(), "test");
        let batch_period = Duration::from_millis(period);
        let syncs = SyncOptions { concurrent_syncs: 1, batch_period, ..SyncOptions::default() };
        let config = Config { syncs, max_endpoints_per_slice: NonZeroUsize::MIN };
        let (record, mut synced) = mpsc::unbounded_channel();
        let metrics = Arc::new(Synced(record));
        let controller = endpointslice_controller(&informers, client, recorder, config, metrics, Metrics::default());
        let mut tasks = JoinSet::new();
        tasks.spawn(async { controller.run(CancellationToken::new()).await.expect("all caches have synced") });
        services.replace([], "1");
        services.deliver();
        pods.replace([], "1");
        pods.deliver();
        nodes.replace([], "1");
        nodes.deliver();
        slice_source.replace([], "1");
        slice_source.deliver();
        sleep(Duration::from_secs(10)).await;

        let mut slice = EndpointSlice::default();
        slice.metadata.namespace = "ns".into();
        slice.metadata.name = "web-1".into();
        slice.metadata.resource_version = 2.into();
        let labels = [(SERVICE_NAME_LABEL, "web"), (SLICE_MANAGED_BY_LABEL, SLICE_CONTROLLER)];
        slice.metadata.labels = labels.into_iter().collect();
        let start = Instant::now();
        slice_source.apply(slice);
        slice_source.deliver();
        let delay = (synced.recv().await.expect("a sync") - start).as_millis();
        // Timers of the runtime have a resolution of a millisecond.
        assert!((expected..=expected + expected / 10 + 1).contains(&delay), "{delay} ms");
    }

    // upstream: TestUpdateNode; ES-H8, ES-H9, EC-16
    #[tokio::test(start_paused = true)]
    async fn nodes_matter_by_zone_and_readiness() {
        let (informers, _, _, nodes) = informers();
        let changed = Arc::new(Notify::new());
        watch_nodes(&mut test_controller(), &informers, Arc::clone(&changed));
        let node = |zone: &str, ready: bool, cpu_milli: i64, version: u64| Node {
            name: "n1".into(),
            zone: zone.into(),
            ready,
            cpu_milli,
            resource_version: version.into(),
            ..Node::default()
        };
        let told = async || timeout(Duration::ZERO, changed.notified()).await.is_ok();
        nodes.replace([], "1");
        for (step, (node, expected)) in [
            (node("a", true, 1, 2), true),
            (node("a", true, 2, 3), false),
            (node("a", false, 2, 4), true),
            (node("b", false, 2, 5), true),
        ]
        .into_iter()
        .enumerate()
        {
            nodes.apply(node);
            nodes.deliver();
            assert_eq!(told().await, expected, "step {step}");
        }
        nodes.delete(node("b", false, 2, 6));
        nodes.deliver();
        assert!(told().await);
    }
}
