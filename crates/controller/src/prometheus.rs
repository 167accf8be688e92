//! The metrics of controllers on a registry of the `prometheus` crate.

use std::sync::Arc;

use prometheus::{IntCounter, IntCounterVec, Opts, Registry};

use crate::ControllerMetrics;

/// Metrics of all controllers of a process, each with one label, `controller`:
///
/// | metric | type |
/// |---|---|
/// | `endpoint_controllers_stale_cache_repairs_total` | counter |
/// | `endpoint_controllers_retries_exhausted_total` | counter |
///
/// Register once, and hand [one](PrometheusControllers::controller) to each controller.
#[derive(Clone, Debug)]
pub struct PrometheusControllers {
    repairs: IntCounterVec,
    exhausted: IntCounterVec,
}

impl PrometheusControllers {
    /// Registers the metrics. Fails if one of their names is taken.
    pub fn register(registry: &Registry) -> prometheus::Result<Self> {
        let counter = |name, help| -> prometheus::Result<IntCounterVec> {
            let counter = IntCounterVec::new(Opts::new(name, help), &["controller"])?;
            registry.register(Box::new(counter.clone()))?;
            Ok(counter)
        };
        Ok(PrometheusControllers {
            repairs: counter(
                "endpoint_controllers_stale_cache_repairs_total",
                "How often a cache stayed out of date for too long and the server was read instead",
            )?,
            exhausted: counter(
                "endpoint_controllers_retries_exhausted_total",
                "How often a key was out of retries and put off to the slowest rate",
            )?,
        })
    }

    /// The metrics of one controller.
    pub fn controller(&self, name: &str) -> Arc<dyn ControllerMetrics> {
        let (repairs, exhausted) = (self.repairs.with_label_values(&[name]), self.exhausted.with_label_values(&[name]));
        Arc::new(One { repairs, exhausted })
    }
}

struct One {
    repairs: IntCounter,
    exhausted: IntCounter,
}

impl ControllerMetrics for One {
    fn repaired(&self) {
        self.repairs.inc();
    }

    fn out_of_retries(&self) {
        self.exhausted.inc();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use prometheus::TextEncoder;

    #[test]
    fn each_controller_counts_for_itself() {
        let registry = Registry::new();
        let metrics = PrometheusControllers::register(&registry).unwrap();
        let (one, other) = (metrics.controller("one"), metrics.controller("other"));
        one.repaired();
        one.repaired();
        other.out_of_retries();
        let text = TextEncoder::new().encode_to_string(&registry.gather()).unwrap();
        for line in [
            r#"endpoint_controllers_stale_cache_repairs_total{controller="one"} 2"#,
            r#"endpoint_controllers_stale_cache_repairs_total{controller="other"} 0"#,
            r#"endpoint_controllers_retries_exhausted_total{controller="other"} 1"#,
        ] {
            assert!(text.contains(line), "{text}");
        }
        assert!(PrometheusControllers::register(&registry).is_err(), "the names are taken");
    }
}
