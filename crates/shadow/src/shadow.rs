//! The comparison of all controllers.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex};

use kube_controller::{Controller, Enqueuer, Supervisor, locked};
use kube_controller_client::{Client, ReviewedClient};
use kube_endpoint_model::{ObjectKey, Write};
use kube_endpoints_explain::DifferenceClass;
use kube_wire::Object;
use prometheus::Registry;
use serde::Serialize;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::causes::Causes;
use crate::differences::describe;
use crate::ledger::{Comparison, Decision, Ledger};
use crate::log_limit::LogLimit;
use crate::metrics::ShadowMetrics;
use crate::options::{Informers, Options};
use crate::report::{Now, Report, report};
use crate::review::ShadowReview;
use crate::sources::Sources;

/// The comparison of all controllers.
pub struct Shadow {
    pub(crate) options: Options,
    pub(crate) sources: Sources,
    pub(crate) ledger: Mutex<Ledger>,
    pub(crate) causes: Mutex<Causes>,
    /// Queues of the controllers, to compare Services without an event.
    pub(crate) queues: Mutex<Vec<(&'static str, Enqueuer<ObjectKey>)>>,
    log_limit: Mutex<LogLimit>,
    metrics: ShadowMetrics,
    pub(crate) panics: AtomicU64,
}

impl Shadow {
    /// Returns a comparison with what is in the caches of `informers`, and adds its handlers to them.
    ///
    /// # Errors
    ///
    /// A metric cannot be created. Not expected: names and labels are constant.
    pub fn new(informers: &Informers, options: Options) -> prometheus::Result<Arc<Shadow>> {
        let shadow = Arc::new(Shadow {
            sources: Sources::new(informers, options.limits.clone()),
            ledger: Mutex::new(Ledger::new(options.settle_period, options.writer_lease.is_some())),
            options,
            causes: Mutex::default(),
            queues: Mutex::default(),
            log_limit: Mutex::default(),
            metrics: ShadowMetrics::new()?,
            panics: AtomicU64::new(0),
        });
        shadow.watch(informers);
        Ok(shadow)
    }

    /// Registers the metrics `endpoint_controllers_shadow_*`.
    ///
    /// # Errors
    ///
    /// [`prometheus::Error::AlreadyReg`] if the registry contains one of them.
    pub fn register(self: &Arc<Self>, registry: &Registry) -> prometheus::Result<()> {
        self.metrics.register(registry, Arc::downgrade(self))
    }

    /// Adds the queue of a controller, which gets keys for periodic comparisons. Returns the controller with contained
    /// panics. `name` is its name in `--controllers` of kube-controller-manager.
    pub fn follow(self: &Arc<Self>, name: &'static str, controller: Controller<ObjectKey>) -> Controller<ObjectKey> {
        locked(&self.queues).push((name, controller.enqueuer()));
        let shadow = Arc::clone(self);
        controller.on_change(move |key| {
            locked(&shadow.causes).changed(name, key);
        });
        let shadow = Arc::clone(self);
        let controller = controller.on_sync(move |key| locked(&shadow.causes).start(name, key));
        // The series exists before the first panic.
        self.metrics.panics.with_label_values(&[name]);
        let shadow = Arc::clone(self);
        controller.contain_panics(move |message| shadow.panicked(name, message))
    }

    /// Returns the client of a controller, which sends no write and compares each plan.
    pub fn client<T: Object + Serialize + 'static>(
        self: &Arc<Self>,
        client: Client,
        controller: &'static str,
    ) -> ReviewedClient<T> {
        ReviewedClient::new(client, Arc::new(ShadowReview { shadow: Arc::clone(self), controller }))
    }

    /// Starts the tasks of the comparison, which end when `stop` is cancelled. `reader` reads the Lease of the writer.
    pub fn spawn(self: &Arc<Self>, supervisor: &mut Supervisor, reader: &Client, stop: &CancellationToken) {
        let shadow = || Arc::clone(self);
        let comparisons = shadow().compare_periodically(self.options.compare_period, stop.clone());
        supervisor.spawn("periodic comparisons", comparisons);
        supervisor.spawn("summaries of the comparison", shadow().log_summaries(stop.clone()));
        if let Some(lease) = &self.options.writer_lease {
            let following = shadow().follow_lease(reader.clone(), lease.clone(), stop.clone());
            supervisor.spawn(format!("reader of the Lease {lease}"), following);
        }
    }

    /// Returns the state of the comparison.
    pub fn report(&self) -> Report {
        report(&mut locked(&self.ledger), Now::get(), self.panics.load(Relaxed))
    }

    /// Counts and logs a panic of a sync.
    fn panicked(&self, controller: &'static str, message: &str) {
        self.panics.fetch_add(1, Relaxed);
        self.metrics.panics.with_label_values(&[controller]).inc();
        tracing::error!(controller, message, "A sync panicked; shadow mode continues, in active mode the process ends");
    }

    /// Compares the plan of a controller for one Service. Enqueues the Service if it is to be compared again.
    pub(crate) fn compare<T: Serialize + Object>(
        &self,
        controller: &'static str,
        key: &ObjectKey,
        writes: &[&Write<T>],
    ) {
        let is_empty = writes.iter().all(|write| has_no_effect(write));
        let now = Instant::now();
        let cause = locked(&self.causes).take(controller, key);
        // After the plan: a change in between makes the fingerprint newer than the plan, so that the time starts again
        // with the sync that this change causes.
        let fingerprint = self.sources.fingerprint(controller, key);
        if is_empty && !self.sources.is_compared(controller, key) {
            locked(&self.ledger).forget(now, controller, key);
            return;
        }
        let comparison = Comparison { controller, key, fingerprint, cause, is_empty };
        let decision = locked(&self.ledger).compare(now, comparison);
        match decision {
            Decision::Done => {}
            Decision::Again(delay) => {
                for (_, keys) in locked(&self.queues).iter().filter(|(name, _)| *name == controller) {
                    keys.requeue(key.clone(), delay);
                }
            }
            Decision::Mismatch => self.record(now, controller, key),
        }
    }

    fn record(&self, now: Instant, controller: &'static str, key: &ObjectKey) {
        let (mut classes, objects) = describe(self.sources.changes(controller, key));
        if classes.is_empty() {
            // The caches have changed since the plan, which the next sync shows.
            classes.insert(DifferenceClass::Content);
        }
        let names: Vec<&str> = classes.iter().map(|class| class.as_str()).collect();
        let names = names.join(",");
        let object = objects.first().map(|it| it.object.to_string()).unwrap_or_default();
        let is_new = locked(&self.ledger).record(now, (controller, key), classes, objects);
        if is_new && let Some(suppressed) = locked(&self.log_limit).take(now) {
            tracing::warn!(
                controller, service = %key, classes = names, object, suppressed,
                "Shadow mode: the controller would write something else than what exists; see /shadow"
            );
        }
    }
}

/// Returns whether a write changes nothing: the delete of an object that is being deleted, which finalizers keep.
fn has_no_effect<T: Serialize>(write: &Write<T>) -> bool {
    let Write::Delete(object) = write else { return false };
    serde_json::to_value(&**object).is_ok_and(|object| object["metadata"]["deletionTimestamp"].is_string())
}

#[cfg(test)]
mod tests;
