//! Cut-over from another writer: which writes of the controllers are sent.
//!
//! A leader withholds all writes while its comparison with the other writer is not clean (`--require-clean-shadow`), and
//! after it has planned too many writes in its first minute that no change explains. Both are left in annotations of the
//! Lease for later leaders.

mod changes;
mod clean_shadow;
mod first_writes;
mod inputs;
mod probation;
mod review;
mod written;

use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use kube_controller::{Supervisor, locked};
use kube_controller_client::events::EventType;
use kube_controller_client::{Client, PlannedWrite};
use kube_wire::ObjectKey;
use tokio::time::{Instant, sleep};
use tokio_util::sync::CancellationToken;

pub(crate) use self::first_writes::ChangeRecorder;
use self::first_writes::FirstWrites;
use self::probation::{Decision, Limit, Stop};
pub(crate) use self::review::CutOverReview;
use self::written::WrittenObject;
use crate::caches::Caches;
use crate::leader::Leading;
use crate::settings::{CutOverSettings, ShadowSettings};
use crate::shadow::Shadow;
use crate::write_hold::{HoldReason, WriteHold};

/// Annotation of the Lease: time and cause of the decision to withhold all writes. Leaders withhold their writes while it
/// exists; one with `--force` removes it.
const WITHHELD_ANNOTATION: &str = "kube-endpoints.github.io/writes-withheld";

/// Period of the checks for the end of a wait.
const TICK: Duration = Duration::from_secs(1);
/// Period in which the log repeats that writes are withheld.
const REMINDER: Duration = Duration::from_secs(60);

/// Decides which writes of the controllers are sent, in one term of this process.
pub(crate) struct CutOver {
    hold: WriteHold,
    required: Duration,
    /// `None` without leader election.
    leading: Option<Leading>,
    /// The comparison before the first write; `None` if it is not required, or has been clean.
    comparison: Mutex<Option<Arc<Shadow>>>,
    /// `None` if writes are not counted, or no longer.
    first_writes: Mutex<Option<FirstWrites>>,
}

/// Parts of the process that a [`CutOver`] reads or changes.
pub(crate) struct Parts<'a> {
    pub(crate) settings: CutOverSettings,
    pub(crate) caches: &'a Caches,
    /// `None` if [`CutOverSettings::counts_writes`] is false.
    pub(crate) recorder: Option<Arc<ChangeRecorder>>,
    pub(crate) hold: WriteHold,
    pub(crate) controllers: Vec<&'static str>,
    /// The comparison before the first write, its settings, and the client that reads the Lease of the other writer.
    /// `None` if it is not required.
    pub(crate) comparison: Option<(Arc<Shadow>, &'a ShadowSettings, &'a Client)>,
}

impl CutOver {
    /// Decides from the annotations of the Lease whether the controllers may write, and starts the task that waits until
    /// they may. Called when this process has become the leader, or without leader election at its start.
    pub(crate) fn start(
        parts: Parts<'_>,
        leading: Option<Leading>,
        supervisor: &mut Supervisor,
        stop: &CancellationToken,
    ) -> Arc<CutOver> {
        let Parts { settings, caches, recorder, hold, controllers, comparison } = parts;
        let CutOverSettings { unexplained_writes_fraction, unexplained_writes_minimum, require_clean_shadow, force } =
            settings;
        let limit = Limit { fraction: unexplained_writes_fraction, minimum: unexplained_writes_minimum };
        let first_writes = recorder.as_ref().map(|it| FirstWrites::new(caches, it, limit, &controllers));
        let cut_over = Arc::new(CutOver {
            hold,
            required: require_clean_shadow,
            leading,
            comparison: Mutex::default(),
            first_writes: Mutex::new(first_writes),
        });
        if force {
            cut_over.force();
        } else {
            cut_over.withhold_as_before();
        }
        if let Some((shadow, settings, reader)) = comparison {
            if !force && cut_over.compare_first(&shadow) {
                shadow.spawn(supervisor, settings, reader, stop);
            } else {
                shadow.end();
            }
        }
        supervisor.spawn("cut-over", Arc::clone(&cut_over).run(recorder, stop.clone()));
        cut_over
    }

    /// Returns the review of a controller's writes.
    pub(crate) fn review(self: &Arc<Self>, controller: &'static str) -> CutOverReview {
        CutOverReview { controller, is_over: AtomicBool::new(false), cut_over: Arc::clone(self) }
    }

    /// Returns the comparison before the first write; `None` if there is none, or when it has ended.
    pub(crate) fn comparison(&self) -> Option<Arc<Shadow>> {
        // One atomic load in most cases: this is called by each sync.
        self.hold.has(HoldReason::NotCleanYet).then(|| locked(&self.comparison).clone()).flatten()
    }

    /// Removes the annotation of withheld writes, and stores the evidence of a clean comparison if one is required.
    fn force(&self) {
        let Some(Leading { lease, .. }) = &self.leading else { return };
        if let Some(cause) = lease.annotation(WITHHELD_ANNOTATION) {
            tracing::warn!(cause, "Writes were withheld; they are sent because of --force");
            lease.annotate(WITHHELD_ANNOTATION, None);
        }
        if !self.required.is_zero() {
            lease.annotate(clean_shadow::ANNOTATION, Some(&clean_shadow::evidence(kube_ambient::now())));
        }
    }

    /// Withholds all writes if an earlier leader has decided so.
    fn withhold_as_before(&self) {
        let Some(Leading { lease, .. }) = &self.leading else { return };
        if let Some(cause) = lease.annotation(WITHHELD_ANNOTATION) {
            self.hold.set(HoldReason::UnexplainedWrites, true);
            tracing::error!(
                cause,
                annotation = WITHHELD_ANNOTATION,
                "Writing nothing: an earlier leader stopped. {ADVICE}"
            );
            self.record(format!("Writing nothing, since an earlier leader stopped: {cause}"));
        }
    }

    /// Withholds all writes until the comparison is clean, unless an earlier leader of this version has completed it.
    /// Returns whether it begins.
    fn compare_first(&self, shadow: &Arc<Shadow>) -> bool {
        let Some(Leading { lease, .. }) = &self.leading else { return false };
        let evidence = lease.annotation(clean_shadow::ANNOTATION);
        if evidence.as_deref().is_some_and(clean_shadow::is_evidence) {
            return false;
        }
        tracing::info!(
            required = ?self.required,
            evidence,
            "Comparing before the first write. If no other program writes EndpointSlices and Endpoints, restart with --force"
        );
        *locked(&self.comparison) = Some(Arc::clone(shadow));
        self.hold.set(HoldReason::NotCleanYet, true);
        true
    }

    /// Waits until the comparison was clean for long enough and the first writes are counted. Then frees their state, and
    /// waits for `stop`.
    async fn run(self: Arc<Self>, recorder: Option<Arc<ChangeRecorder>>, stop: CancellationToken) {
        let work = async {
            let mut reminded = Instant::now();
            let mut recorder = recorder;
            loop {
                let now = Instant::now();
                let is_due = reminded + REMINDER <= now;
                if is_due {
                    reminded = now;
                }
                let waits = self.wait_for_clean_shadow(now, is_due);
                if locked(&self.first_writes).take_if(|it| it.is_over(now)).is_some() {
                    tracing::debug!("The first writes are explained");
                }
                if locked(&self.first_writes).is_none()
                    && let Some(recorder) = recorder.take()
                {
                    recorder.stop();
                }
                let is_withheld = self.hold.has(HoldReason::UnexplainedWrites);
                if is_withheld && is_due {
                    tracing::error!("Writing nothing because of unexplained writes. {ADVICE}");
                }
                if !waits && !is_withheld && recorder.is_none() {
                    break;
                }
                sleep(TICK).await;
            }
            std::future::pending::<()>().await;
        };
        stop.run_until_cancelled(work).await;
    }

    /// Ends the comparison if it was clean for long enough. Returns whether it continues.
    fn wait_for_clean_shadow(&self, now: Instant, is_due: bool) -> bool {
        let mut comparison = locked(&self.comparison);
        let Some(shadow) = &*comparison else { return false };
        let clean = shadow.clean_for(now);
        // Before a difference can be a mismatch, the time proves nothing.
        let required = self.required.max(shadow.required_period(now));
        if clean.is_none_or(|clean| clean < required) {
            if is_due {
                let (mismatches, clean_s) = (shadow.mismatches(), clean.unwrap_or_default().as_secs());
                tracing::info!(
                    clean_s,
                    required_s = required.as_secs(),
                    mismatches,
                    "Writing nothing until the comparison is clean"
                );
            }
            return true;
        }
        self.hold.set(HoldReason::NotCleanYet, false);
        shadow.end();
        *comparison = None;
        tracing::info!(required_s = self.required.as_secs(), "The comparison was clean: starting to write");
        if let Some(Leading { lease, .. }) = &self.leading {
            lease.annotate(clean_shadow::ANNOTATION, Some(&clean_shadow::evidence(kube_ambient::now())));
        }
        false
    }

    /// Decides about a plan; `None` if the writes of the controller are no longer counted.
    fn decide<T: WrittenObject>(
        &self,
        now: Instant,
        controller: &'static str,
        key: &ObjectKey,
        writes: &[PlannedWrite<'_, T>],
    ) -> Option<Decision> {
        locked(&self.first_writes).as_mut()?.decide(now, controller, key, writes)
    }

    /// Withholds all writes from now on, in later terms too.
    fn stop_writing(&self, stop: &Stop) {
        let Stop { planned, limit, objects, examples } = stop;
        if !self.hold.set(HoldReason::UnexplainedWrites, true) {
            return;
        }
        let cause = format!(
            "{planned} writes in the first minute that no change of a Pod, Service or Node explains; the limit is {limit} \
             with {objects} slices"
        );
        tracing::error!(planned, limit, objects, "Writing nothing from now on: {cause}. {ADVICE}");
        for example in examples {
            tracing::error!("Unexplained write: {example}");
        }
        if let Some(Leading { lease, .. }) = &self.leading {
            lease.annotate(WITHHELD_ANNOTATION, Some(&format!("{:.0} {cause}", kube_ambient::now())));
        }
        self.record(format!("Writing nothing from now on: {cause}. Examples are in the log."));
    }

    /// Records an event about the Lease, if there is one.
    fn record(&self, message: String) {
        if let Some(Leading { lease, recorder, .. }) = &self.leading {
            recorder.event(&lease.reference(), EventType::Warning, "WritesWithheld", message);
        }
    }
}

/// What an operator can do about withheld writes.
const ADVICE: &str = "Restart with --force to write, or let kube-controller-manager write again";
