//! The review of one controller's writes.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use kube_controller_client::{PlannedWrite, Review, Verdict};
use kube_endpoint_model::{EndpointSlice, Endpoints, ObjectKey};
use kube_wire::Object;
use tokio::time::Instant;

use super::CutOver;
use super::probation::{Decision, RECHECK};
use super::written::WrittenObject;

/// Sends the writes of a controller unless there is a reason to withhold them.
pub(crate) struct CutOverReview {
    pub(super) controller: &'static str,
    /// Whether the writes of this controller are no longer counted.
    pub(super) is_over: AtomicBool,
    pub(super) cut_over: Arc<CutOver>,
}

impl CutOverReview {
    fn verdict<T: WrittenObject + Object>(&self, key: &ObjectKey, writes: &[PlannedWrite<'_, T>]) -> Verdict {
        let CutOverReview { controller, is_over, cut_over } = self;
        if let Verdict::Withhold { sync_again } = cut_over.hold.verdict() {
            if let Some(comparison) = cut_over.comparison() {
                return Verdict::Withhold { sync_again: comparison.compare_plan(controller, key, writes) };
            }
            // A sync without writes is complete. It is withheld too, since a controller may delete an object by name that
            // is not in its cache.
            return Verdict::Withhold { sync_again: sync_again.filter(|_| !writes.is_empty()) };
        }
        if is_over.load(Ordering::Relaxed) {
            return Verdict::Send;
        }
        match cut_over.decide(Instant::now(), controller, key, writes) {
            None => {
                is_over.store(true, Ordering::Relaxed);
                Verdict::Send
            }
            Some(Decision::Send) => Verdict::Send,
            Some(Decision::Recheck) => Verdict::Withhold { sync_again: Some(RECHECK) },
            Some(Decision::Stop(stop)) => {
                cut_over.stop_writing(&stop);
                Verdict::Withhold { sync_again: None }
            }
        }
    }
}

impl Review<EndpointSlice> for CutOverReview {
    fn review(&self, key: &ObjectKey, writes: &[PlannedWrite<'_, EndpointSlice>]) -> Verdict {
        self.verdict(key, writes)
    }

    fn observes(&self) -> bool {
        self.cut_over.comparison().is_some()
    }
}

impl Review<Endpoints> for CutOverReview {
    fn review(&self, key: &ObjectKey, writes: &[PlannedWrite<'_, Endpoints>]) -> Verdict {
        self.verdict(key, writes)
    }

    fn observes(&self) -> bool {
        self.cut_over.comparison().is_some()
    }
}
