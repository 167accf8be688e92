//! The metrics interface of elections.

/// Receiver of the measurements of elections. `lease` is the name of the Lease of one.
pub trait ElectionMetrics: Send + Sync {
    /// Records that this process has become the leader (`true`) or stopped leading (`false`). Also called with `false`
    /// at the start.
    fn leading(&self, lease: &str, is_leader: bool);

    /// Counts `count` renewals since the last call that needed a read, because the update without a read had failed
    /// (client-go: slow path).
    fn add_slow_paths(&self, lease: &str, count: u64);
}
