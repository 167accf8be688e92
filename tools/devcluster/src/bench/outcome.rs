//! Results of measurements.

use kube_dev_apiserver::Population;
use serde::{Serialize, Serializer};

use super::{
    attack::UnderAttack, latencies::Latencies, pace::Pace, protocol::RequestCounts, settling::Settling,
    upstream::Upstream, usage::Usage,
};

/// Result of one measurement.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Outcome {
    /// Name of the measurement, such as `start` or `latency-20`.
    pub(crate) name: String,
    /// Number of the run of the same scenario, from 1.
    pub(crate) run: usize,
    /// Command that repeats the measurement.
    pub(crate) command: String,
    /// Encoding that the controllers requested.
    pub(crate) encoding: &'static str,
    /// Connections to the API server.
    pub(crate) transport: &'static str,
    /// Batch period and rate limit of the controllers.
    pub(crate) pace: Pace,
    /// Size of the cluster.
    #[serde(serialize_with = "sizes")]
    pub(crate) population: Population,
    /// CPU time during the measurement, resident memory at its end, and peak memory since the start of the process.
    pub(crate) usage: Usage,
    /// CPU time of the API server during the measurement, for the controllers and for the bench, and its memory.
    pub(crate) server: Usage,
    /// Seconds until the last write.
    pub(crate) seconds: f64,
    /// Requests and traffic during the measurement.
    pub(crate) counts: RequestCounts,
    /// Number of Pod changes.
    pub(crate) changes: usize,
    /// Acknowledged Pod changes per second, if latencies are measured.
    pub(crate) changes_per_second: Option<f64>,
    /// Latencies from Pod changes to slice changes, if measured; only of removals if `additions` are separate.
    pub(crate) latencies: Option<Latencies>,
    /// Latencies of Pods that become ready, if measured separately.
    pub(crate) additions: Option<Latencies>,
    /// Load on the HTTPS server, if there was one.
    pub(crate) under_attack: Option<UnderAttack>,
    /// Modelled writes of the controllers of Go, if computed.
    pub(crate) upstream: Option<Upstream>,
    /// Up to 300 samples until the controllers were idle: seconds, CPU seconds, resident MiB.
    pub(crate) timeline: Vec<(f64, f64, f64)>,
}

impl Outcome {
    /// Returns the CPU time in seconds.
    pub(crate) fn cpu(&self) -> f64 {
        self.usage.cpu.as_secs_f64()
    }

    /// Returns the share of the API server in the CPU time of both processes.
    pub(crate) fn share_of_the_server(&self) -> f64 {
        let server = self.server.cpu.as_secs_f64();
        server / (server + self.cpu()).max(f64::EPSILON)
    }

    /// Returns the CPU time per Pod change in milliseconds; `None` without changes.
    #[expect(clippy::cast_precision_loss, reason = "for display")]
    pub(crate) fn cpu_of_a_change(&self) -> Option<f64> {
        (self.changes > 0).then(|| self.cpu() * 1_000.0 / self.changes as f64)
    }
}

/// Converts KiB to MiB.
#[expect(clippy::cast_precision_loss, reason = "for display")]
pub(crate) fn mib(kib: u64) -> f64 {
    kib as f64 / 1_024.0
}

/// Maximum number of points of a timeline.
const MAX_POINTS: usize = 300;

/// Returns the samples as points for a plot, see [`Outcome::timeline`].
pub(crate) fn timeline(settling: &Settling) -> Vec<(f64, f64, f64)> {
    let point =
        |it: &super::settling::Sample| (it.at.as_secs_f64(), it.usage.cpu.as_secs_f64(), mib(it.usage.resident_kib));
    let samples = settling.samples();
    samples.iter().step_by(samples.len().div_ceil(MAX_POINTS).max(1)).map(point).collect()
}

fn sizes<S: Serializer>(population: &Population, serializer: S) -> Result<S::Ok, S::Error> {
    let Population { pods, services, nodes, services_of_a_namespace: _ } = population;
    serde_json::json!({"pods": pods, "services": services, "nodes": nodes, "namespaces": population.namespaces()})
        .serialize(serializer)
}
