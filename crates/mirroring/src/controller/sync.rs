//! The sync of one Service's Endpoints.

use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex};

use kube_controller::{ControllerMetrics, Next, Propagation, Turn, locked};
use kube_controller_client::Client;
use kube_controller_client::events::{EventRecorder, EventType, ObjectReference};
use kube_endpoint_model::well_known::MIRRORING_CONTROLLER;
use kube_endpoint_model::{Cause, EndpointSlice, Endpoints, ObjectKey, Service, ServiceIndex, SliceIndex};
use kube_endpointslice::metrics::MetricsCache;
use kube_endpointslice::{
    ApplyError, LiveReadError, Plan, SliceTracker, Slices, TypePlan, apply, apply_measured, fresh_slices,
};
use kube_informer::Lister;
use tokio::time::Instant;

use crate::events::should_mirror;
use crate::metrics::MirroringMetrics;
use crate::plan::{MirrorPlan, plan};

/// What the workers share.
pub(super) struct Reconciler {
    pub(super) services: Lister<Service, ServiceIndex>,
    pub(super) endpoints: Lister<Endpoints>,
    pub(super) slices: Lister<EndpointSlice, SliceIndex>,
    pub(super) client: Client,
    pub(super) recorder: EventRecorder,
    pub(super) max_endpoints_per_subset: NonZeroUsize,
    pub(super) tracker: Arc<SliceTracker>,
    pub(super) totals: Mutex<MetricsCache>,
    pub(super) metrics: Arc<dyn MirroringMetrics>,
    pub(super) controller_metrics: Arc<dyn ControllerMetrics>,
    pub(super) propagation: Propagation<ObjectKey, Cause>,
}

/// Why a sync failed.
#[derive(Debug, thiserror::Error)]
pub(super) enum SyncError {
    /// Writes failed.
    #[error(transparent)]
    Apply(#[from] ApplyError),
    /// The cache is out of date and the server could not be read.
    #[error(transparent)]
    LiveRead(#[from] LiveReadError),
}

impl Reconciler {
    /// Brings the mirrored slices of a Service into line with its Endpoints (MI-2 to MI-24).
    pub(super) async fn sync(&self, key: &ObjectKey) -> Result<Next, SyncError> {
        let start = Instant::now();
        let mut turn = self.propagation.take(key);
        let result = self.mirror(key, &mut turn).await;
        turn.end(&result);
        self.metrics.took(start.elapsed());
        result
    }

    async fn mirror(&self, key: &ObjectKey, turn: &mut Turn<'_, ObjectKey, Cause>) -> Result<Next, SyncError> {
        let endpoints = self.endpoints.get(&key.namespace, &key.name).filter(|endpoints| should_mirror(endpoints));
        let service = self.services.get(&key.namespace, &key.name).filter(|service| service.selector.is_none());
        let (Some(endpoints), Some(_)) = (endpoints, service) else {
            return self.clean_up(key, turn).await;
        };

        let read = || self.mirrored_slices(key);
        let now = Instant::now().into_std();
        let slices = fresh_slices(&self.client, &self.tracker, key, MIRRORING_CONTROLLER, read, |_| true, now).await?;
        let existing = match slices {
            Slices::Fresh(slices) => slices,
            Slices::Repaired(slices) => {
                self.controller_metrics.repaired();
                slices
            }
            Slices::Stale(wait) => return Ok(Next::After(wait)),
        };

        let mirror = plan(&endpoints, &existing, self.max_endpoints_per_subset);
        self.tell_what_is_skipped(&endpoints, &mirror);
        self.measure(key, &mirror);
        if !mirror.plan.is_empty() {
            turn.writing();
        }
        apply_measured(&self.client, key, &mirror.plan, &self.tracker, &*self.metrics).await?;
        Ok(Next::Done)
    }

    fn mirrored_slices(&self, key: &ObjectKey) -> Vec<Arc<EndpointSlice>> {
        self.slices.read(|_, index| index.managed_slices(&key.namespace, &key.name, MIRRORING_CONTROLLER))
    }

    fn measure(&self, key: &ObjectKey, MirrorPlan { plan, skipped, invalid: _ }: &MirrorPlan) {
        let sum = |count: fn(&TypePlan) -> usize| plan.types.iter().map(count).sum();
        self.metrics.skipped(*skipped);
        self.metrics.planned_both(sum(|it| it.added), sum(|it| it.updated), sum(|it| it.removed));
        // MT-8: nothing to mirror needs no slice.
        self.metrics.totals(locked(&self.totals).update(key, plan, self.max_endpoints_per_subset, false));
    }

    /// Deletes all mirrored slices of a Service that has nothing to mirror (MI-24). These deletions do not count.
    async fn clean_up(&self, key: &ObjectKey, turn: &mut Turn<'_, ObjectKey, Cause>) -> Result<Next, SyncError> {
        self.tracker.forget(key);
        if let Some(totals) = locked(&self.totals).remove(key) {
            self.metrics.totals(totals);
        }
        let plan = Plan::delete(self.mirrored_slices(key));
        if !plan.is_empty() {
            turn.writing();
        }
        let applied = apply(&self.client, key, &plan, &self.tracker).await;
        // The events of these deletions are to wake nobody.
        self.tracker.forget(key);
        applied?;
        Ok(Next::Done)
    }

    fn tell_what_is_skipped(&self, endpoints: &Endpoints, mirror: &MirrorPlan) {
        let warn = |reason, message| {
            let about = ObjectReference::to(endpoints);
            self.recorder.event(&about, EventType::Warning, reason, message);
        };
        let MirrorPlan { skipped, invalid, plan: _ } = *mirror;
        if invalid > 0 {
            warn(
                "InvalidIPAddress",
                format!("Skipped {invalid} invalid IP addresses when mirroring to EndpointSlices"),
            );
        }
        if skipped > invalid {
            let max = self.max_endpoints_per_subset;
            warn(
                "TooManyAddressesToMirror",
                format!(
                    "A max of {max} addresses can be mirrored to EndpointSlices per Endpoints subset. \
                     {skipped} addresses were skipped"
                ),
            );
        }
    }
}
