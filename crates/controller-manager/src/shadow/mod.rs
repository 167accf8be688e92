//! Shadow mode: compares the plans of the controllers with what another program has written.
//!
//! ```text
//! controllers --plans--> review --> ledger <-- tasks: Lease of the writer, periodic comparisons
//!      ^                              |
//!      +------- sync again -----------+--> /shadow, metrics, log
//! ```
//!
//! The [`ledger`] decides what is a mismatch: pure, with the time as an argument. The [`review`] gets the plans of the
//! controllers in place of the API server and passes them to it, [`sources`] reads the caches, and [`differences`] describes a mismatch with
//! the same functions as `kubectl endpoints diff`.

mod differences;
mod drains;
mod ledger;
mod log_limit;
mod metrics;
mod mismatches;
mod report;
mod review;
mod sources;
mod tasks;
mod writer;

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex};

use kube_controller::{Controller, Enqueuer, Supervisor, locked};
use kube_controller_client::{Client, PlannedWrite, ReviewedClient};
use kube_endpoint_model::ObjectKey;
use kube_wire::Object;
use serde::Serialize;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use self::differences::{Write, describe};
use self::ledger::{Cause, Comparison, Decision, Ledger};
use self::log_limit::LogLimit;
use self::metrics::ShadowMetrics;
use self::report::{Now, report};
use self::review::ShadowReview;
use self::sources::Sources;
use crate::caches::Caches;
use crate::metrics::Metrics;
use crate::pages::{Report, ShadowPage};
use crate::settings::{Mode, Settings, ShadowSettings};

/// The comparison of all controllers.
pub(crate) struct Shadow {
    sources: Sources,
    ledger: Mutex<Ledger>,
    /// Why each queued key is synced next, if it is not its first sync or a retry.
    causes: Mutex<HashMap<(&'static str, ObjectKey), Cause>>,
    /// Queues of the controllers, to compare Services without an event.
    queues: Mutex<Vec<(&'static str, Enqueuer<ObjectKey>)>>,
    log_limit: Mutex<LogLimit>,
    metrics: ShadowMetrics,
    panics: AtomicU64,
}

impl Shadow {
    /// Starts the comparison of what is in `caches` if `settings` have shadow mode, registers its metrics, and sets the source
    /// of `page`. Returns `None` in active mode.
    ///
    /// # Errors
    ///
    /// A metric cannot be registered.
    pub(crate) fn start(
        settings: &Settings,
        caches: &Caches,
        metrics: Option<&Metrics>,
        page: &ShadowPage,
    ) -> prometheus::Result<Option<Arc<Shadow>>> {
        if settings.mode != Mode::Shadow {
            return Ok(None);
        }
        let shadow = Arc::new(Shadow {
            sources: Sources::new(caches, limits(settings)),
            ledger: Mutex::new(Ledger::new(settings.shadow.settle_period, settings.shadow.writer_lease.is_some())),
            causes: Mutex::default(),
            queues: Mutex::default(),
            log_limit: Mutex::default(),
            metrics: ShadowMetrics::new()?,
            panics: AtomicU64::new(0),
        });
        if let Some(metrics) = metrics {
            shadow.metrics.register(&metrics.registry, Arc::downgrade(&shadow))?;
        }
        shadow.watch(caches);
        let source = Arc::clone(&shadow);
        page.set(move || source.report());
        Ok(Some(shadow))
    }

    /// Adds the queue of a controller, which gets keys for periodic comparisons. Returns the controller with contained
    /// panics.
    pub(crate) fn follow(
        self: &Arc<Self>,
        name: &'static str,
        controller: Controller<ObjectKey>,
    ) -> Controller<ObjectKey> {
        locked(&self.queues).push((name, controller.enqueuer()));
        let shadow = Arc::clone(self);
        controller.on_change(move |key| {
            locked(&shadow.causes).insert((name, key.clone()), Cause::Change);
        });
        // The series exists before the first panic.
        self.metrics.panics.with_label_values(&[name]);
        let shadow = Arc::clone(self);
        controller.contain_panics(move |message| shadow.panicked(name, message))
    }

    /// Returns the client of a controller, which sends no write and compares each plan.
    pub(crate) fn client<T: Object + Serialize + 'static>(
        self: &Arc<Self>,
        client: Client,
        controller: &'static str,
    ) -> ReviewedClient<T> {
        ReviewedClient::new(client, Arc::new(ShadowReview::new(Arc::clone(self), controller)))
    }

    /// Starts the tasks of the comparison, which end when `stop` is cancelled.
    pub(crate) fn spawn(
        self: &Arc<Self>,
        supervisor: &mut Supervisor,
        settings: &ShadowSettings,
        reader: &Client,
        stop: &CancellationToken,
    ) {
        let shadow = || Arc::clone(self);
        let comparisons = shadow().compare_periodically(settings.compare_period, stop.clone());
        supervisor.spawn("periodic comparisons", comparisons);
        supervisor.spawn("summaries of the comparison", shadow().log_summaries(stop.clone()));
        if let Some(lease) = &settings.writer_lease {
            let following = shadow().follow_lease(reader.clone(), lease.clone(), stop.clone());
            supervisor.spawn(format!("reader of the Lease {lease}"), following);
        }
    }

    /// Returns the contents of `/shadow`.
    fn report(&self) -> Report {
        report(&mut locked(&self.ledger), Now::get(), self.panics.load(Relaxed))
    }

    /// Counts and logs a panic of a sync.
    fn panicked(&self, controller: &'static str, message: &str) {
        self.panics.fetch_add(1, Relaxed);
        self.metrics.panics.with_label_values(&[controller]).inc();
        tracing::error!(controller, message, "A sync panicked; shadow mode continues, in active mode the process ends");
    }

    /// Compares the plan of a controller for one Service. Enqueues the Service if it is to be compared again.
    fn compare_plan<T: Serialize + Object>(
        &self,
        controller: &'static str,
        key: &ObjectKey,
        writes: &[PlannedWrite<'_, T>],
    ) {
        let is_empty = writes.iter().all(Write::has_no_effect);
        self.compare(controller, key, is_empty, || writes.iter().map(Write::new).collect());
    }

    /// Compares a plan. `writes` is called only for a mismatch.
    fn compare(&self, controller: &'static str, key: &ObjectKey, is_empty: bool, writes: impl FnOnce() -> Vec<Write>) {
        let now = Instant::now();
        let cause = locked(&self.causes).remove(&(controller, key.clone())).unwrap_or_default();
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
                    keys.add_again(key.clone(), delay);
                }
            }
            Decision::Mismatch => self.record(now, controller, key, &writes()),
        }
    }

    fn record(&self, now: Instant, controller: &'static str, key: &ObjectKey, writes: &[Write]) {
        let stored = self.sources.stored_slices(controller, key);
        let is_written = |name: &str| writes.iter().any(|write| write.stored == name);
        let unchanged = stored.iter().filter(|slice| !is_written(&slice.metadata.name));
        let unchanged = unchanged.map(|slice| slice.address_type.as_str().to_owned()).collect();
        let (classes, objects) = describe(key, writes, &unchanged, &self.sources.changes(key));
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

/// Returns the limits that the plans depend on.
#[cfg_attr(not(any(feature = "endpointslice", feature = "mirroring")), expect(unused, reason = "limits of slices"))]
fn limits(settings: &Settings) -> kube_endpoints_explain::Settings {
    let mut limits = kube_endpoints_explain::Settings::default();
    #[cfg(feature = "endpointslice")]
    {
        limits.max_endpoints_per_slice = settings.endpointslice.max_endpoints_per_slice;
    }
    #[cfg(feature = "mirroring")]
    {
        limits.max_endpoints_per_subset = settings.mirroring.max_endpoints_per_subset;
    }
    limits
}
