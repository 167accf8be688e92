//! The review of one controller's writes.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use kube_controller_client::{PlannedWrite, Review, Verdict};
use kube_endpoint_model::{EndpointSlice, Endpoints, ObjectKey};
use tokio::time::Instant;

use super::CutOver;
use super::probation::{Decision, RECHECK};
use super::written::WrittenObject;

/// Sends the writes of a controller unless there is a reason to withhold them.
pub(crate) struct ControllerReview {
    pub(super) controller: &'static str,
    /// Whether the writes of this controller are no longer counted.
    pub(super) is_over: AtomicBool,
    pub(super) cut_over: Arc<CutOver>,
}

impl ControllerReview {
    fn verdict<T: WrittenObject>(&self, key: &ObjectKey, writes: &[PlannedWrite<'_, T>]) -> Verdict {
        let ControllerReview { controller, is_over, cut_over } = self;
        if let Verdict::Withhold { sync_again } = cut_over.hold.verdict() {
            cut_over.compared(controller, key, !writes.is_empty());
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

impl Review<EndpointSlice> for ControllerReview {
    fn review(&self, key: &ObjectKey, writes: &[PlannedWrite<'_, EndpointSlice>]) -> Verdict {
        self.verdict(key, writes)
    }
}

impl Review<Endpoints> for ControllerReview {
    fn review(&self, key: &ObjectKey, writes: &[PlannedWrite<'_, Endpoints>]) -> Verdict {
        self.verdict(key, writes)
    }
}
