//! The sync of one Service.

use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::Duration;

use kube_controller::{Action, Enqueuer, Outcome};
use kube_controller_client::events::EventType;
use kube_endpoint_model::{Endpoints, Listers, ObjectKey, WarningEvent};
use kube_endpointslice::{ApplyError, Reconciler};
use kube_informer::WITHHELD_INTERVAL;
use kube_wire::Decode as _;
use tokio::time::Instant;

use crate::metrics::MirroringMetrics;
use crate::plan::{MirrorPlan, NothingToMirror, plan};

/// Mirrors the Endpoints of one Service; shared by the workers.
pub(super) struct Syncs {
    pub(super) caches: Listers,
    pub(super) reconciler: Reconciler,
    pub(super) max_endpoints_per_subset: NonZeroUsize,
    pub(super) metrics: Arc<dyn MirroringMetrics>,
    pub(super) keys: Enqueuer<ObjectKey>,
    pub(super) batch_period: Duration,
}

impl Syncs {
    /// Reconciles the mirrored slices of a Service with its Endpoints (MI-2 to MI-11, MI-13 to MI-21, MI-23, MI-24).
    ///
    /// # Errors
    ///
    /// Some writes failed. The key must be retried.
    pub(super) async fn sync(&self, key: &ObjectKey) -> Result<Action, ApplyError> {
        let start = Instant::now();
        let result = self.mirror(key).await;
        self.metrics.sync_duration(start.elapsed());
        result
    }

    async fn mirror(&self, key: &ObjectKey) -> Result<Action, ApplyError> {
        let planned = || plan(&self.caches, key, self.max_endpoints_per_subset);
        // A plan that is made before the wait would be out of date afterwards.
        if self.keys.is_contested(key)
            && let Ok(MirrorPlan { slices, .. }) = planned()
            && self
                .reconciler
                .awaits_deletion(&Endpoints::RESOURCE, &slices.owner, key, &self.keys, self.batch_period)
                .await
        {
            return Ok(Outcome::Unchanged.into());
        }
        let MirrorPlan { slices, events, skipped, invalid: _ } = match planned() {
            Ok(planned) => planned,
            Err(NothingToMirror::Withheld) => {
                self.keys.requeue(key.clone(), WITHHELD_INTERVAL);
                return Ok(Outcome::Unchanged.into());
            }
            Err(nothing) => {
                self.reconciler.forget(key);
                let deleted = self.reconciler.delete(&"Endpoints".into(), key, nothing.superfluous().to_vec()).await?;
                return Ok(deleted.into());
            }
        };
        for WarningEvent { reason, message } in events {
            self.reconciler.events().event(&slices.owner, EventType::Warning, reason, message);
        }
        self.metrics.skipped(skipped);
        Ok(self.reconciler.execute(slices).await?.into())
    }
}
