//! Metrics of the mirroring controller.

#[cfg(feature = "prometheus")]
mod prometheus;

use std::time::Duration;

use kube_endpointslice::metrics::SliceMetrics;

#[cfg(feature = "prometheus")]
pub use prometheus::PrometheusMetrics;

/// Receiver of the metrics of the mirroring controller. Each method does nothing by default.
pub trait MirroringMetrics: SliceMetrics {
    /// Observes the number of addresses that a sync skipped: invalid ones, and those beyond the limit (MI-11).
    fn skipped(&self, addresses: usize) {
        let _ = addresses;
    }

    /// Observes the duration of a sync, successful or not (MI-5).
    fn sync_duration(&self, duration: Duration) {
        let _ = duration;
    }
}

/// Discards all measurements.
impl MirroringMetrics for () {}
