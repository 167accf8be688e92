//! Registers the metrics of the mirroring controller with the `prometheus` crate.

use std::time::Duration;

use kube_endpointslice::metrics::{SliceMetrics, Totals, WriteMetrics};
use kube_endpointslice::{Plan, TypePlan};
use prometheus::{Histogram, HistogramOpts, Registry, exponential_buckets, register_histogram_with_registry};

use super::MirroringMetrics;

/// Metrics of the mirroring controller with upstream's names, help texts and buckets. All names begin with
/// `endpoint_slice_mirroring_controller_`. Besides those of [`WriteMetrics`]:
///
/// | metric | type |
/// |---|---|
/// | `addresses_skipped_per_sync` | histogram |
/// | `endpoints_sync_duration` | histogram, seconds |
#[derive(Clone, Debug)]
pub struct PrometheusMetrics {
    writes: WriteMetrics,
    skipped: Histogram,
    duration: Histogram,
}

const SUBSYSTEM: &str = "endpoint_slice_mirroring_controller";

impl PrometheusMetrics {
    /// Registers the metrics of the mirroring controller with `registry`.
    ///
    /// # Errors
    ///
    /// [`prometheus::Error::AlreadyReg`] if the registry contains one of their names.
    pub fn register(registry: &Registry) -> prometheus::Result<PrometheusMetrics> {
        let histogram = |name: &str, help: &str, buckets| {
            let opts = HistogramOpts::new(name, help).subsystem(SUBSYSTEM).buckets(buckets);
            register_histogram_with_registry!(opts, registry)
        };
        Ok(PrometheusMetrics {
            writes: WriteMetrics::register_mirroring(registry)?,
            skipped: histogram(
                "addresses_skipped_per_sync",
                "[ALPHA] Number of addresses skipped on each Endpoints sync due to being invalid or exceeding \
                 MaxEndpointsPerSubset",
                exponential_buckets(2.0, 2.0, 15)?,
            )?,
            duration: histogram(
                "endpoints_sync_duration",
                "[ALPHA] Duration of syncEndpoints() in seconds",
                exponential_buckets(0.001, 2.0, 15)?,
            )?,
        })
    }
}

impl SliceMetrics for PrometheusMetrics {
    fn planned(&self, plan: &Plan) {
        // Upstream observes each sync once, not once per address type.
        let sum = |count: fn(&TypePlan) -> usize| plan.types.iter().map(count).sum();
        self.writes.changes(sum(|it| it.added), sum(|it| it.updated), sum(|it| it.removed));
    }

    fn totals(&self, totals: Totals) {
        self.writes.totals(totals);
    }

    fn wrote(&self, verb: &'static str) {
        self.writes.wrote(verb);
    }
}

impl MirroringMetrics for PrometheusMetrics {
    fn skipped(&self, addresses: usize) {
        // Numbers of addresses are far below 2^52.
        #[expect(clippy::cast_precision_loss)]
        self.skipped.observe(addresses as f64);
    }

    fn sync_duration(&self, duration: Duration) {
        // As upstream, rounded down to whole milliseconds (MI-5).
        self.duration
            .observe(Duration::from_millis(u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)).as_secs_f64());
    }
}
