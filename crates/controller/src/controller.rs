//! A controller: informers, a queue of keys, and workers that sync them.

use std::convert::Infallible;
use std::future::{Future, pending, poll_fn};
use std::hash::Hash;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;
use std::{fmt, fmt::Display};

use kube_informer::{Event, HandlerHandle, Informer, NeverSynced, synced_before};
use kube_workqueue::MetricsProvider;
use tokio_util::sync::CancellationToken;

use crate::enqueuer::Enqueuer;
use crate::supervisor::panic_message;
use crate::workers::{BoxError, BoxFuture, SyncFn, Workers};
use crate::{Action, Batching, ControllerMetrics, FailureCause, RetryPolicy, ServerGate};

/// Receivers of the measurements of a controller and its work queue. The default disables them.
#[derive(Clone, Default)]
pub struct Metrics {
    /// Metrics of the work queue. The queue must have a [name](kube_workqueue::Builder::name).
    pub queue: Option<Arc<dyn MetricsProvider>>,
    /// Metrics of the syncs.
    pub controller: Option<Arc<dyn ControllerMetrics>>,
}

impl fmt::Debug for Metrics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (queue, controller) = (self.queue.is_some(), self.controller.is_some());
        f.debug_struct("Metrics").field("queue", &queue).field("controller", &controller).finish()
    }
}

/// Error of a sync whose panic was [contained](Controller::contain_panics).
#[derive(Debug, thiserror::Error)]
#[error("the sync panicked: {0}")]
struct SyncPanicked(String);

/// A controller with its handlers, queue and sync function, started by [`run`](Self::run). See the [crate](crate) for
/// an example.
pub struct Controller<K> {
    options: ControllerBuilder<K>,
    sync: Arc<SyncFn<K>>,
    ready: BoxFuture<()>,
}

/// Builder of a [`Controller`]: its options, handlers and queue.
#[must_use]
pub struct ControllerBuilder<K> {
    workers: Workers<K>,
    enqueuer: Enqueuer<K>,
    handlers: Vec<HandlerHandle>,
    background: BoxFuture<()>,
}

impl<K: Clone + Eq + Hash + Display + Send + Sync + 'static> Controller<K> {
    /// Returns a builder of a controller that takes its keys from `queue`. `name` identifies the controller in logs.
    pub fn builder(
        name: impl Into<Arc<str>>,
        queue: kube_workqueue::Builder<K>,
        metrics: Metrics,
    ) -> ControllerBuilder<K> {
        let queue = match metrics.queue {
            Some(provider) => queue.metrics(provider).build(),
            None => queue.build(),
        };
        let workers = Workers::new(name.into(), queue, metrics.controller);
        let enqueuer = Enqueuer::new(workers.queue.clone(), workers.removals.clone());
        ControllerBuilder { workers, enqueuer, handlers: Vec::new(), background: Box::pin(async {}) }
    }

    /// Sets a future that must end before the first key is synced. It is first polled after all watched caches have
    /// synced, and dropped if the controller is stopped before it ends. A second call replaces it.
    #[must_use]
    pub fn wait_for(self, ready: impl Future<Output = ()> + Send + 'static) -> Self {
        Controller { ready: Box::pin(ready), ..self }
    }

    /// Sets a wait before each sync, for example until all caches have listed again after an outage. The key counts as
    /// being synced meanwhile, so that the wait should be bounded; it is dropped if the controller is stopped. A second
    /// call replaces it.
    #[must_use]
    pub fn before_sync<F>(mut self, wait: impl Fn() -> F + Send + Sync + 'static) -> Self
    where
        F: Future<Output = ()> + Send + 'static,
    {
        self.options.workers.before_sync = Some(Arc::new(move || Box::pin(wait())));
        self
    }

    /// Calls `observe` with the key of each sync directly before the sync reads its caches: later
    /// [changes](Self::on_change) of the key belong to the next sync. A second call adds another function.
    #[must_use]
    pub fn on_sync(self, observe: impl Fn(&K) + Send + Sync + 'static) -> Self {
        let sync = self.sync;
        let observed = move |key: K| {
            observe(&key);
            sync(key)
        };
        Controller { sync: Arc::new(observed), ..self }
    }

    /// Contains panics of syncs: calls `report` with the message of the panic, and retries the key as after an error. By
    /// default, a panic ends [`run`](Self::run). For controllers that write nothing: a panic in the middle of the writes
    /// of a sync could leave state that the next sync misreads.
    #[must_use]
    pub fn contain_panics(self, report: impl Fn(&str) + Send + Sync + 'static) -> Self {
        let (sync, report) = (self.sync, Arc::new(report));
        let contained = move |key: K| -> BoxFuture<_> {
            let (sync, report) = (Arc::clone(&sync), Arc::clone(&report));
            Box::pin(async move {
                // The future is dropped after a panic, and shared state is locked through `locked`.
                let mut running = pin!(async { sync(key).await });
                let result = poll_fn(|context| {
                    let poll = || running.as_mut().poll(context);
                    match catch_unwind(AssertUnwindSafe(poll)) {
                        Ok(poll) => poll.map(Ok),
                        Err(panic) => Poll::Ready(Err(panic)),
                    }
                });
                result.await.unwrap_or_else(|panic| {
                    let message = panic_message(&*panic);
                    report(&message);
                    Err(SyncPanicked(message).into())
                })
            })
        };
        Controller { sync: Arc::new(contained), ..self }
    }

    /// Sets the gate at which keys wait while the API server fails, for several controllers of a process. By default, each
    /// has one of its own.
    #[must_use]
    pub fn server_gate(mut self, gate: ServerGate) -> Self {
        self.options.workers.gate = gate;
        self
    }

    /// Returns an enqueuer of this controller's queue, for code outside of the controller. Its adds are not measured.
    pub fn enqueuer(&self) -> Enqueuer<K> {
        self.options.enqueuer(None)
    }

    /// Calls `observe` with each key that a change of a watched object enqueues, before it is enqueued. Not for initial
    /// contents, resyncs, retries, and keys that a sync or [`enqueuer`](Self::enqueuer) adds. Only the first call has an
    /// effect.
    pub fn on_change(&self, observe: impl Fn(&K) + Send + Sync + 'static) {
        self.options.enqueuer(None).on_change(observe);
    }

    /// Waits until all watched caches have synced, and runs workers until `stop` is cancelled. Returns when the running
    /// syncs have ended; keys that are still queued are dropped.
    ///
    /// # Errors
    ///
    /// [`NeverSynced`] if a cache stops before it has synced. No worker has started then.
    ///
    /// # Panics
    ///
    /// If a sync panics, unless panics are [contained](Self::contain_panics). The panic is propagated so that a
    /// [`Supervisor`](crate::Supervisor) stops all other tasks.
    pub async fn run(self, stop: CancellationToken) -> Result<(), NeverSynced> {
        let Controller { options: ControllerBuilder { workers, handlers, background, .. }, sync, ready } = self;
        if !synced_before(&stop, &handlers).await? || stop.run_until_cancelled(ready).await.is_none() {
            return Ok(());
        }
        let background = async {
            background.await;
            pending::<Infallible>().await
        };
        tokio::select! {
            biased;
            never = background => match never {},
            () = workers.run(stop, sync) => Ok(()),
        }
    }
}

impl<K: Clone + Eq + Hash + Display + Send + Sync + 'static> ControllerBuilder<K> {
    /// Sets the number of keys that are synced concurrently; 1 by default, and 0 counts as 1.
    pub fn concurrency(mut self, count: usize) -> Self {
        self.workers.concurrency = count;
        self
    }

    /// Sets how failed keys are retried; [`RetryPolicy::default`] by default.
    pub fn retry(mut self, policy: RetryPolicy) -> Self {
        self.workers.retry = policy;
        self
    }

    /// Sets the function that returns what a sync failed because of, from its error; [`FailureCause::Key`] by default.
    /// It gets the error that the sync returned, which it can downcast.
    pub fn failure_cause(
        mut self,
        classify: impl Fn(&(dyn std::error::Error + 'static)) -> FailureCause + Send + Sync + 'static,
    ) -> Self {
        self.workers.classify = Arc::new(classify);
        self
    }

    /// Sets how the changes of a key are combined into syncs, see [`Enqueuer::add_change_after`]; [`Batching::None`] by
    /// default.
    pub fn batching(self, batching: Batching) -> Self {
        self.enqueuer.batching(batching);
        self
    }

    /// Adds a handler of the events of an informer. `name` identifies the handler in errors, and its events in metrics.
    ///
    /// Workers start after the handler has received the initial list. The propagation latency of the keys that it adds
    /// is measured, except for the initial list and resyncs.
    pub fn watch<T, X>(
        &mut self,
        informer: &Informer<T, X>,
        name: impl Into<Arc<str>>,
        mut handle: impl FnMut(&Event<T>, &Enqueuer<K>) + Send + 'static,
    ) -> HandlerHandle
    where
        T: kube_wire::Object,
        X: kube_wire::Index<T>,
    {
        let name = name.into();
        let unmeasured = self.enqueuer.clone();
        let measured = self.enqueuer.measured(&self.workers.observer, Arc::clone(&name));
        let handle = move |event: Event<T>| {
            handle(&event, if event.is_change() { &measured } else { &unmeasured });
        };
        let handle = informer.add_handler(handle).named(&name);
        self.handlers.push(handle.clone());
        handle
    }

    /// Returns an enqueuer of this controller's queue for code other than handlers. `source` is the name of its adds in
    /// metrics; without one, their propagation latency is not measured.
    pub fn enqueuer(&self, source: Option<&str>) -> Enqueuer<K> {
        let measured = |source: &str| self.enqueuer.measured(&self.workers.observer, source.into());
        source.map_or_else(|| self.enqueuer.clone(), measured)
    }

    /// Sets a future that runs concurrently with the workers, such as a periodic task. It is first polled after all
    /// caches have synced and before the first worker starts, and dropped when the workers have stopped. It may end
    /// earlier. A second call replaces it.
    pub fn background(self, future: impl Future<Output = ()> + Send + 'static) -> Self {
        ControllerBuilder { background: Box::pin(future), ..self }
    }

    /// Returns the controller. `sync` reconciles the object of one key. After an error it is called again according to the
    /// [`RetryPolicy`] and the [`FailureCause`], and after an [`Action::requeue`] when the delay has passed. It is never
    /// called concurrently for the same key.
    pub fn build<S, F, O, E>(self, sync: S) -> Controller<K>
    where
        S: Fn(K) -> F + Send + Sync + 'static,
        F: Future<Output = Result<O, E>> + Send + 'static,
        O: Into<Action>,
        E: Into<BoxError>,
    {
        let sync = move |key| -> BoxFuture<_> {
            let result = sync(key);
            Box::pin(async { result.await.map(Into::into).map_err(Into::into) })
        };
        Controller { options: self, sync: Arc::new(sync), ready: Box::pin(async {}) }
    }
}

impl<K> fmt::Debug for ControllerBuilder<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ControllerBuilder").field("handlers", &self.handlers).finish_non_exhaustive()
    }
}

impl<K> fmt::Debug for Controller<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Controller").field("handlers", &self.options.handlers).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
