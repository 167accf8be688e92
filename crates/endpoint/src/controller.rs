//! The controller: caches, queue, plan and API server.

mod sync;

use std::sync::{Arc, Mutex};
use std::time::Duration;

use kube_controller::{RetryPolicy, Workers, locked};
use kube_controller_client::Client;
use kube_controller_client::events::EventRecorder;
use kube_endpoint_model::well_known::LEADER_ANNOTATION;
use kube_endpoint_model::{Endpoints, ObjectKey, Pod, PodIndex, Service, ServiceIndex, TriggerTimes, pod_change};
use kube_informer::{Event, HandlerHandle, Informer, synced_before};
use kube_workqueue::{Queue, Timer, default_controller_limiter};
use tokio_util::sync::CancellationToken;

use crate::stale::ReplacedVersions;
use sync::Reconciler;

/// How the Endpoints controller works.
#[derive(Clone, Copy, Debug)]
pub struct Config {
    /// Services synced at once: `--concurrent-endpoint-syncs`.
    pub concurrent_syncs: usize,
    /// How long changes of Pods are gathered before their Services are synced: `--endpoint-updates-batch-period`.
    pub batch_period: Duration,
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

/// The Endpoints controller; see the [crate](crate).
pub struct EndpointsController {
    queue: Queue<ObjectKey>,
    timer: Timer<ObjectKey>,
    concurrent_syncs: usize,
    reconciler: Arc<Reconciler>,
    synced: Vec<HandlerHandle>,
}

impl EndpointsController {
    /// A controller that hears of changes through `informers`, and writes with `client`.
    pub fn new(informers: &Informers, client: Client, recorder: EventRecorder, config: Config) -> Self {
        let Config { concurrent_syncs, batch_period } = config;
        let (queue, timer) = Queue::builder().name("endpoint").limiter(default_controller_limiter()).build();
        let replaced = Arc::new(Mutex::new(ReplacedVersions::default()));
        let synced = vec![
            watch_services(informers, queue.clone()),
            watch_pods(informers, queue.clone(), batch_period),
            watch_endpoints(informers, queue.clone(), Arc::clone(&replaced)),
        ];
        let reconciler = Arc::new(Reconciler {
            services: informers.services.lister(),
            pods: informers.pods.lister(),
            endpoints: informers.endpoints.lister(),
            client,
            recorder,
            replaced,
            trigger_times: Mutex::new(TriggerTimes::default()),
        });
        EndpointsController { queue, timer, concurrent_syncs, reconciler, synced }
    }

    /// Works until `stop`, once the caches have been filled.
    pub async fn run(self, stop: CancellationToken) {
        let EndpointsController { queue, timer, concurrent_syncs, reconciler, synced } = self;
        if !synced_before(&stop, &synced).await {
            return;
        }
        // Objects whose Service went while nobody looked (EP-H6). Those that old clients elect leaders with are spared.
        for endpoints in reconciler.endpoints.list() {
            if !endpoints.metadata.annotations.contains_key(LEADER_ANNOTATION) {
                queue.add(key_of(&endpoints));
            }
        }
        let workers = Workers {
            name: "endpoints-controller",
            queue,
            timer,
            count: concurrent_syncs,
            retry: RetryPolicy::default(),
            metrics: Arc::new(()),
        };
        let sync = move |key| {
            let reconciler = Arc::clone(&reconciler);
            async move { reconciler.sync(&key).await }
        };
        workers.run(stop, sync).await;
    }
}

fn key_of(endpoints: &Endpoints) -> ObjectKey {
    ObjectKey { namespace: endpoints.metadata.namespace.clone(), name: endpoints.metadata.name.clone() }
}

/// Every change of a Service wakes it, at once (EP-H1 to EP-H3).
fn watch_services(informers: &Informers, queue: Queue<ObjectKey>) -> HandlerHandle {
    let handle = move |event: Event<Service>| {
        let service = event.object();
        queue.add(ObjectKey { namespace: service.namespace.clone(), name: service.name.clone() });
    };
    informers.services.add_handler(handle).named("services")
}

/// A change of a Pod wakes the Services it concerns, after the batch period (EP-H4, EP-H7).
fn watch_pods(informers: &Informers, queue: Queue<ObjectKey>, batch_period: Duration) -> HandlerHandle {
    let services = informers.services.lister();
    let handle = move |event: Event<Pod>| {
        for service in services.read(|_, index| pod_change::woken_services(event.states(), index)) {
            queue.add_after(service, batch_period);
        }
    };
    informers.pods.add_handler(handle).named("pods")
}

/// An object that is deleted is made again (EP-H5); what others write on one stays until the next sync (EC-26). A sync
/// that waits for the cache to show an object goes on at once.
fn watch_endpoints(
    informers: &Informers,
    queue: Queue<ObjectKey>,
    replaced: Arc<Mutex<ReplacedVersions>>,
) -> HandlerHandle {
    let handle = move |event: Event<Endpoints>| {
        let key = key_of(event.object());
        if matches!(event, Event::Deleted { .. }) || locked(&replaced).is_waiting(&key) {
            queue.add(key);
        }
    };
    informers.endpoints.add_handler(handle).named("endpoints")
}
