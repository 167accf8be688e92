//! Metrics of syncs, for which upstream has no names.

use crate::Latency;

/// Receiver of the measurements of one controller. Each method does nothing by default.
pub trait ControllerMetrics: Send + Sync {
    /// Counts a key that is out of retries (EC-36).
    fn out_of_retries(&self) {}

    /// Observes the latency of an acknowledged change. `source` is the name of the handler that queued its key.
    fn propagated(&self, source: &'static str, latency: Latency) {
        let _ = (source, latency);
    }
}
