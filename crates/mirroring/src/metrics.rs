//! What the mirroring controller reports of its work, and to whom.

#[cfg(feature = "prometheus")]
mod prometheus;

use std::time::Duration;

use kube_endpointslice::metrics::SliceMetrics;

#[cfg(feature = "prometheus")]
pub use prometheus::PrometheusMetrics;

/// What the mirroring controller reports, beside its slices. Each method does nothing by default.
pub trait MirroringMetrics: SliceMetrics {
    /// A sync planned its writes: so many endpoints added, changed in place and removed, in both families.
    fn planned_both(&self, added: usize, updated: usize, removed: usize) {
        let _ = (added, updated, removed);
    }

    /// A sync left out so many addresses: invalid ones, and those beyond the limit (MI-11).
    fn skipped(&self, addresses: usize) {
        let _ = addresses;
    }

    /// A sync ended, whatever came of it (MI-5).
    fn took(&self, duration: Duration) {
        let _ = duration;
    }
}

/// Reports nothing.
impl MirroringMetrics for () {}
