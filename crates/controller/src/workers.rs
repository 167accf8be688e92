//! Workers that sync the keys of a queue.

use std::fmt::Display;
use std::hash::Hash;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex};

use kube_workqueue::{Queue, Timer};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use crate::observer::Observer;
use crate::removals::Removals;
use crate::retries::{Retries, RetryPolicy};
use crate::server_gate::{Admission, Member, ServerGate};
use crate::{Action, ControllerMetrics, FailureCause, Outcome};

pub(crate) type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// Returns what a sync failed because of.
type Classify = dyn Fn(&(dyn std::error::Error + 'static)) -> FailureCause + Send + Sync;

/// Workers that sync the keys of a queue, without informers.
pub struct Workers<K> {
    name: Arc<str>,
    queue: Queue<K>,
    timer: Timer<K>,
    concurrency: usize,
    retry: RetryPolicy,
    metrics: Option<Arc<dyn ControllerMetrics>>,
    observer: Observer<K>,
    removals: Removals<K>,
    gate: ServerGate,
    classify: Arc<Classify>,
}

impl<K> Workers<K>
where
    K: Clone + Eq + Hash + Display + Send + Sync + 'static,
{
    /// Returns one worker with the default [`RetryPolicy`] and without metrics. `name` identifies the controller in
    /// logs.
    pub fn new(name: impl Into<Arc<str>>, queue: Queue<K>, timer: Timer<K>) -> Self {
        Workers {
            name: name.into(),
            queue,
            timer,
            concurrency: 1,
            retry: RetryPolicy::default(),
            metrics: None,
            observer: Observer::new(None),
            removals: Removals::default(),
            gate: ServerGate::default(),
            classify: Arc::new(|_| FailureCause::Key),
        }
    }

    /// Sets the number of keys that are synced concurrently; 1 by default, and 0 counts as 1.
    #[must_use]
    pub fn concurrency(self, concurrency: usize) -> Self {
        Workers { concurrency, ..self }
    }

    /// Sets how failed keys are retried; [`RetryPolicy::default`] by default.
    #[must_use]
    pub fn retry(self, retry: RetryPolicy) -> Self {
        Workers { retry, ..self }
    }

    /// Sets the receiver of measurements; `None` disables them.
    #[must_use]
    pub fn metrics(self, metrics: Option<Arc<dyn ControllerMetrics>>) -> Self {
        Workers { observer: Observer::new(metrics.clone()), metrics, ..self }
    }

    /// Sets the function that returns what a sync failed because of, from its error; [`FailureCause::Key`] by default.
    #[must_use]
    pub fn failure_cause(
        self,
        classify: impl Fn(&(dyn std::error::Error + 'static)) -> FailureCause + Send + Sync + 'static,
    ) -> Self {
        Workers { classify: Arc::new(classify), ..self }
    }

    /// Sets the gate at which keys wait while the server fails. By default, each controller has one of its own.
    #[must_use]
    pub fn server_gate(self, gate: ServerGate) -> Self {
        Workers { gate, ..self }
    }

    pub(crate) fn queue(&self) -> &Queue<K> {
        &self.queue
    }

    pub(crate) fn observer(&self) -> &Observer<K> {
        &self.observer
    }

    pub(crate) fn removals(&self) -> &Removals<K> {
        &self.removals
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
    pub async fn run<S, F, O, E>(self, stop: CancellationToken, sync: S)
    where
        S: Fn(K) -> F + Send + Sync + 'static,
        F: Future<Output = Result<O, E>> + Send + 'static,
        O: Into<Action> + Send + 'static,
        E: Into<BoxError> + Send + 'static,
    {
        let Workers { name, queue, timer, concurrency, retry, metrics, observer, removals, gate, classify } = self;
        let sync = Arc::new(sync);
        let mut tasks = JoinSet::new();
        let retries = Arc::new(Retries {
            controller: Arc::clone(&name),
            queue: queue.clone(),
            retry,
            gate: Member::new(gate, removals.clone(), metrics.clone()),
            metrics,
            back_offs: Mutex::default(),
            removals,
        });
        let running = Arc::new(AtomicUsize::new(0));
        if let Some(metrics) = &retries.metrics {
            let (retries, running) = (Arc::downgrade(&retries), Arc::clone(&running));
            metrics.pending(Box::new(move || {
                let Retries { queue, gate, .. } = &*retries.upgrade()?;
                Some(queue.len() + queue.delayed() + gate.waiting() + running.load(Relaxed))
            }));
        }
        tasks.spawn(timer.run());
        for _ in 0..concurrency.max(1) {
            let (retries, classify) = (Arc::clone(&retries), Arc::clone(&classify));
            let worker = Worker { retries, classify, observer: observer.clone(), running: Arc::clone(&running) };
            tasks.spawn(worker.run(stop.clone(), Arc::clone(&sync)));
        }
        let waiting = {
            let (retries, stop) = (Arc::clone(&retries), stop.clone());
            async move {
                tokio::select! {
                    biased;
                    () = stop.cancelled() => {}
                    () = retries.gate.run(&retries.queue, &retries.back_offs) => {}
                    () = retries.gate.gate().log_folded() => {}
                }
            }
        };
        tasks.spawn(waiting);

        let shutdown = async move {
            stop.cancelled().await;
            queue.shut_down();
        };
        tasks.spawn(shutdown);
        while let Some(ended) = tasks.join_next().await {
            if let Err(error) = ended
                && error.is_panic()
            {
                std::panic::resume_unwind(error.into_panic());
            }
        }
    }
}

struct Worker<K> {
    retries: Arc<Retries<K>>,
    classify: Arc<Classify>,
    observer: Observer<K>,
    /// Number of running syncs of all workers.
    running: Arc<AtomicUsize>,
}

impl<K: Clone + Eq + Hash + Display + Send + 'static> Worker<K> {
    async fn run<S, F, O, E>(self, stop: CancellationToken, sync: Arc<S>)
    where
        S: Fn(K) -> F,
        F: Future<Output = Result<O, E>>,
        O: Into<Action>,
        E: Into<BoxError>,
    {
        let Worker { retries, classify, observer, running } = self;
        let Retries { queue, gate, removals, .. } = &*retries;
        loop {
            let item = tokio::select! {
                biased;
                () = stop.cancelled() => return,
                item = queue.get() => item,
            };
            let Some(item) = item else { return };
            let key = item.key().clone();
            let urgent = removals.take(&key);
            let admission = gate.admit(&key, urgent);
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
            running.fetch_add(1, Relaxed);
            let observation = observer.start(&key);
            let result = sync(key.clone()).await.map(Into::into);
            observation.end(&result.as_ref().map(|action| action.outcome));
            running.fetch_sub(1, Relaxed);
            let failed = match result {
                Ok(Action { outcome, requeue_after }) => {
                    if outcome == Outcome::Written {
                        gate.gate().succeeded();
                    }
                    retries.forget(&key);
                    if let Some(delay) = requeue_after {
                        queue.add_after(key, delay);
                    }
                    None
                }
                Err(error) => {
                    let error = error.into();
                    let cause = classify(&*error);
                    retries.requeue(key, &*error, cause, urgent);
                    Some(cause)
                }
            };
            if admission == Admission::Probe {
                gate.probed(failed);
            }
        }
    }
}

#[cfg(test)]
mod tests;
