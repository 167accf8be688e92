//! Settings of the cut-over from another writer.

use std::time::Duration;

/// Conditions under which a new leader, or a process without leader election, writes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CutOverSettings {
    /// `--unexplained-writes-fraction`: fraction of all EndpointSlices that a controller-manager may write in its first
    /// minute without a change of a Pod, Service or Node; 0.01 by default. At 1 or more, writes are not counted.
    pub unexplained_writes_fraction: f64,
    /// `--unexplained-writes-minimum`: lower bound of the number of these writes, for small clusters; 20 by default.
    pub unexplained_writes_minimum: usize,
    /// `--require-clean-shadow`: time for which the plans of the controllers must match the existing objects before the
    /// first write; zero, the default, disables it. Needs leader election.
    pub require_clean_shadow: Duration,
    /// `--force`: writes are not counted, and are sent whatever an earlier leader has left in the Lease.
    pub force: bool,
}

/// Default of `--unexplained-writes-fraction`.
pub(crate) const UNEXPLAINED_WRITES_FRACTION: f64 = 0.01;
/// Default of `--unexplained-writes-minimum`.
pub(crate) const UNEXPLAINED_WRITES_MINIMUM: u16 = 20;

impl CutOverSettings {
    /// Returns whether the first writes are counted.
    pub(crate) fn counts_writes(&self) -> bool {
        self.unexplained_writes_fraction < 1.0 && !self.force
    }
}

impl Default for CutOverSettings {
    fn default() -> Self {
        CutOverSettings {
            unexplained_writes_fraction: UNEXPLAINED_WRITES_FRACTION,
            unexplained_writes_minimum: usize::from(UNEXPLAINED_WRITES_MINIMUM),
            require_clean_shadow: Duration::ZERO,
            force: false,
        }
    }
}
