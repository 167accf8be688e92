//! Holds that begin and end at the same time.

use std::{
    sync::{Arc, OnceLock},
    time::Duration,
};

use kube_wire::{Decode as _, ObjectKey, ResourceVersion};

use super::*;
use crate::{CacheState, HandlerMetrics, InformerMetrics, RelistCause, item::Item};

/// Ends a hold while its metrics are recorded, in place of another task.
#[derive(Clone, Default)]
struct EndsHolds(Arc<OnceLock<Arc<Untyped>>>);

impl InformerMetricsProvider for EndsHolds {
    fn informer(&self, _: &Resource) -> Arc<dyn InformerMetrics> {
        Arc::new(self.clone())
    }
}

impl InformerMetrics for EndsHolds {
    fn listed(&self, _: usize, _: Duration) {}
    fn list_failed(&self) {}
    fn watch_opened(&self) {}
    fn relist(&self, _: RelistCause) {}
    fn undecodable(&self) {}
    fn undecodable_objects(&self, _: usize) {}
    fn processed(&self, _: Duration) {}
    fn stored(&self, _: &ResourceVersion, _: usize) {}

    fn guarded(&self, _: GuardOutcome) {
        if let Some(informer) = self.0.get() {
            informer.end_hold();
        }
    }

    fn handler(&self, _: &str) -> Arc<dyn HandlerMetrics> {
        unreachable!("there is no handler")
    }
}

#[tokio::test(start_paused = true)]
async fn the_progress_is_held_if_a_list_is() {
    let metrics = EndsHolds::default();
    let informer = Arc::new(Untyped::new(&Item::RESOURCE, None, Some(&metrics)));
    assert!(metrics.0.set(informer.clone()).is_ok());
    informer.progress.listed(Instant::now());
    informer.hold(HeldList { missing: 1, example: ObjectKey::new("shop", "a"), found: true });
    let is_held = matches!(informer.progress.at(Instant::now()), CacheState::Held { .. });
    assert_eq!(is_held, informer.is_held());
}
