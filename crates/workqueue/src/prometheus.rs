//! Upstream's queue metrics on a registry of the `prometheus` crate.

use std::{sync::Arc, time::Duration};

use prometheus::{
    Gauge, GaugeVec, Histogram, HistogramVec, IntCounter, IntCounterVec, IntGauge, IntGaugeVec, Registry,
    exponential_buckets, register_gauge_vec_with_registry as gauge, register_histogram_vec_with_registry as histogram,
    register_int_counter_vec_with_registry as counter, register_int_gauge_vec_with_registry as int_gauge,
};

use crate::{MetricsProvider, QueueMetrics};

/// The queue metrics of Kubernetes' own binaries, with the same names, help texts, label and buckets:
///
/// | metric | type | value |
/// |---|---|---|
/// | `workqueue_depth` | gauge | queued keys, and keys in process that were added again |
/// | `workqueue_adds_total` | counter | adds that changed the depth: a key that is queued already does not count |
/// | `workqueue_queue_duration_seconds` | histogram | from the first add of a key until a worker gets it |
/// | `workqueue_work_duration_seconds` | histogram | from then until the worker is done |
/// | `workqueue_unfinished_work_seconds` | gauge | sum of the ages of the keys in process, every 500 ms |
/// | `workqueue_longest_running_processor_seconds` | gauge | the longest of these ages |
/// | `workqueue_retries_total` | counter | rate-limited adds, and all other adds with a delay |
///
/// `workqueue_retries_total` counts not only failures: as upstream, also each [`add_after`](crate::Queue::add_after),
/// even with a delay of zero. A queue whose adds are delayed needs a counter of its own for failures.
///
/// The two gauges of ages are set by the [`Timer`](crate::Timer), and by the last key in process once a shutdown has ended it: they
/// read 0 afterwards.
///
/// The only label is `name`, the name of the queue. Register once, and pass a clone to the builder of each queue.
#[derive(Debug, Clone)]
pub struct PrometheusMetrics {
    depth: IntGaugeVec,
    adds: IntCounterVec,
    queue_duration: HistogramVec,
    work_duration: HistogramVec,
    unfinished: GaugeVec,
    longest: GaugeVec,
    retries: IntCounterVec,
}

/// The only label: the name of the queue.
const LABELS: &[&str] = &["name"];

impl PrometheusMetrics {
    /// Registers the seven metrics with `registry`.
    ///
    /// # Errors
    ///
    /// If one of these names is registered already; metrics registered before it stay registered.
    pub fn register(registry: &Registry) -> prometheus::Result<Self> {
        // 10 ns to 10 s.
        let buckets = exponential_buckets(1e-8, 10.0, 10)?;
        Ok(Self {
            depth: int_gauge!("workqueue_depth", "[BETA] Current depth of workqueue", LABELS, registry)?,
            adds: counter!(
                "workqueue_adds_total",
                "[BETA] Total number of adds handled by workqueue",
                LABELS,
                registry
            )?,
            queue_duration: histogram!(
                "workqueue_queue_duration_seconds",
                "[BETA] How long in seconds an item stays in workqueue before being requested.",
                LABELS,
                buckets.clone(),
                registry
            )?,
            work_duration: histogram!(
                "workqueue_work_duration_seconds",
                "[BETA] How long in seconds processing an item from workqueue takes.",
                LABELS,
                buckets,
                registry
            )?,
            unfinished: gauge!(
                "workqueue_unfinished_work_seconds",
                "[BETA] How many seconds of work has done that is in progress and hasn't been observed by work_duration. \
                 Large values indicate stuck threads. One can deduce the number of stuck threads by observing the rate \
                 at which this increases.",
                LABELS,
                registry
            )?,
            longest: gauge!(
                "workqueue_longest_running_processor_seconds",
                "[BETA] How many seconds has the longest running processor for workqueue been running.",
                LABELS,
                registry
            )?,
            retries: counter!(
                "workqueue_retries_total",
                "[BETA] Total number of retries handled by workqueue",
                LABELS,
                registry
            )?,
        })
    }
}

impl MetricsProvider for PrometheusMetrics {
    fn queue(&self, name: &str) -> Arc<dyn QueueMetrics> {
        let name = [name];
        Arc::new(OneQueue {
            depth: self.depth.with_label_values(&name),
            adds: self.adds.with_label_values(&name),
            queue_duration: self.queue_duration.with_label_values(&name),
            work_duration: self.work_duration.with_label_values(&name),
            unfinished: self.unfinished.with_label_values(&name),
            longest: self.longest.with_label_values(&name),
            retries: self.retries.with_label_values(&name),
        })
    }
}

struct OneQueue {
    depth: IntGauge,
    adds: IntCounter,
    queue_duration: Histogram,
    work_duration: Histogram,
    unfinished: Gauge,
    longest: Gauge,
    retries: IntCounter,
}

impl QueueMetrics for OneQueue {
    fn added(&self) {
        self.adds.inc();
        self.depth.inc();
    }

    fn taken(&self, waited: Duration) {
        self.depth.dec();
        self.queue_duration.observe(waited.as_secs_f64());
    }

    fn finished(&self, worked: Duration) {
        self.work_duration.observe(worked.as_secs_f64());
    }

    fn retried(&self) {
        self.retries.inc();
    }

    fn unfinished(&self, total: Duration, longest: Duration) {
        self.unfinished.set(total.as_secs_f64());
        self.longest.set(longest.as_secs_f64());
    }
}
