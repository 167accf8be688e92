//! The controller: joins event handlers, queue, caches and sync.

mod informers;
mod rules;
mod superfluous;
mod sync;
mod unanswered;
mod watches;

use std::sync::Arc;

use kube_controller::{Controller, KeyStates, Metrics, SyncOptions};
use kube_controller_client::ReviewedClient;
use kube_controller_client::events::EventRecorder;
use kube_endpoint_model::well_known::ENDPOINTS_CONTROLLER_NAME;
use kube_endpoint_model::{Endpoints, Listers, ObjectKey};
use kube_wire::Object as _;
use kube_workqueue::{Queue, default_controller_limiter};

use crate::legacy::Legacy;
pub use informers::Informers;
use superfluous::Superfluous;
use sync::{Syncs, failure_cause};
use unanswered::UnansweredWrites;
use watches::{watch_endpoints, watch_pods, watch_services};

/// Options of the Endpoints controller: concurrency, batching, and rules of earlier versions.
#[derive(Clone, Copy, Debug)]
pub struct Config {
    /// `--concurrent-endpoint-syncs`, `--endpoint-updates-batch-period` and `--updates-batching`. Changes of Pods are
    /// batched; those of Services have no delay.
    pub syncs: SyncOptions,
    /// Rules of earlier Kubernetes versions that apply, from feature gates.
    pub legacy: Legacy,
    /// Whether the Warning event about Endpoints that could not be created is in the namespace of the Service, as since
    /// Kubernetes 1.38. Otherwise it is in `default` (EV-1).
    pub namespaced_create_events: bool,
}

/// Returns the Endpoints controller, which reads the caches of `informers` and writes with `client`.
///
/// A [`Client`](kube_controller_client::Client) has no [review](kube_controller_client::Review) of its writes. The
/// caller runs the informers, the controller and the event writer of `recorder`, which gets Warning events about
/// failed creates and updates. `metrics` receives the metrics of the queue and of syncs.
pub fn endpoints_controller(
    informers: &Informers,
    client: impl Into<ReviewedClient<Endpoints>>,
    recorder: EventRecorder,
    config: Config,
    metrics: Metrics,
) -> Controller<ObjectKey> {
    let queue = Queue::builder().name("endpoint").limiter(default_controller_limiter());
    let controller =
        Controller::builder(ENDPOINTS_CONTROLLER_NAME, queue, metrics).concurrency(config.syncs.concurrent_syncs);
    let mut controller = controller.batching(config.syncs.batching).failure_cause(failure_cause);
    let superfluous = Arc::new(Superfluous::default());
    watch_services(&mut controller, informers, Arc::clone(&superfluous));
    watch_pods(&mut controller, informers, config.syncs.batch_period);
    let unanswered = Arc::new(UnansweredWrites::default());
    let handler = watch_endpoints(&mut controller, informers, Arc::clone(&unanswered), Arc::clone(&superfluous));
    let (services, swept) = (informers.services.lister(), Arc::clone(&superfluous));
    let reconciler = Arc::new(Syncs {
        caches: Listers {
            services: Some(informers.services.lister()),
            pods: Some(informers.pods.lister()),
            endpoints: Some(informers.endpoints.lister()),
            ..Listers::default()
        },
        superfluous,
        unanswered,
        cache: informers.endpoints.write_through(&handler),
        client: client.into(),
        recorder,
        legacy: config.legacy,
        namespaced_create_events: config.namespaced_create_events,
        states: KeyStates::default(),
        keys: controller.enqueuer(None),
    });
    // The sweep at the start deletes Endpoints whose Service was deleted while no controller ran (EP-H6). Endpoints with
    // the leader annotation are locks of older leader election clients.
    let (endpoints, keys) = (informers.endpoints.lister(), controller.enqueuer(None));
    let controller = controller.background(async move {
        swept.swept(|| endpoints.last_resource_version());
        for endpoints in endpoints.list() {
            if endpoints.is_leader_lock() {
                continue;
            }
            let key = endpoints.key();
            if services.get(&key.namespace, &key.name).is_none() {
                swept.service_missing(&endpoints);
            }
            keys.add(key);
        }
    });
    controller.build(move |key| {
        let reconciler = Arc::clone(&reconciler);
        async move { reconciler.sync(&key).await }
    })
}
