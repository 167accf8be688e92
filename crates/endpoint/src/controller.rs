//! The controller: caches, queue, plan and API server.

#[cfg(feature = "defects")]
mod stale;
mod sync;
mod unanswered;
mod watches;

use std::sync::{Arc, Mutex};
use std::time::Duration;

use kube_controller::{ControllerMetrics, KeyWaker, Propagation, PropagationMetrics, RetryPolicy, Workers};
use kube_controller_client::Client;
use kube_controller_client::events::EventRecorder;
use kube_endpoint_model::well_known::LEADER_ANNOTATION;
use kube_endpoint_model::{Endpoints, ObjectKey, Pod, PodIndex, Service, ServiceIndex, TriggerTimes};
use kube_informer::{HandlerHandle, Informer, NeverSynced, synced_before};
use kube_wire::Object as _;
use kube_workqueue::{MetricsProvider, Queue, Timer, default_controller_limiter};
use tokio_util::sync::CancellationToken;

use crate::legacy::Legacy;
use sync::Reconciler;
use unanswered::Unanswered;
use watches::{watch_endpoints, watch_pods, watch_services};

/// How the Endpoints controller works.
#[derive(Clone, Copy, Debug)]
pub struct Config {
    /// Services synced at once: `--concurrent-endpoint-syncs`.
    pub concurrent_syncs: usize,
    /// How long changes of Pods are gathered before their Services are synced: `--endpoint-updates-batch-period`.
    pub batch_period: Duration,
    /// The rules of older generations that hold: feature gates.
    pub legacy: Legacy,
}

/// The caches the Endpoints controller reads.
#[derive(Debug, Clone)]
pub struct Informers {
    /// Services.
    pub services: Informer<Service, ServiceIndex>,
    /// Pods.
    pub pods: Informer<Pod, PodIndex>,
    /// Endpoints.
    pub endpoints: Informer<Endpoints>,
}

/// Who is told what the controller does; upstream's has no metrics but those of its queue (MT-9). Nobody by default.
#[derive(Clone)]
#[non_exhaustive]
pub struct Metrics {
    /// The metrics of its queue.
    pub queues: Option<Arc<dyn MetricsProvider>>,
    /// Metrics that upstream does not have.
    pub controller: Arc<dyn ControllerMetrics>,
    /// How long changes take to be written. Nothing is measured for nobody.
    pub propagation: Option<Arc<dyn PropagationMetrics>>,
}

impl Default for Metrics {
    fn default() -> Self {
        Metrics { queues: None, controller: Arc::new(()), propagation: None }
    }
}

/// Its name in `--controllers`.
const NAME: &str = "endpoints-controller";

/// The Endpoints controller; see the [crate](crate).
pub struct EndpointsController {
    queue: Queue<ObjectKey>,
    timer: Timer<ObjectKey>,
    concurrent_syncs: usize,
    reconciler: Arc<Reconciler>,
    metrics: Arc<dyn ControllerMetrics>,
    synced: Vec<HandlerHandle>,
}

impl EndpointsController {
    /// A controller that hears of changes through `informers`, and writes with `client`.
    pub fn new(informers: &Informers, client: Client, recorder: EventRecorder, config: Config) -> Self {
        EndpointsController::with_metrics(informers, client, recorder, config, Metrics::default())
    }

    /// The same, telling `metrics` what it does.
    pub fn with_metrics(
        informers: &Informers,
        client: Client,
        recorder: EventRecorder,
        config: Config,
        metrics: Metrics,
    ) -> Self {
        let Metrics { queues, controller, propagation } = metrics;
        let propagation = Propagation::new(propagation);
        let Config { concurrent_syncs, batch_period, legacy } = config;
        let queue = Queue::builder().name("endpoint").limiter(default_controller_limiter());
        let (queue, timer) = match queues {
            Some(provider) => queue.metrics(provider).build(),
            None => queue.build(),
        };
        let waker = KeyWaker::new(queue.clone(), propagation.clone());
        let unanswered = Arc::new(Unanswered::default());
        let endpoints = watch_endpoints(informers, waker.clone(), Arc::clone(&unanswered));
        let cache = informers.endpoints.write_through(&endpoints);
        let pods = watch_pods(informers, waker.clone(), batch_period);
        let synced = vec![watch_services(informers, waker.clone()), pods, endpoints];
        let reconciler = Arc::new(Reconciler {
            services: informers.services.lister(),
            pods: informers.pods.lister(),
            endpoints: informers.endpoints.lister(),
            cache,
            client,
            recorder,
            legacy,
            trigger_times: Mutex::new(TriggerTimes::default()),
            propagation,
            unanswered,
            #[cfg(feature = "defects")]
            stale: stale::StaleEndpoints::default(),
            #[cfg(feature = "defects")]
            waker: waker.clone(),
        });
        EndpointsController { queue, timer, concurrent_syncs, reconciler, metrics: controller, synced }
    }

    /// Reconciles from the time when all caches have synced until `stop` is cancelled.
    ///
    /// Errors: [`NeverSynced`] if a cache ends before it has synced; then nothing has been reconciled.
    pub async fn run(self, stop: CancellationToken) -> Result<(), NeverSynced> {
        let EndpointsController { queue, timer, concurrent_syncs, reconciler, metrics, synced } = self;
        if !synced_before(&stop, &synced).await? {
            return Ok(());
        }
        // Objects whose Service went while nobody looked (EP-H6). Those that old clients elect leaders with are spared.
        for endpoints in reconciler.endpoints.list() {
            if !endpoints.metadata.annotations.contains_key(LEADER_ANNOTATION) {
                queue.add(endpoints.key());
            }
        }
        let workers =
            Workers { name: NAME, queue, timer, count: concurrent_syncs, retry: RetryPolicy::default(), metrics };
        let sync = move |key| {
            let reconciler = Arc::clone(&reconciler);
            async move { reconciler.sync(&key).await }
        };
        workers.run(stop, sync).await;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kube_controller_client::ClientOptions;
    use kube_informer::ManualSource;
    use tokio::task::JoinSet;
    use tokio::time::sleep;

    /// Whether a worker takes what is in the queue within a minute.
    async fn is_taken(queue: &Queue<ObjectKey>) -> bool {
        for _ in 0..600 {
            if queue.is_empty() {
                return true;
            }
            sleep(Duration::from_millis(100)).await;
        }
        false
    }

    // upstream: TestWaitsForAllInformersToBeSynced2
    #[tokio::test(start_paused = true)]
    async fn nothing_is_done_before_all_caches_are_filled() {
        let (services, service_source) = ManualSource::with_index(ServiceIndex::default(), ServiceIndex::update);
        let (pods, pod_source) = ManualSource::with_index(PodIndex::default(), PodIndex::update);
        let (endpoints, endpoints_source) = ManualSource::new();
        let informers = Informers { services, pods, endpoints };
        let nowhere = kube_controller_client::Config::from_url("http://127.0.0.1:1").expect("a URL");
        let client = Client::new(&nowhere, ClientOptions::default()).expect("a client");
        let (recorder, _writer) = EventRecorder::new(client.clone(), "endpoint-controller");
        let config = Config { concurrent_syncs: 1, batch_period: Duration::ZERO, legacy: Legacy::default() };
        let controller = EndpointsController::new(&informers, client, recorder, config);
        let queue = controller.queue.clone();
        let stop = CancellationToken::new();
        let mut tasks = JoinSet::new();
        tasks.spawn(controller.run(stop.clone()));
        service_source.replace([], "1");
        service_source.deliver();
        pod_source.replace([], "1");
        pod_source.deliver();
        queue.add(ObjectKey::new("ns", "web"));
        assert!(!is_taken(&queue).await, "the cache of Endpoints is empty");
        endpoints_source.replace([], "1");
        endpoints_source.deliver();
        assert!(is_taken(&queue).await);
        stop.cancel();
    }

    #[tokio::test(start_paused = true)]
    async fn a_cache_that_stops_before_it_synced_is_an_error() {
        let (services, service_source) = ManualSource::with_index(ServiceIndex::default(), ServiceIndex::update);
        let (pods, _) = ManualSource::with_index(PodIndex::default(), PodIndex::update);
        let (endpoints, _) = ManualSource::new();
        let informers = Informers { services, pods, endpoints };
        let nowhere = kube_controller_client::Config::from_url("http://127.0.0.1:1").expect("a URL");
        let client = Client::new(&nowhere, ClientOptions::default()).expect("a client");
        let (recorder, _writer) = EventRecorder::new(client.clone(), "endpoint-controller");
        let config = Config { concurrent_syncs: 1, batch_period: Duration::ZERO, legacy: Legacy::default() };
        let controller = EndpointsController::new(&informers, client, recorder, config);
        service_source.replace([], "1");
        service_source.deliver();
        let stopped = CancellationToken::new();
        stopped.cancel();
        informers.pods.run(stopped).await;
        let error = controller.run(CancellationToken::new()).await.unwrap_err();
        assert_eq!(error.to_string(), "the cache of manual source (pods) stopped before it synced");
    }
}
