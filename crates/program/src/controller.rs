//! A whole controller: informers, handlers, workers, events, leader election and shutdown.

mod run;

use std::error::Error;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, OnceLock};

use kube_controller::{
    AnyInformer, Batching, ControllerBuilder, FailureCause, Health, Metrics, Owns, Probe, RetryPolicy,
};
use kube_controller_client::Client;
use kube_controller_client::events::EventRecorder;
use kube_informer::{Informer, InformerMetricsProvider};
use kube_lease_election::{ElectionMetrics, LeaseName, Timing};
use kube_wire::{Decode, Index, ObjectKey};
use kube_workqueue::{Queue, default_controller_limiter};
use tokio_util::sync::CancellationToken;

use crate::ControllerError;
use crate::gate::Gate;

/// Returns the future that runs a task until the token is cancelled.
type Task = Box<dyn FnOnce(CancellationToken) -> Pin<Box<dyn Future<Output = ()> + Send>> + Send>;
/// Calls its argument with the index of the primary informer.
type ReadIndex<X> = Arc<dyn Fn(&mut dyn FnMut(&X)) + Send + Sync>;

/// A controller with all that its process needs: informers, a queue of object keys, workers, events, leader election
/// and shutdown. See the [crate](crate) for an example.
///
/// `X` is the index of the [primary](Self::primary) informer. The order of the calls does not matter, except that
/// [`watches`](Self::watches) gets the index of the primary informer that was set before it.
#[must_use = "the controller does nothing until it runs"]
pub struct Controller<X = ()> {
    parts: Parts,
    read_index: ReadIndex<X>,
}

/// All parts that do not depend on the primary informer.
struct Parts {
    name: Arc<str>,
    client: Client,
    gate: Gate,
    health: Health,
    /// The token that `run` gets.
    running: Arc<OnceLock<CancellationToken>>,
    builder: ControllerBuilder<ObjectKey>,
    tasks: Vec<(String, Task)>,
    informers: Vec<Arc<dyn AnyInformer>>,
    lease: Option<LeaseName>,
    timing: Timing,
    /// Error of an earlier call, which `run` returns.
    invalid: Option<ControllerError>,
    /// Whether all writers of owned objects pass a gate.
    is_gated: bool,
    informer_metrics: Option<Arc<dyn InformerMetricsProvider>>,
    election_metrics: Option<Arc<dyn ElectionMetrics>>,
    #[cfg(all(feature = "http", feature = "prometheus"))]
    registry: Option<prometheus::Registry>,
}

impl Controller {
    /// Returns a controller of objects by their keys, with client-go's default rate limiter and one worker.
    ///
    /// `name` identifies it in logs, metrics and events.
    pub fn new(name: impl Into<Arc<str>>, client: Client) -> Controller {
        Controller::measured(name.into(), client, Metrics::default())
    }

    /// Returns a controller whose queue, syncs, informers and leader election are measured. Controllers of one process
    /// share `metrics`, and should have different names: the name is their label.
    ///
    /// The informers must be built with [`informer`](Self::informer).
    #[cfg(feature = "prometheus")]
    pub fn with_metrics(name: impl Into<Arc<str>>, client: Client, metrics: &crate::PrometheusMetrics) -> Controller {
        let name = name.into();
        let crate::PrometheusMetrics { queues, controllers, informers, elections, .. } = metrics;
        let measures =
            Metrics { queue: Some(Arc::new(queues.clone())), controller: Some(controllers.controller(&name)) };
        let informers = informers.named(&name);
        let mut controller = Controller::measured(name, client, measures);
        #[cfg(feature = "http")]
        {
            controller.parts.registry = Some(metrics.registry.clone());
        }
        controller.parts.informer_metrics = Some(Arc::new(informers));
        controller.parts.election_metrics = Some(Arc::new(elections.clone()));
        controller
    }

    #[expect(clippy::needless_pass_by_value, reason = "callers should go on with the client of the controller")]
    fn measured(name: Arc<str>, client: Client, metrics: Metrics) -> Controller {
        let queue = Queue::builder().name(&*name).limiter(default_controller_limiter());
        let builder =
            kube_controller::Controller::builder(Arc::clone(&name), queue, metrics).failure_cause(failure_cause);
        let gate = Gate::new();
        let running = Arc::default();
        let health = checks(&running);
        let parts = Parts {
            name,
            client: client.gated(Arc::new(gate.clone())),
            gate,
            health,
            running,
            builder,
            tasks: Vec::new(),
            informers: Vec::new(),
            lease: None,
            timing: Timing::default(),
            invalid: None,
            is_gated: true,
            informer_metrics: None,
            election_metrics: None,
            #[cfg(all(feature = "http", feature = "prometheus"))]
            registry: None,
        };
        Controller { parts, read_index: Arc::new(|read| read(&())) }
    }
}

impl<X: 'static> Controller<X> {
    /// Returns the name of the controller.
    pub fn name(&self) -> &str {
        &self.parts.name
    }

    /// Returns the client for the syncs and for all other writes. With leader election, it writes only while this process
    /// leads; other writes fail with [`Error::Gated`](kube_controller_client::Error::Gated).
    pub fn client(&self) -> &Client {
        &self.parts.client
    }

    /// Returns the gate of the [client](Self::client), to guard writes without it, and to wait for the leadership in a
    /// [task](Self::task).
    pub fn gate(&self) -> Gate {
        self.parts.gate.clone()
    }

    #[cfg(all(feature = "http", feature = "prometheus"))]
    pub(crate) fn registry(&self) -> Option<&prometheus::Registry> {
        self.parts.registry.as_ref()
    }

    /// Returns the health checks, to add checks, and for an HTTP server of the program, which may run before
    /// [`run`](Self::run) is called. With the feature `http`, `serve` is such a server; `kube-controller-serving` has others.
    ///
    /// | check | probes | fails |
    /// |---|---|---|
    /// | `controller` | `/readyz` | before [`run`](Self::run), and after the stop |
    /// | `informer-RESOURCE`, for each informer | `/readyz` | until the first list is stored, and while the cache is stalled |
    /// | `leaderElection`, with leader election, from [`run`](Self::run) | `/livez`, `/healthz` | if this process leads and has not renewed the Lease for its duration and 20 s |
    ///
    /// A standby is ready and alive. A process that cannot renew the Lease ends before `leaderElection` fails, with
    /// [`ControllerError::LeaseLost`], unless its runtime is blocked.
    pub fn health(&self) -> Health {
        self.parts.health.clone()
    }

    /// Returns the builder of an informer with the [client](Self::client) and, if the controller has them, the metrics
    /// of the controller. It runs after it is passed to [`primary`](Self::primary), [`watches`](Self::watches) or
    /// [`caches`](Self::caches).
    pub fn informer<T: Decode>(&self) -> kube_informer::Builder<T> {
        let builder = Informer::builder(self.parts.client.clone());
        match &self.parts.informer_metrics {
            Some(metrics) => builder.metrics(Arc::clone(metrics)),
            None => builder,
        }
    }

    /// Syncs the objects of an informer by their keys, and runs the informer.
    pub fn primary<T: Decode, Y: Index<T>>(self, objects: &Informer<T, Y>) -> Controller<Y> {
        let lister = objects.lister();
        let read_index: ReadIndex<Y> = Arc::new(move |read| lister.read(|_, index| read(index)));
        let Controller { parts, .. } = self.watches(objects, |object, _| [object.key()]);
        Controller { parts, read_index }
    }

    /// Queues the keys that `keys` returns for each changed object of an informer, for its states before and after the
    /// change, and runs the informer. `keys` also gets the index of the [primary](Self::primary) informer, for example
    /// to find the objects that select a Pod. The informer may be of another cluster.
    pub fn watches<T: Decode, Y: Index<T>, K: IntoIterator<Item = ObjectKey>>(
        mut self,
        objects: &Informer<T, Y>,
        keys: impl Fn(&T, &X) -> K + Send + 'static,
    ) -> Self {
        let read_index = Arc::clone(&self.read_index);
        self.parts.builder.watch(objects, objects.resource().plural, move |event, queue| {
            let (before, after) = event.states();
            read_index(&mut |index| {
                for state in [before, after].into_iter().flatten() {
                    keys(state, index).into_iter().for_each(|key| queue.add(key));
                }
            });
        });
        self.caches(objects)
    }

    /// Runs an informer that queues nothing by itself, or whose handler is added with [`handlers`](Self::handlers). An
    /// informer that is also passed to another method runs once.
    pub fn caches<T: Decode, Y: Index<T>>(mut self, objects: &Informer<T, Y>) -> Self {
        if self.parts.informers.iter().any(|informer| informer.progress().is_same(&objects.progress())) {
            return self;
        }
        self.parts.health.add_informer(objects.resource().plural, objects.progress());
        self.parts.informers.push(Arc::new(objects.clone()));
        self
    }

    /// Syncs the owners of slices that other clients change, delete or create, and runs the informer of the slices.
    /// `reconciler` is the `Reconciler` of `kube-endpointslice`, built with the [client](Self::client) and an informer,
    /// or another writer of owned objects. Its own writes queue nothing.
    pub fn owns_slices<R: Owns>(mut self, reconciler: &R) -> Self {
        self.parts.is_gated &= reconciler.is_gated();
        let Some(informer) = reconciler.informer() else {
            self.parts.invalid = Some(ControllerError::OwnsWithoutInformer);
            return self;
        };
        reconciler.watch(&mut self.parts.builder);
        self.caches(informer)
    }

    /// Returns the builder of the underlying controller, to add handlers of other kinds.
    pub fn handlers(&mut self) -> &mut ControllerBuilder<ObjectKey> {
        &mut self.parts.builder
    }

    /// Sets the number of keys that are synced concurrently; 1 by default.
    pub fn concurrency(mut self, count: usize) -> Self {
        self.parts.builder = self.parts.builder.concurrency(count);
        self
    }

    /// Sets how failed keys are retried; [`RetryPolicy::default`] by default.
    pub fn retry(mut self, policy: RetryPolicy) -> Self {
        self.parts.builder = self.parts.builder.retry(policy);
        self
    }

    /// Sets how the changes of a key are combined into syncs; [`Batching::None`] by default.
    pub fn batching(mut self, batching: Batching) -> Self {
        self.parts.builder = self.parts.builder.batching(batching);
        self
    }

    /// Runs a task beside the controller, until the token is cancelled and not before.
    pub fn task<F: Future<Output = ()> + Send + 'static>(
        mut self,
        name: impl Into<String>,
        task: impl FnOnce(CancellationToken) -> F + Send + 'static,
    ) -> Self {
        self.parts.tasks.push((name.into(), Box::new(move |stop| Box::pin(task(stop)))));
        self
    }

    /// Returns a recorder of Events of this controller, also for `ReconcilerBuilder::events` of `kube-endpointslice`. Its
    /// writer runs with the controller. Call it before the methods that consume the controller.
    pub fn recorder(&mut self) -> EventRecorder {
        let (recorder, writer) = EventRecorder::new(self.parts.client.clone(), &self.parts.name);
        let write = move |stop: CancellationToken| async move {
            writer.run(stop.clone()).await;
            // The writer also ends when the recorder is dropped, but a task that ends early ends the controller.
            stop.cancelled().await;
        };
        self.parts.tasks.push(("events".to_owned(), Box::new(move |stop| Box::pin(write(stop)))));
        recorder
    }

    /// Syncs only while this process holds the Lease. Caches are filled meanwhile, so that a standby takes over fast: its
    /// first sync follows the Lease after at most 0.5 s and a list of each resource that did not change meanwhile.
    ///
    /// The Lease is renewed by a [client of its own](Client::separate), so that renewals do not wait behind other
    /// requests.
    pub fn with_leader_election(mut self, lease: LeaseName) -> Self {
        self.parts.gate.close();
        self.parts.lease = Some(lease);
        self
    }

    /// Sets the durations of the leader election; [`Timing::default`] by default.
    pub fn election_timing(mut self, timing: Timing) -> Self {
        self.parts.timing = timing;
        self
    }
}

/// Returns what a sync failed because of: the cause of the first error of a request in the source chain.
fn failure_cause(error: &(dyn Error + 'static)) -> FailureCause {
    let mut next = Some(error);
    while let Some(error) = next {
        match error.downcast_ref::<kube_controller_client::Error>() {
            Some(error) => return error.into(),
            None => next = error.source(),
        }
    }
    FailureCause::Key
}

/// Returns the health checks of a controller that runs until the token is cancelled.
fn checks(running: &Arc<OnceLock<CancellationToken>>) -> Health {
    let (health, running) = (Health::default(), Arc::clone(running));
    health.add("controller", &[Probe::Readyz], move || match running.get() {
        None => Err("not started".to_owned()),
        Some(stop) if stop.is_cancelled() => Err("shutting down".to_owned()),
        Some(_) => Ok(()),
    });
    health
}

impl<X> fmt::Debug for Controller<X> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let tasks: Vec<&String> = self.parts.tasks.iter().map(|(name, _)| name).collect();
        f.debug_struct("Controller").field("name", &self.parts.name).field("tasks", &tasks).finish_non_exhaustive()
    }
}
