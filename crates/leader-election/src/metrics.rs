//! What an election reports of itself, and to whom.

use std::sync::Arc;

/// Makes the metrics of named elections.
pub trait MetricsProvider: Send + Sync {
    /// The metrics of the election of that name, which upstream sets to the name of the Lease.
    fn election(&self, name: &str) -> Arc<dyn ElectionMetrics>;
}

/// What happens in one election.
pub trait ElectionMetrics: Send + Sync {
    /// Whether this process leads from now on.
    fn leading(&self, leads: bool);

    /// Renewals needed a read, because the Lease was not what it was left as, so many times since the last report.
    fn slow_paths(&self, count: u64);
}
