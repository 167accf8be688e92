//! Metrics of the recorded history.

use kube_endpoints_history::recorder::Recorder;
use prometheus::{
    Gauge, IntCounter, IntGauge, Registry, register_gauge_with_registry, register_int_counter_with_registry,
    register_int_gauge_with_registry,
};

/// Metrics of the recorded history.
#[derive(Clone)]
pub(crate) struct HistoryMetrics {
    bytes: IntGauge,
    records: IntCounter,
    gaps: IntCounter,
    oldest: Gauge,
    missing: IntGauge,
}

impl HistoryMetrics {
    pub(crate) fn register(registry: &Registry) -> prometheus::Result<HistoryMetrics> {
        Ok(HistoryMetrics {
            bytes: register_int_gauge_with_registry!(
                "endpoint_controllers_history_bytes",
                "Size of the recorded history, in memory or in the files of --history-dir.",
                registry
            )?,
            records: register_int_counter_with_registry!(
                "endpoint_controllers_history_records_total",
                "Changes of Services, Pods, Nodes, Endpoints and EndpointSlices that were recorded.",
                registry
            )?,
            gaps: register_int_counter_with_registry!(
                "endpoint_controllers_history_gaps_total",
                "Times of which changes may be missing in the recorded history: lists in place of a resumed watch, \
                 resources that could be listed later than others, failed writes, and changes that came faster than they could \
                 be written.",
                registry
            )?,
            oldest: register_gauge_with_registry!(
                "endpoint_controllers_history_oldest_timestamp_seconds",
                "Time at which the recorded history begins, in seconds since 1970; 0 before it has begun.",
                registry
            )?,
            missing: register_int_gauge_with_registry!(
                "endpoint_controllers_history_missing_resources",
                "Resources that the recorded history lacks because they could not be listed yet: the API server does not \
                 serve them, or does not allow it.",
                registry
            )?,
        })
    }

    /// Counts a gap that is not a message.
    pub(super) fn gap(&self) {
        self.gaps.inc();
    }

    /// Sets the number of resources that the history lacks.
    pub(super) fn set_missing(&self, resources: usize) {
        self.missing.set(i64::try_from(resources).unwrap_or(i64::MAX));
    }

    /// Sets the metrics after some messages, of which the recorder had these numbers of changes and gaps before.
    pub(super) fn update(&self, recorder: &Recorder, (changes, gaps): (usize, usize)) {
        self.bytes.set(i64::try_from(recorder.length()).unwrap_or(i64::MAX));
        self.records.inc_by((recorder.changes() - changes) as u64);
        self.gaps.inc_by((recorder.gaps() - gaps) as u64);
        self.oldest.set(recorder.oldest().map_or(0.0, |oldest| oldest.as_duration().as_secs_f64()));
    }
}
