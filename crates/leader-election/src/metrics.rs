//! Traits for election metrics.

use std::sync::Arc;

/// Factory of the metrics of elections.
pub trait ElectionMetricsProvider: Send + Sync {
    /// Returns the metrics of the election `name`; Kubernetes binaries use the name of the Lease.
    fn election(&self, name: &str) -> Arc<dyn ElectionMetrics>;
}

/// Metrics of one election.
pub trait ElectionMetrics: Send + Sync {
    /// This process has become the leader (`true`) or stopped leading (`false`). Also called with `false` at the start.
    fn leading(&self, is_leader: bool);

    /// `count` renewals since the last call needed a read, because the update without a read had failed (client-go:
    /// slow path).
    fn add_slow_paths(&self, count: u64);
}
