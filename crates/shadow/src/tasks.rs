//! The periodic tasks of shadow mode, and its handlers.

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use display_full_error::DisplayFullErrorExt as _;
use jiff::Timestamp;
use k8s_openapi::api::coordination::v1::Lease;
use kube_controller::locked;
use kube_controller_client::Client;
use kube_endpoint_model::ObjectKey;
use kube_endpoint_model::well_known::{
    ENDPOINTS_CONTROLLER_NAME as ENDPOINTS, MIRRORING_CONTROLLER, MIRRORING_CONTROLLER_NAME as MIRRORING,
    SLICE_CONTROLLER, SLICE_CONTROLLER_NAME as ENDPOINTSLICE,
};
use kube_informer::Event;
use kube_lease_election::LeaseName;
use kube_wire::Object as _;
use tokio::time::{Instant, MissedTickBehavior, interval, sleep};
use tokio_util::sync::CancellationToken;

use crate::Shadow;
use crate::options::Informers;
use crate::report::summary;
use crate::sources::has_selector;
use crate::writer::{LEASE_PERIOD, LeaseReading};

/// Period of the summary in the log.
const SUMMARY_PERIOD: Duration = Duration::from_secs(3_600);
/// Duration of a Lease that does not have it: the default of leader election.
const DEFAULT_DURATION: Duration = Duration::from_secs(15);
/// Minimum time between two periodic comparisons.
const MIN_STEP: Duration = Duration::from_millis(1);

impl Shadow {
    /// Adds the handlers that the controllers lack since they do not expect other writers: a sync follows each change of
    /// an object that they write, at once, so that the time until a plan becomes empty is measured exactly.
    pub(crate) fn watch(self: &Arc<Self>, caches: &Informers) {
        let shadow = Arc::clone(self);
        caches.endpoints.add_handler(move |event| {
            let endpoints = event.object();
            if event.is_change() && !endpoints.is_leader_lock() {
                shadow.enqueue(ENDPOINTS, &endpoints.key());
            }
        });
        let shadow = Arc::clone(self);
        caches.slices.add_handler(move |event| {
            let slice = event.object();
            let Some(service) = slice.service_name().filter(|_| event.is_change()) else { return };
            let key = ObjectKey::new(slice.metadata.namespace.clone(), service);
            for (controller, manager) in [(ENDPOINTSLICE, SLICE_CONTROLLER), (MIRRORING, MIRRORING_CONTROLLER)] {
                if slice.is_managed_by(manager) {
                    shadow.enqueue(controller, &key);
                }
            }
        });
        let shadow = Arc::clone(self);
        caches.services.add_handler(move |event| {
            let is_ignored = match &event {
                Event::Deleted { .. } => true,
                Event::Added { object, .. } | Event::Updated { new: object, .. } => !has_selector(object),
            };
            if is_ignored {
                let (now, key) = (Instant::now(), event.object().key());
                for controller in [ENDPOINTS, ENDPOINTSLICE] {
                    locked(&shadow.ledger).forget(now, controller, &key);
                }
            }
        });
    }

    pub(crate) fn enqueue(&self, controller: &str, key: &ObjectKey) {
        for (name, keys) in locked(&self.queues).iter().filter(|(name, _)| *name == controller) {
            locked(&self.causes).compared(name, key);
            keys.add(key.clone());
        }
    }

    /// Compares every Service again in each period, evenly spread, until `stop` is cancelled.
    pub(crate) async fn compare_periodically(self: Arc<Self>, period: Duration, stop: CancellationToken) {
        // The controllers compare every Service at their start.
        stop.run_until_cancelled(sleep(period)).await;
        while stop.run_until_cancelled(self.compare_all(period)).await.is_some() {}
    }

    /// Adds the keys of all Services to the queues within `period`, and drops the state of those that are gone.
    async fn compare_all(&self, period: Duration) {
        let keys = self.sources.keys();
        let count = u32::try_from(keys.len()).unwrap_or(u32::MAX).max(1);
        let step = (period / count).max(MIN_STEP);
        if keys.is_empty() {
            sleep(step).await;
        }
        for key in keys {
            for controller in [ENDPOINTS, ENDPOINTSLICE, MIRRORING] {
                if self.sources.is_compared(controller, &key) {
                    self.enqueue(controller, &key);
                }
            }
            sleep(step).await;
        }
        for controller in [ENDPOINTS, ENDPOINTSLICE, MIRRORING] {
            let keeps = |key: &ObjectKey| self.sources.is_compared(controller, key);
            locked(&self.ledger).prune(Instant::now(), controller, keeps);
        }
        // The controllers compute no plan for a Service that they ignore, or that is gone.
        locked(&self.causes).retain(|controller, key| self.sources.is_compared(controller, key));
    }

    /// Reads the Lease of the writer, at least every 10 s, until `stop` is cancelled.
    pub(crate) async fn follow_lease(self: Arc<Self>, client: Client, lease: LeaseName, stop: CancellationToken) {
        let mut ticks = interval(LEASE_PERIOD);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let (mut period, mut is_available) = (LEASE_PERIOD, true);
        while stop.run_until_cancelled(ticks.tick()).await.is_some() {
            ticks.reset_after(period);
            let read = stop.run_until_cancelled(client.get::<Lease>(&lease.namespace, &lease.name)).await;
            let reading = match read {
                None => return,
                Some(Ok(found)) => {
                    is_available = true;
                    reading(&found)
                }
                Some(Err(error)) if error.is_not_found() || error.is_forbidden() => {
                    if std::mem::take(&mut is_available) {
                        tracing::warn!(
                            %lease, err = %error.display_full(),
                            "Unable to read the Lease of the writer: time alone decides what counts as a mismatch"
                        );
                    }
                    LeaseReading::Unavailable
                }
                Some(Err(error)) => {
                    tracing::debug!(%lease, err = %error.display_full(), "Unable to read the Lease of the writer");
                    continue;
                }
            };
            period = reading.period();
            locked(&self.ledger).observe_lease(Instant::now(), reading);
        }
    }

    /// Logs the summary every hour until `stop` is cancelled.
    pub(crate) async fn log_summaries(self: Arc<Self>, stop: CancellationToken) {
        let mut ticks = interval(SUMMARY_PERIOD);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        // The first tick is immediate.
        ticks.tick().await;
        while stop.run_until_cancelled(ticks.tick()).await.is_some() {
            let summary = summary(&mut locked(&self.ledger), Instant::now(), self.panics.load(Relaxed));
            tracing::info!("Shadow mode: {summary}");
        }
    }
}

fn reading(lease: &Lease) -> LeaseReading {
    let spec = lease.spec.clone().unwrap_or_default();
    let seconds = spec.lease_duration_seconds.and_then(|it| u64::try_from(it).ok()).filter(|it| *it > 0);
    let renewed: Option<Timestamp> = spec.renew_time.map(|time| time.0);
    let holder = spec.holder_identity.unwrap_or_default();
    LeaseReading::Lease { holder, renewed, duration: seconds.map_or(DEFAULT_DURATION, Duration::from_secs) }
}
