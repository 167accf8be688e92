//! Workers that sync the keys of a queue.

use std::fmt::Display;
use std::hash::Hash;
use std::pin::Pin;
use std::sync::Arc;

use kube_workqueue::{Queue, Timer};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use crate::observer::Observer;
use crate::removals::Removals;
use crate::retries::{Retries, RetryPolicy};
use crate::server_gate::{Admission, Member, ServerGate};
use crate::{Action, ControllerMetrics, FailureCause, Outcome};

pub(crate) type BoxError = Box<dyn std::error::Error + Send + Sync>;
pub(crate) type BoxFuture<T> = Pin<Box<dyn Future<Output = T> + Send>>;
/// Reconciles the object of one key.
pub(crate) type SyncFn<K> = dyn Fn(K) -> BoxFuture<Result<Action, BoxError>> + Send + Sync;

/// Returns a wait before a sync.
type BeforeSync = dyn Fn() -> BoxFuture<()> + Send + Sync;

/// Returns what a sync failed because of.
type Classify = dyn Fn(&(dyn std::error::Error + 'static)) -> FailureCause + Send + Sync;

/// Workers that sync the keys of a queue, with the options of a [`ControllerBuilder`](crate::ControllerBuilder).
pub(crate) struct Workers<K> {
    pub(crate) name: Arc<str>,
    pub(crate) queue: Queue<K>,
    pub(crate) timer: Timer<K>,
    pub(crate) concurrency: usize,
    pub(crate) retry: RetryPolicy,
    pub(crate) metrics: Option<Arc<dyn ControllerMetrics>>,
    pub(crate) observer: Observer<K>,
    pub(crate) removals: Removals<K>,
    pub(crate) gate: ServerGate,
    pub(crate) classify: Arc<Classify>,
    pub(crate) before_sync: Option<Arc<BeforeSync>>,
}

impl<K: Clone + Eq + Hash + Display + Send + Sync + 'static> Workers<K> {
    pub(crate) fn new(
        name: Arc<str>,
        (queue, timer): (Queue<K>, Timer<K>),
        metrics: Option<Arc<dyn ControllerMetrics>>,
    ) -> Self {
        Workers {
            name,
            queue,
            timer,
            concurrency: 1,
            retry: RetryPolicy::default(),
            observer: Observer::new(metrics.clone()),
            metrics,
            removals: Removals::default(),
            gate: ServerGate::default(),
            classify: Arc::new(|_| FailureCause::Key),
            before_sync: None,
        }
    }

    /// Syncs keys until `stop` is cancelled, then shuts the queue down and returns when the running syncs have ended.
    /// Keys that are still queued are dropped.
    ///
    /// `sync` reconciles the object of one key. After an error it is called again according to the [`RetryPolicy`] and the
    /// [`FailureCause`], and after an [`Action::requeue`] when the delay has passed. It is never called concurrently for
    /// the same key.
    ///
    /// # Panics
    ///
    /// If a sync panics. The panic is propagated so that a [`Supervisor`](crate::Supervisor) stops all other tasks.
    pub(crate) async fn run(self, stop: CancellationToken, sync: Arc<SyncFn<K>>) {
        let Workers { name, queue, timer, concurrency, retry, metrics, observer, removals, gate, .. } = self;
        let (classify, before_sync) = (self.classify, self.before_sync);
        let mut tasks = JoinSet::new();
        let gate = Member::new(gate, queue.clone(), removals, metrics);
        let retries = Arc::new(Retries { controller: name, retry, gate: Arc::clone(&gate) });
        if let Some(metrics) = &gate.metrics {
            let gate = Arc::downgrade(&gate);
            metrics.pending(Box::new(move || Some(gate.upgrade()?.pending())));
        }
        spawn(&mut tasks, timer.run());
        for _ in 0..concurrency.max(1) {
            let (retries, classify) = (Arc::clone(&retries), Arc::clone(&classify));
            let (before_sync, observer) = (before_sync.clone(), observer.clone());
            let worker = Worker { retries, classify, before_sync, observer };
            spawn(&mut tasks, worker.run(stop.clone(), Arc::clone(&sync)));
        }
        let waiting = {
            let (gate, stop) = (gate.gate().clone(), stop.clone());
            async move {
                tokio::select! {
                    biased;
                    () = stop.cancelled() => {}
                    () = gate.run() => {}
                    () = gate.log_folded() => {}
                }
            }
        };
        spawn(&mut tasks, waiting);

        let shutdown = async move {
            stop.cancelled().await;
            queue.shut_down();
        };
        spawn(&mut tasks, shutdown);
        while let Some(ended) = tasks.join_next().await {
            if let Err(error) = ended
                && error.is_panic()
            {
                std::panic::resume_unwind(error.into_panic());
            }
        }
    }
}

/// Boxes the task, so that the code of the runtime for a task is compiled once, not for each type of key.
fn spawn(tasks: &mut JoinSet<()>, task: impl Future<Output = ()> + Send + 'static) {
    spawn_boxed(tasks, Box::pin(task));
}

fn spawn_boxed(tasks: &mut JoinSet<()>, task: Pin<Box<dyn Future<Output = ()> + Send>>) {
    tasks.spawn(task);
}

struct Worker<K> {
    retries: Arc<Retries<K>>,
    classify: Arc<Classify>,
    before_sync: Option<Arc<BeforeSync>>,
    observer: Observer<K>,
}

impl<K: Clone + Eq + Hash + Display + Send + 'static> Worker<K> {
    async fn run(self, stop: CancellationToken, sync: Arc<SyncFn<K>>) {
        let Worker { retries, classify, before_sync, observer } = self;
        let Member { queue, removals, .. } = &*retries.gate;
        loop {
            let item = tokio::select! {
                biased;
                () = stop.cancelled() => return,
                item = queue.get() => item,
            };
            let Some(item) = item else { return };
            let key = item.key().clone();
            let urgent = removals.take(&key);
            let admission = retries.gate.admit(&key, urgent);
            match (admission, retries.hold(&key)) {
                (Admission::Waits, _) => continue,
                (Admission::Sync, Some(wait)) => {
                    if urgent {
                        removals.add(key.clone());
                    }
                    queue.add_after(key, wait);
                    continue;
                }
                (Admission::Sync, None) | (Admission::Probe, _) => {}
            }
            if let Some(wait) = &before_sync
                && stop.run_until_cancelled(wait()).await.is_none()
            {
                return;
            }
            let observation = observer.start(&key);
            let result = sync(key.clone()).await;
            observation.end(&result.as_ref().map(|action| action.outcome));
            let failed = match result {
                Ok(Action { outcome, requeue_after }) => {
                    // Before the success, which queues the keys that are in the back-off of the server's failures.
                    retries.forget(&key);
                    if outcome == Outcome::Written {
                        retries.gate.gate().succeeded();
                    }
                    if let Some(delay) = requeue_after {
                        queue.add_after(key, delay);
                    }
                    None
                }
                Err(error) => {
                    let cause = classify(&*error);
                    retries.requeue(key, &*error, cause, urgent);
                    Some(cause)
                }
            };
            if admission == Admission::Probe {
                retries.gate.probed(failed);
            }
        }
    }
}

#[cfg(test)]
mod tests;
