//! Gauges that are computed when metrics are collected.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use prometheus::{
    GaugeVec, Opts,
    core::{Collector, Desc},
    proto::MetricFamily,
};

/// Gauge whose values are computed when metrics are collected: for values that nothing reports when they change, or that
/// change with every event. Clones share the series.
#[derive(Clone)]
pub struct ComputedGauge {
    gauge: GaugeVec,
    series: Arc<Mutex<Vec<Series>>>,
}

/// Label values, and the function that returns the value.
type Series = (Vec<String>, Box<dyn Fn() -> Option<f64> + Send + Sync>);

impl ComputedGauge {
    /// Returns a gauge without series, which is to be registered.
    ///
    /// # Errors
    ///
    /// The name or a label is not valid.
    pub fn new(options: Opts, labels: &[&str]) -> prometheus::Result<Self> {
        Ok(Self { gauge: GaugeVec::new(options, labels)?, series: Arc::default() })
    }

    /// Adds a series. It keeps its last value when `value` returns `None`, and does not exist before the first value.
    pub fn add(&self, labels: Vec<String>, value: impl Fn() -> Option<f64> + Send + Sync + 'static) {
        self.series.lock().unwrap_or_else(PoisonError::into_inner).push((labels, Box::new(value)));
    }
}

impl Collector for ComputedGauge {
    fn desc(&self) -> Vec<&Desc> {
        self.gauge.desc()
    }

    fn collect(&self) -> Vec<MetricFamily> {
        for (labels, value) in &*self.series.lock().unwrap_or_else(PoisonError::into_inner) {
            if let Some(value) = value() {
                self.gauge.with_label_values(labels).set(value);
            }
        }
        self.gauge.collect()
    }
}

impl fmt::Debug for ComputedGauge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ComputedGauge").field("gauge", &self.gauge).finish_non_exhaustive()
    }
}
