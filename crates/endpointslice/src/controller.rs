//! The slice controller of kube-controller-manager.
//!
//! Handlers turn changes of Services, Pods, Nodes and slices into keys of Services; a sync plans and applies the slices
//! of one Service. Its name in `--controllers` is `endpointslice-controller`.

mod sync;

use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use kube_controller::{ControllerMetrics, KeyWaker, Propagation, PropagationMetrics, RetryPolicy, Workers};
use kube_controller_client::Client;
use kube_controller_client::events::EventRecorder;
use kube_endpoint_model::well_known::SLICE_CONTROLLER;
use kube_endpoint_model::{
    Cause, Change, EndpointSlice, Node, ObjectKey, Pod, PodIndex, Service, ServiceIndex, SliceIndex, TriggerTimes,
    pod_change,
};
use kube_informer::{Event, HandlerHandle, Informer, NeverSynced, synced_before};
use kube_topology::TopologyCache;
use kube_wire::Object as _;
use kube_workqueue::{MetricsProvider, Queue, Timer, endpoint_slice_limiter};
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

use crate::metrics::SliceMetrics;
use crate::options::Options;
use crate::reconciler::Reconciler;
use crate::slice_events::Terminating;
use crate::watch::watch_slices;
use sync::Syncs;

/// How the slice controller works.
#[derive(Clone, Copy, Debug)]
pub struct Config {
    /// Services synced at once: `--concurrent-service-endpoint-syncs`.
    pub concurrent_syncs: usize,
    /// The most endpoints a slice is filled with: `--max-endpoints-per-slice`.
    pub max_endpoints_per_slice: NonZeroUsize,
    /// How long changes of Pods are gathered before their Services are synced: `--endpointslice-updates-batch-period`.
    pub batch_period: Duration,
}

/// The caches the slice controller reads.
#[derive(Debug, Clone)]
pub struct Informers {
    /// Services.
    pub services: Informer<Service, ServiceIndex>,
    /// Pods.
    pub pods: Informer<Pod, PodIndex>,
    /// Nodes.
    pub nodes: Informer<Node>,
    /// Slices, those of other controllers included.
    pub slices: Informer<EndpointSlice, SliceIndex>,
}

/// A change of a slice is acted upon no sooner than this (K-2): it is mostly the echo of a write.
const SLICE_CHANGE_DELAY: Duration = Duration::from_secs(1);

/// The slice controller; see the [module](self).
pub struct EndpointSliceController {
    queue: Queue<ObjectKey>,
    timer: Timer<ObjectKey>,
    concurrent_syncs: usize,
    syncs: Arc<Syncs>,
    nodes_changed: Arc<Notify>,
    synced: Vec<HandlerHandle>,
    metrics: Arc<dyn ControllerMetrics>,
}

/// Who is told what the controller does. Nobody by default.
#[derive(Clone)]
#[non_exhaustive]
pub struct Metrics {
    /// The metrics of its slices.
    pub slices: Arc<dyn SliceMetrics>,
    /// The metrics of its queue.
    pub queues: Option<Arc<dyn MetricsProvider>>,
    /// Metrics that upstream does not have.
    pub controller: Arc<dyn ControllerMetrics>,
    /// How long changes take to be written. Nothing is measured for nobody.
    pub propagation: Option<Arc<dyn PropagationMetrics>>,
}

impl Default for Metrics {
    fn default() -> Self {
        Metrics { slices: Arc::new(()), queues: None, controller: Arc::new(()), propagation: None }
    }
}

impl Metrics {
    /// Registers all metrics of the slice controller. Those of queues and those that upstream does not have are shared
    /// by the controllers of a process, and so registered by the caller.
    #[cfg(feature = "prometheus")]
    pub fn register(
        registry: &prometheus::Registry,
        queues: &kube_workqueue::PrometheusMetrics,
        controllers: &kube_controller::PrometheusControllers,
    ) -> prometheus::Result<Metrics> {
        Ok(Metrics {
            slices: Arc::new(crate::metrics::PrometheusMetrics::register(registry)?),
            queues: Some(Arc::new(queues.clone())),
            controller: controllers.controller(NAME),
            propagation: Some(controllers.propagation(NAME)),
        })
    }
}

/// Its name in `--controllers`.
const NAME: &str = "endpointslice-controller";

impl EndpointSliceController {
    /// A controller that hears of changes through `informers`, and writes with `client`.
    pub fn new(informers: &Informers, client: Client, recorder: EventRecorder, config: Config) -> Self {
        EndpointSliceController::with_metrics(informers, client, recorder, config, Metrics::default())
    }

    /// The same, telling `metrics` what it does.
    pub fn with_metrics(
        informers: &Informers,
        client: Client,
        recorder: EventRecorder,
        config: Config,
        metrics: Metrics,
    ) -> Self {
        let Config { concurrent_syncs, max_endpoints_per_slice, batch_period } = config;
        let queue = Queue::builder().name("endpoint_slice").limiter(endpoint_slice_limiter());
        let (queue, timer) = match metrics.queues {
            Some(provider) => queue.metrics(provider).build(),
            None => queue.build(),
        };
        let options = Options::new(SLICE_CONTROLLER).max_endpoints_per_slice(max_endpoints_per_slice);
        let propagation = Propagation::new(metrics.propagation);
        let waker = KeyWaker::new(queue.clone(), propagation.clone());
        let nodes_changed = Arc::new(Notify::new());
        let slice_delay = SLICE_CHANGE_DELAY.max(batch_period);
        let slices =
            watch_slices(&informers.slices, SLICE_CONTROLLER, Terminating::Ignored, waker.clone(), slice_delay);
        let reconciler = Reconciler::builder(client, options)
            .cache(informers.slices.write_through(&slices))
            .topology_cache(TopologyCache::default())
            .events(recorder)
            .metrics(Arc::clone(&metrics.slices))
            .build();
        let synced = vec![
            watch_services(informers, waker.clone()),
            watch_pods(informers, waker.clone(), batch_period),
            watch_nodes(informers, Arc::clone(&nodes_changed)),
            slices,
        ];
        let syncs = Arc::new(Syncs {
            services: informers.services.lister(),
            pods: informers.pods.lister(),
            nodes: informers.nodes.lister(),
            slices: informers.slices.lister(),
            reconciler,
            metrics: metrics.slices,
            echo_delay: slice_delay,
            trigger_times: Mutex::new(TriggerTimes::default()),
            waker,
            propagation,
        });
        let metrics = metrics.controller;
        EndpointSliceController { queue, timer, concurrent_syncs, syncs, nodes_changed, synced, metrics }
    }

    /// Reconciles from the time when all caches have synced until `stop` is cancelled.
    ///
    /// Errors: [`NeverSynced`] if a cache ends before it has synced; then nothing has been reconciled.
    pub async fn run(self, stop: CancellationToken) -> Result<(), NeverSynced> {
        let EndpointSliceController { queue, timer, concurrent_syncs, syncs, nodes_changed, synced, metrics } = self;
        if !synced_before(&stop, &synced).await? {
            return Ok(());
        }
        let workers =
            Workers { name: NAME, queue, timer, count: concurrent_syncs, retry: RetryPolicy::default(), metrics };
        syncs.nodes_changed();
        let topology = Arc::clone(&syncs);
        let follow_nodes = async {
            loop {
                nodes_changed.notified().await;
                for service in topology.nodes_changed() {
                    topology.waker.wake(service, || Some((Cause::Node, None)));
                }
            }
        };
        let sync = move |key| {
            let syncs = Arc::clone(&syncs);
            async move { syncs.sync(&key).await }
        };
        tokio::select! {
            biased;
            () = workers.run(stop, sync) => {}
            () = follow_nodes => {}
        }
        Ok(())
    }
}

/// Every change of a Service wakes it, at once (ES-H1).
fn watch_services(informers: &Informers, waker: KeyWaker<ObjectKey, Cause>) -> HandlerHandle {
    let handle = move |event: Event<Service>| waker.wake(event.object().key(), || event.news().map(Change::of_service));
    informers.services.add_handler(handle).named("services")
}

/// A change of a Pod wakes the Services it concerns, after the batch period (ES-H2).
fn watch_pods(informers: &Informers, waker: KeyWaker<ObjectKey, Cause>, batch_period: Duration) -> HandlerHandle {
    let services = informers.services.lister();
    let handle = move |event: Event<Pod>| {
        for service in services.read(|_, index| pod_change::woken_services(event.states(), index)) {
            waker.wake_after(service, batch_period, || event.news().map(Change::of_pod));
        }
    };
    informers.pods.add_handler(handle).named("pods")
}

/// A Node that comes, goes, or changes its zone or readiness changes the shares of the zones (ES-H8, ES-H9).
fn watch_nodes(informers: &Informers, nodes_changed: Arc<Notify>) -> HandlerHandle {
    let handle = move |event: Event<Node>| match event.states() {
        (Some(old), Some(new)) if old.ready == new.ready && old.zone == new.zone => {}
        _ => nodes_changed.notify_one(),
    };
    informers.nodes.add_handler(handle).named("nodes")
}

#[cfg(test)]
mod tests {
    use kube_endpoint_model::Labels;
    use kube_informer::ManualSource;
    use rstest::rstest;
    use tokio::time::timeout;

    use super::*;

    /// Caches fed by hand: those of Services, slices, and what is returned beside them.
    fn informers() -> (Informers, ManualSource<Service, ServiceIndex>, ManualSource<Pod, PodIndex>, ManualSource<Node>)
    {
        let (services, service_source) = ManualSource::with_index(ServiceIndex::default(), ServiceIndex::update);
        let (pods, pod_source) = ManualSource::with_index(PodIndex::default(), PodIndex::update);
        let (nodes, node_source) = ManualSource::new();
        let (slices, _) = ManualSource::with_index(SliceIndex::default(), SliceIndex::update);
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

    // upstream: TestPodAddsBatching, TestPodUpdatesBatching, TestPodDeleteBatching; EC-35
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
        let (queue, timer) = Queue::builder().limiter(endpoint_slice_limiter()).build();
        let waker = KeyWaker::new(queue.clone(), Propagation::new(None));
        let _handler = watch_pods(&informers, waker, Duration::from_millis(period));
        let mut tasks = tokio::task::JoinSet::new();
        tasks.spawn(timer.run());
        pods.deliver();
        let handed_out = async |queue: &Queue<ObjectKey>, wait: Duration| {
            let mut count = 0;
            let end = tokio::time::Instant::now() + wait;
            while let Ok(Some(_)) = tokio::time::timeout_at(end, queue.get()).await {
                count += 1;
            }
            count
        };
        let _ = handed_out(&queue, Duration::from_secs(10)).await;

        let mut count = 0;
        for (number, pause) in pauses.into_iter().enumerate() {
            count += handed_out(&queue, Duration::from_millis(pause)).await;
            match change {
                Change::Add | Change::Update => pods.apply(pod(number, 2)),
                Change::Delete => pods.delete(pod(number, 2)),
            }
            pods.deliver();
        }
        count += handed_out(&queue, Duration::from_secs(10)).await;
        assert_eq!(count, syncs);
    }

    // upstream: TestUpdateNode; ES-H8, ES-H9, EC-16
    #[tokio::test(start_paused = true)]
    async fn nodes_matter_by_zone_and_readiness() {
        let (informers, _, _, nodes) = informers();
        let changed = Arc::new(Notify::new());
        let _handler = watch_nodes(&informers, Arc::clone(&changed));
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

    #[tokio::test(start_paused = true)]
    async fn a_cache_that_stops_before_it_synced_is_an_error() {
        let (informers, services, pods, _) = informers();
        let nowhere = kube_controller_client::Config::from_url("http://127.0.0.1:1").expect("a URL");
        let client = Client::new(&nowhere, kube_controller_client::ClientOptions::default()).expect("a client");
        let (recorder, _writer) = EventRecorder::new(client.clone(), "endpoint-slice-controller");
        let max_endpoints_per_slice = NonZeroUsize::new(100).expect("not zero");
        let config = Config { concurrent_syncs: 1, max_endpoints_per_slice, batch_period: Duration::ZERO };
        let controller = EndpointSliceController::new(&informers, client, recorder, config);
        services.replace([], "1");
        services.deliver();
        pods.replace([], "1");
        pods.deliver();
        let stopped = CancellationToken::new();
        stopped.cancel();
        informers.nodes.run(stopped).await;
        let error = controller.run(CancellationToken::new()).await.unwrap_err();
        assert_eq!(error.to_string(), "the cache of manual source (nodes) stopped before it synced");
    }
}
