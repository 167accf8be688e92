//! Metrics of syncs that upstream does not have.

use crate::Latency;

/// Receiver of the measurements of one controller. Each method does nothing by default.
pub trait ControllerMetrics: Send + Sync {
    /// Counts a key that used up [`RetryPolicy::max_retries`](crate::RetryPolicy::max_retries) and is retried at the
    /// slow interval from now on (EC-36). Also called after each slow retry that fails.
    fn retries_exhausted(&self) {}

    /// Observes the propagation latency of an event whose sync wrote. `source` is the name of the handler that queued
    /// the key.
    fn propagated(&self, source: &'static str, latency: Latency) {
        let _ = (source, latency);
    }
}
