//! Metrics of syncs that upstream does not have.

use std::time::Duration;

/// Receiver of the measurements of one controller. Each method does nothing by default.
pub trait ControllerMetrics: Send + Sync {
    /// Counts a key that used up [`RetryPolicy::max_retries`](crate::RetryPolicy::max_retries) and is retried at the
    /// slow interval from now on (EC-36). Also called after each slow retry that fails.
    fn retries_exhausted(&self) {}

    /// Sets the number of keys that wait at the [`ServerGate`](crate::ServerGate) while the API server fails. Called under
    /// locks of the gate: must not block, nor count [pending keys](Self::pending).
    fn waiting_for_server(&self, keys: usize) {
        let _ = keys;
    }

    /// Adds the pending keys of a controller that starts. To be called whenever metrics are collected.
    fn pending(&self, count: PendingKeys) {
        drop(count);
    }

    /// Observes the propagation latency of an event whose sync wrote. `source` is the name of the handler that queued
    /// the key.
    fn propagated(&self, source: &str, latency: Latency) {
        let _ = (source, latency);
    }
}

/// Returns the number of pending keys of a controller: those that are queued, delayed, waiting at the
/// [`ServerGate`](crate::ServerGate) or being synced. `None` after the controller has ended.
pub type PendingKeys = Box<dyn Fn() -> Option<usize> + Send + Sync>;

/// Propagation latency of one event, from the event to the end of the sync that wrote because of it, in two parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Latency {
    /// Time from the event to the start of the sync that wrote: batching, delays, back-off and failed syncs.
    pub queue: Duration,
    /// Duration of the sync that wrote, which includes the requests to the API server.
    pub sync: Duration,
}

impl Latency {
    /// Returns the sum of both parts.
    pub fn total(&self) -> Duration {
        self.queue + self.sync
    }
}
