//! Registers the metrics of controllers with the `prometheus` crate.

use std::sync::Arc;

use prometheus::{HistogramOpts, HistogramVec, IntCounter, IntCounterVec, IntGauge, IntGaugeVec, Opts, Registry};

use crate::{ControllerMetrics, Latency, PendingKeys};
use kube_informer::ComputedGauge;

/// Metrics of all controllers of a process on a registry of the `prometheus` crate. All have the label `controller`:
///
/// | metric | type | further labels |
/// |---|---|---|
/// | `endpoint_controllers_retries_exhausted_total` | counter | |
/// | `endpoint_controllers_waiting_for_server` | gauge: keys that wait at the [`ServerGate`](crate::ServerGate) | |
/// | `endpoint_controllers_pending_keys` | gauge: keys that are queued, delayed, waiting or being synced | |
/// | `endpoint_controllers_propagation_duration_seconds` | histogram: [`Latency::total`] | `cause` |
/// | `endpoint_controllers_propagation_stage_duration_seconds` | histogram: [`Latency`] | `cause`, `stage`: `queue`, `sync` |
///
/// `cause` is the name of the handler whose event queued the key. Register once per registry, and pass the result of
/// [`controller`](Self::controller) to each controller. Other programs than the endpoint controllers choose the prefix of
/// the names with [`register_with_prefix`](Self::register_with_prefix).
#[derive(Clone, Debug)]
pub struct PrometheusControllers {
    exhausted: IntCounterVec,
    waiting: IntGaugeVec,
    pending: ComputedGauge,
    propagation: HistogramVec,
    stages: HistogramVec,
}

/// Upper bounds of the buckets in seconds, from a single write without queueing to a rollout that waits for the
/// client's rate limit.
const PROPAGATION_BUCKETS: [f64; 12] = [0.001, 0.005, 0.01, 0.05, 0.1, 0.25, 0.5, 1.0, 2.0, 5.0, 15.0, 60.0];

impl PrometheusControllers {
    /// Registers the five metrics with `registry`.
    ///
    /// # Errors
    ///
    /// [`prometheus::Error::AlreadyReg`] if the registry contains one of their names.
    pub fn register(registry: &Registry) -> prometheus::Result<Self> {
        Self::register_with_prefix(registry, "endpoint_controllers")
    }

    /// Registers the five metrics with names that begin with `prefix` and `_` instead of `endpoint_controllers_`. The
    /// prefix is the namespace of Prometheus' naming conventions, such as `pools`.
    ///
    /// # Errors
    ///
    /// [`prometheus::Error::AlreadyReg`] if the registry contains one of their names;
    /// [`prometheus::Error::Msg`] if the prefix is not the beginning of a metric name.
    pub fn register_with_prefix(registry: &Registry, prefix: &str) -> prometheus::Result<Self> {
        let histogram = |name, help, labels: &[&str]| -> prometheus::Result<HistogramVec> {
            let opts = HistogramOpts::new(name, help).namespace(prefix).buckets(PROPAGATION_BUCKETS.to_vec());
            let histogram = HistogramVec::new(opts, labels)?;
            registry.register(Box::new(histogram.clone()))?;
            Ok(histogram)
        };
        let exhausted = Opts::new(
            "retries_exhausted_total",
            "Number of times that a key used up its retries and was put off to the slowest rate",
        );
        let exhausted = IntCounterVec::new(exhausted.namespace(prefix), &["controller"])?;
        registry.register(Box::new(exhausted.clone()))?;
        let waiting =
            Opts::new("waiting_for_server", "Number of keys that wait because the API server fails writes of all keys");
        let waiting = IntGaugeVec::new(waiting.namespace(prefix), &["controller"])?;
        registry.register(Box::new(waiting.clone()))?;
        let pending = Opts::new(
            "pending_keys",
            "Number of keys that are queued, wait for a delay, for their retry or for the API server, or are being synced. At \
             0, the controller has nothing left to do",
        );
        let pending = ComputedGauge::new(pending.namespace(prefix), &["controller"])?;
        registry.register(Box::new(pending.clone()))?;
        Ok(PrometheusControllers {
            exhausted,
            waiting,
            pending,
            propagation: histogram(
                "propagation_duration_seconds",
                "Time from the event of a change until the API server acknowledged the write that it caused",
                &["controller", "cause"],
            )?,
            stages: histogram(
                "propagation_stage_duration_seconds",
                "Parts of the propagation duration: from the event to the start of the sync that wrote, and that sync",
                &["controller", "cause", "stage"],
            )?,
        })
    }

    /// Returns the metrics of the controller `name`. The series of a cause are created with its first observation.
    pub fn controller(&self, name: &str) -> Arc<dyn ControllerMetrics> {
        let (exhausted, waiting) = (self.exhausted.with_label_values(&[name]), self.waiting.with_label_values(&[name]));
        Arc::new(Series { name: name.into(), exhausted, waiting, all: self.clone() })
    }
}

struct Series {
    name: Box<str>,
    exhausted: IntCounter,
    waiting: IntGauge,
    all: PrometheusControllers,
}

impl ControllerMetrics for Series {
    fn retries_exhausted(&self) {
        self.exhausted.inc();
    }

    fn waiting_for_server(&self, keys: usize) {
        self.waiting.set(i64::try_from(keys).unwrap_or(i64::MAX));
    }

    fn pending(&self, count: PendingKeys) {
        // A controller that has ended has no pending keys.
        #[expect(clippy::cast_precision_loss, reason = "samples are 64-bit floats")]
        self.all.pending.add(vec![self.name.to_string()], move || Some(count().unwrap_or_default() as f64));
    }

    fn propagated(&self, source: &str, latency: Latency) {
        self.all.propagation.with_label_values(&[&*self.name, source]).observe(latency.total().as_secs_f64());
        for (stage, duration) in [("queue", latency.queue), ("sync", latency.sync)] {
            self.all.stages.with_label_values(&[&*self.name, source, stage]).observe(duration.as_secs_f64());
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use prometheus::TextEncoder;

    #[test]
    fn each_controller_has_its_own_series() {
        let registry = Registry::new();
        let metrics = PrometheusControllers::register(&registry).unwrap();
        let (one, other) = (metrics.controller("one"), metrics.controller("other"));
        one.retries_exhausted();
        one.retries_exhausted();
        other.retries_exhausted();
        other.waiting_for_server(7);
        one.pending(Box::new(|| Some(3)));
        other.pending(Box::new(|| None));
        one.propagated("pods", Latency { queue: Duration::from_secs(1), sync: Duration::from_secs(2) });
        one.propagated("pods", Latency { queue: Duration::from_secs(4), sync: Duration::from_secs(8) });
        let text = TextEncoder::new().encode_to_string(&registry.gather()).unwrap();
        for line in [
            r#"endpoint_controllers_waiting_for_server{controller="one"} 0"#,
            r#"endpoint_controllers_waiting_for_server{controller="other"} 7"#,
            r#"endpoint_controllers_pending_keys{controller="one"} 3"#,
            r#"endpoint_controllers_pending_keys{controller="other"} 0"#,
            r#"endpoint_controllers_retries_exhausted_total{controller="one"} 2"#,
            r#"endpoint_controllers_retries_exhausted_total{controller="other"} 1"#,
            r#"endpoint_controllers_propagation_duration_seconds_sum{cause="pods",controller="one"} 15"#,
            r#"endpoint_controllers_propagation_duration_seconds_count{cause="pods",controller="one"} 2"#,
            r#"endpoint_controllers_propagation_stage_duration_seconds_sum{cause="pods",controller="one",stage="queue"} 5"#,
            r#"endpoint_controllers_propagation_stage_duration_seconds_sum{cause="pods",controller="one",stage="sync"} 10"#,
        ] {
            assert!(text.contains(line), "{text}");
        }
        assert!(PrometheusControllers::register(&registry).is_err(), "names are registered already");
    }

    #[test]
    fn the_author_of_another_program_chooses_the_prefix() {
        let registry = Registry::new();
        PrometheusControllers::register(&registry).unwrap();
        let metrics = PrometheusControllers::register_with_prefix(&registry, "pools").unwrap();
        let one = metrics.controller("one");
        one.propagated("pods", Latency { queue: Duration::ZERO, sync: Duration::ZERO });
        one.pending(Box::new(|| None));
        let families = registry.gather();
        let names = families.iter().map(prometheus::proto::MetricFamily::name);
        let names: Vec<&str> = names.filter(|it| it.starts_with("pools_")).collect();
        assert_eq!(
            names,
            [
                "pools_pending_keys",
                "pools_propagation_duration_seconds",
                "pools_propagation_stage_duration_seconds",
                "pools_retries_exhausted_total",
                "pools_waiting_for_server",
            ]
        );
        assert!(PrometheusControllers::register_with_prefix(&registry, "a b").is_err(), "no name");
    }
}
