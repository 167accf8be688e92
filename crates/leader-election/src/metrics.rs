//! Traits for election metrics.

use std::sync::Arc;

/// Factory of the [`ElectionMetrics`] of elections.
pub trait ElectionMetricsProvider: Send + Sync {
    /// Returns the metrics of the election `name`; Kubernetes binaries use the name of the Lease.
    fn election(&self, name: &str) -> Arc<dyn ElectionMetrics>;
}

/// Receiver of the measurements of one election.
pub trait ElectionMetrics: Send + Sync {
    /// Records that this process has become the leader (`true`) or stopped leading (`false`). Also called with `false`
    /// at the start.
    fn leading(&self, is_leader: bool);

    /// Counts `count` renewals since the last call that needed a read, because the update without a read had failed
    /// (client-go: slow path).
    fn add_slow_paths(&self, count: u64);
}
