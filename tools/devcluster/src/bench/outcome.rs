//! Results of measurements.

use kube_dev_apiserver::Population;
use serde::{Serialize, Serializer};

use super::{latencies::Latencies, server::RequestCounts, usage::Usage};

/// Result of one measurement.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Outcome {
    /// Name of the measurement, such as `start` or `latency-20`.
    pub(crate) name: String,
    /// Number of the run of the same scenario, from 1.
    pub(crate) run: usize,
    /// Size of the cluster.
    #[serde(serialize_with = "sizes")]
    pub(crate) population: Population,
    /// CPU time during the measurement, and peak memory since the start of the process.
    pub(crate) usage: Usage,
    /// Seconds until the last write.
    pub(crate) seconds: f64,
    /// Requests and traffic during the measurement.
    pub(crate) counts: RequestCounts,
    /// Number of Pod changes.
    pub(crate) changes: usize,
    /// Latencies from Pod changes to slice changes, if measured.
    pub(crate) latencies: Option<Latencies>,
}

impl Outcome {
    /// Returns the CPU time in seconds.
    pub(crate) fn cpu(&self) -> f64 {
        self.usage.cpu.as_secs_f64()
    }

    /// Returns the CPU time per Pod change in milliseconds; `None` without changes.
    #[expect(clippy::cast_precision_loss, reason = "for display")]
    pub(crate) fn cpu_of_a_change(&self) -> Option<f64> {
        (self.changes > 0).then(|| self.cpu() * 1_000.0 / self.changes as f64)
    }
}

fn sizes<S: Serializer>(population: &Population, serializer: S) -> Result<S::Ok, S::Error> {
    let Population { pods, services, nodes, services_of_a_namespace: _ } = population;
    serde_json::json!({"pods": pods, "services": services, "nodes": nodes, "namespaces": population.namespaces()})
        .serialize(serializer)
}
