//! The sync of one Service.

use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::Duration;

use kube_controller::{Enqueuer, Outcome};
use kube_controller_client::events::{EventRecorder, EventType, ObjectReference};
use kube_endpoint_model::{EndpointSlice, Endpoints, ObjectKey};
use kube_endpointslice::{ApplyError, Reconciler};
use kube_informer::WITHHELD_INTERVAL;
use kube_wire::Decode as _;
use tokio::time::Instant;

use super::caches::Caches;
use crate::desired::{Mirrored, desired};
use crate::inputs::{Inputs, NothingToMirror};
use crate::metrics::MirroringMetrics;
use crate::plan::SliceMetadata;

/// Mirrors the Endpoints of one Service; shared by the workers.
pub(super) struct Syncs {
    pub(super) caches: Caches,
    pub(super) reconciler: Reconciler,
    pub(super) recorder: EventRecorder,
    pub(super) max_endpoints_per_subset: NonZeroUsize,
    pub(super) metrics: Arc<dyn MirroringMetrics>,
    pub(super) keys: Enqueuer<ObjectKey>,
    pub(super) batch_period: Duration,
}

impl Syncs {
    /// Reconciles the mirrored slices of a Service with its Endpoints (MI-2 to MI-24).
    ///
    /// # Errors
    ///
    /// Some writes failed. The key must be retried.
    pub(super) async fn sync(&self, key: &ObjectKey) -> Result<Outcome, ApplyError> {
        let start = Instant::now();
        let result = self.mirror(key).await;
        self.metrics.sync_duration(start.elapsed());
        result
    }

    async fn mirror(&self, key: &ObjectKey) -> Result<Outcome, ApplyError> {
        let Inputs { endpoints, existing } = Inputs::read(&self.caches, key);
        let endpoints = match endpoints {
            Ok(endpoints) => endpoints,
            Err(NothingToMirror::Withheld) => {
                self.keys.requeue(key.clone(), WITHHELD_INTERVAL);
                return Ok(Outcome::Unchanged);
            }
            Err(_) => return self.clean_up(key, existing).await,
        };

        let metadata = SliceMetadata::of(&endpoints);
        if self
            .reconciler
            .awaits_deletion(&Endpoints::RESOURCE, &metadata.owner, key, &self.keys, self.batch_period)
            .await
        {
            return Ok(Outcome::Unchanged);
        }
        let Mirrored { groups, skipped, invalid } = desired(&endpoints, self.max_endpoints_per_subset);
        self.warn_of_skipped(&endpoints, skipped, invalid);
        self.metrics.skipped(skipped);
        let done = self.reconciler.reconcile(metadata.input(groups, &existing), None).await?;
        Ok(done.into())
    }

    /// Deletes all mirrored slices of a Service that has nothing to mirror (MI-24).
    async fn clean_up(&self, key: &ObjectKey, slices: Vec<Arc<EndpointSlice>>) -> Result<Outcome, ApplyError> {
        self.reconciler.forget(key);
        let done = self.reconciler.delete(&"Endpoints".into(), key, slices).await?;
        Ok(done.into())
    }

    fn warn_of_skipped(&self, endpoints: &Endpoints, skipped: usize, invalid: usize) {
        for (reason, message) in skip_events(self.max_endpoints_per_subset, skipped, invalid) {
            self.recorder.event(&ObjectReference::to(endpoints), EventType::Warning, reason, message);
        }
    }
}

/// Returns reason and message of each event about skipped addresses (MI-11). `max` is the limit for one subset, `invalid` the
/// number of skipped addresses that do not parse.
fn skip_events(max: NonZeroUsize, skipped: usize, invalid: usize) -> Vec<(&'static str, String)> {
    let mut events = Vec::new();
    if invalid > 0 {
        let message = format!("Skipped {invalid} invalid IP addresses when mirroring to EndpointSlices");
        events.push(("InvalidIPAddress", message));
    }
    if skipped > invalid {
        let message = format!(
            "A max of {max} addresses can be mirrored to EndpointSlices per Endpoints subset. \
             {skipped} addresses were skipped"
        );
        events.push(("TooManyAddressesToMirror", message));
    }
    events
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    const INVALID: (&str, &str) =
        ("InvalidIPAddress", "Skipped 2 invalid IP addresses when mirroring to EndpointSlices");
    const TOO_MANY: (&str, &str) = (
        "TooManyAddressesToMirror",
        "A max of 1000 addresses can be mirrored to EndpointSlices per Endpoints subset. 5 addresses were skipped",
    );

    // MI-11
    #[rstest]
    #[case::none(0, 0, &[])]
    #[case::invalid(2, 2, &[INVALID])]
    #[case::too_many(5, 0, &[TOO_MANY])]
    #[case::both(5, 2, &[INVALID, TOO_MANY])]
    fn events_about_skipped_addresses(
        #[case] skipped: usize,
        #[case] invalid: usize,
        #[case] expected: &[(&str, &str)],
    ) {
        let events = skip_events(NonZeroUsize::new(1_000).expect("not zero"), skipped, invalid);
        let shown: Vec<(&str, &str)> = events.iter().map(|(reason, message)| (*reason, message.as_str())).collect();
        assert_eq!(shown, expected);
    }
}
