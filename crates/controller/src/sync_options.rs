//! Concurrency and batching of a controller's syncs.

use std::time::Duration;

use crate::Batching;

/// Concurrency and batching of the syncs of one controller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SyncOptions {
    /// Number of keys that are synced at once; [`CONCURRENT_SYNCS`](Self::CONCURRENT_SYNCS) by default.
    pub concurrent_syncs: usize,
    /// Delay between a change and the sync of its keys, which batches further changes; 0 by default. The documentation of
    /// the controller says which changes have it.
    pub batch_period: Duration,
    /// How the changes of a key are combined into syncs, in addition to the batch period.
    pub batching: Batching,
}

impl SyncOptions {
    /// Default number of workers of each controller.
    pub const CONCURRENT_SYNCS: u16 = 5;
}

impl Default for SyncOptions {
    fn default() -> Self {
        let concurrent_syncs = usize::from(Self::CONCURRENT_SYNCS);
        SyncOptions { concurrent_syncs, batch_period: Duration::ZERO, batching: Batching::default() }
    }
}
