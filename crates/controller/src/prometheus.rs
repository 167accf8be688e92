//! The metrics of controllers on a registry of the `prometheus` crate.

use std::sync::Arc;

use prometheus::{HistogramOpts, HistogramVec, IntCounter, IntCounterVec, Opts, Registry};

use crate::{ControllerMetrics, PropagationMetrics, Stages};

/// Metrics of all controllers of a process, each with the label `controller`:
///
/// | metric | type | more labels |
/// |---|---|---|
/// | `endpoint_controllers_retries_exhausted_total` | counter | |
/// | `endpoint_controllers_propagation_duration_seconds` | histogram: [`Stages::total`] | `cause` |
/// | `endpoint_controllers_propagation_stage_duration_seconds` | histogram: [`Stages`] | `cause`, `stage`: `watch`, `queue`, `compute`, `api` |
///
/// Register once, and hand [one](PrometheusControllers::controller) to each controller.
#[derive(Clone, Debug)]
pub struct PrometheusControllers {
    exhausted: IntCounterVec,
    propagation: HistogramVec,
    stages: HistogramVec,
}

/// From a write that found nothing in its way to a rollout that waits for the rate limit, in seconds.
const PROPAGATION: [f64; 12] = [0.001, 0.005, 0.01, 0.05, 0.1, 0.25, 0.5, 1.0, 2.0, 5.0, 15.0, 60.0];

impl PrometheusControllers {
    /// Registers the metrics. Fails if one of their names is taken.
    pub fn register(registry: &Registry) -> prometheus::Result<Self> {
        let counter = |name, help| -> prometheus::Result<IntCounterVec> {
            let counter = IntCounterVec::new(Opts::new(name, help), &["controller"])?;
            registry.register(Box::new(counter.clone()))?;
            Ok(counter)
        };
        let histogram = |name, help, labels: &[&str]| -> prometheus::Result<HistogramVec> {
            let opts = HistogramOpts::new(name, help).buckets(PROPAGATION.to_vec());
            let histogram = HistogramVec::new(opts, labels)?;
            registry.register(Box::new(histogram.clone()))?;
            Ok(histogram)
        };
        Ok(PrometheusControllers {
            exhausted: counter(
                "endpoint_controllers_retries_exhausted_total",
                "How often a key was out of retries and put off to the slowest rate",
            )?,
            propagation: histogram(
                "endpoint_controllers_propagation_duration_seconds",
                "Time from a change to the acknowledged write, from the time its object gives if it does, otherwise from \
                 when the change was seen",
                &["controller", "cause"],
            )?,
            stages: histogram(
                "endpoint_controllers_propagation_stage_duration_seconds",
                "Parts of the time from a change to the acknowledged write; watch only where the object gives a time, \
                 which is in whole seconds",
                &["controller", "cause", "stage"],
            )?,
        })
    }

    /// The metrics of one controller.
    pub fn controller(&self, name: &str) -> Arc<dyn ControllerMetrics> {
        Arc::new(One { exhausted: self.exhausted.with_label_values(&[name]) })
    }

    /// How long changes take to be written by one controller. Series appear with the first change of each cause.
    pub fn propagation(&self, controller: &'static str) -> Arc<dyn PropagationMetrics> {
        let (whole, stages) = (self.propagation.clone(), self.stages.clone());
        Arc::new(OnePropagation { controller, whole, stages })
    }
}

struct OnePropagation {
    controller: &'static str,
    whole: HistogramVec,
    stages: HistogramVec,
}

impl PropagationMetrics for OnePropagation {
    fn propagated(&self, cause: &'static str, stages: Stages) {
        self.whole.with_label_values(&[self.controller, cause]).observe(stages.total().as_secs_f64());
        let Stages { watch, queue, compute, api } = stages;
        for (stage, took) in [("watch", watch), ("queue", Some(queue)), ("compute", Some(compute)), ("api", Some(api))]
        {
            if let Some(took) = took {
                self.stages.with_label_values(&[self.controller, cause, stage]).observe(took.as_secs_f64());
            }
        }
    }
}

struct One {
    exhausted: IntCounter,
}

impl ControllerMetrics for One {
    fn out_of_retries(&self) {
        self.exhausted.inc();
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use prometheus::TextEncoder;

    #[test]
    fn each_controller_counts_for_itself() {
        let registry = Registry::new();
        let metrics = PrometheusControllers::register(&registry).unwrap();
        let (one, other) = (metrics.controller("one"), metrics.controller("other"));
        one.out_of_retries();
        one.out_of_retries();
        other.out_of_retries();
        let (queue, compute, api) = (Duration::from_secs(1), Duration::from_secs(2), Duration::from_secs(4));
        let stages = Stages { watch: None, queue, compute, api };
        metrics.propagation("one").propagated("ready", stages);
        metrics.propagation("one").propagated("ready", Stages { watch: Some(Duration::from_secs(8)), ..stages });
        let text = TextEncoder::new().encode_to_string(&registry.gather()).unwrap();
        for line in [
            r#"endpoint_controllers_retries_exhausted_total{controller="one"} 2"#,
            r#"endpoint_controllers_retries_exhausted_total{controller="other"} 1"#,
            r#"endpoint_controllers_propagation_duration_seconds_sum{cause="ready",controller="one"} 22"#,
            r#"endpoint_controllers_propagation_duration_seconds_count{cause="ready",controller="one"} 2"#,
            r#"endpoint_controllers_propagation_stage_duration_seconds_sum{cause="ready",controller="one",stage="watch"} 8"#,
            r#"endpoint_controllers_propagation_stage_duration_seconds_count{cause="ready",controller="one",stage="watch"} 1"#,
            r#"endpoint_controllers_propagation_stage_duration_seconds_sum{cause="ready",controller="one",stage="queue"} 2"#,
            r#"endpoint_controllers_propagation_stage_duration_seconds_sum{cause="ready",controller="one",stage="compute"} 4"#,
            r#"endpoint_controllers_propagation_stage_duration_seconds_sum{cause="ready",controller="one",stage="api"} 8"#,
        ] {
            assert!(text.contains(line), "{text}");
        }
        assert!(PrometheusControllers::register(&registry).is_err(), "the names are taken");
    }
}
