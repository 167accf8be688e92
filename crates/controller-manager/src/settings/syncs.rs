//! Settings of the syncs of a controller.

use std::time::Duration;

use kube_controller::Batching;

/// Concurrency and batching of the syncs of one controller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SyncSettings {
    /// Number of Services that are synced at once; 5 by default.
    pub concurrent_syncs: usize,
    /// Delay between a change and the sync of its Services, which batches further changes; 0 by default. The documentation
    /// of the controller says which changes have it.
    pub batch_period: Duration,
    /// `--updates-batching`: how the changes of a Service are combined into syncs, in addition to the batch period.
    pub batching: Batching,
}

/// Default number of workers of each controller.
pub(crate) const CONCURRENT_SYNCS: u16 = 5;

impl Default for SyncSettings {
    fn default() -> Self {
        let concurrent_syncs = usize::from(CONCURRENT_SYNCS);
        SyncSettings { concurrent_syncs, batch_period: Duration::ZERO, batching: Batching::default() }
    }
}
