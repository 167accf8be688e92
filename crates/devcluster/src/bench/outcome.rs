//! What a measurement has found.

use kube_dev_apiserver::Population;
use serde::{Serialize, Serializer};

use super::{
    latencies::Latencies, protocol::Counts, rollout::Upstream, settings::Pace, settling::Settling, subject::Usage,
};

/// One measurement.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Outcome {
    /// By which it is found: `start`, `latency-20`.
    pub(crate) name: String,
    /// The command, without the program.
    pub(crate) command: String,
    /// In which encoding objects were read.
    pub(crate) encoding: &'static str,
    /// How the controllers were told to work.
    pub(crate) pace: Pace,
    /// The cluster.
    #[serde(serialize_with = "sizes")]
    pub(crate) population: Population,
    /// CPU of this measurement alone; memory at its end, and the most since the process was started.
    pub(crate) usage: Usage,
    /// Until the last write.
    pub(crate) seconds: f64,
    /// What was asked of the server meanwhile.
    pub(crate) counts: Counts,
    /// Changes of Pods.
    pub(crate) changes: usize,
    /// How long slices took to tell of them, where that was measured.
    pub(crate) latencies: Option<Latencies>,
    /// What upstream would have written, where that was computed.
    pub(crate) upstream: Option<Upstream>,
    /// Seconds, CPU seconds, and MiB resident, while the controllers came to rest.
    pub(crate) timeline: Vec<(f64, f64, f64)>,
}

impl Outcome {
    /// Seconds of CPU.
    pub(crate) fn cpu(&self) -> f64 {
        self.usage.cpu.as_secs_f64()
    }

    /// Milliseconds of CPU for each change of a Pod.
    #[expect(clippy::cast_precision_loss, reason = "a figure to look at")]
    pub(crate) fn cpu_of_a_change(&self) -> Option<f64> {
        (self.changes > 0).then(|| self.cpu() * 1_000.0 / self.changes as f64)
    }
}

/// KiB as MiB.
#[expect(clippy::cast_precision_loss, reason = "a figure to look at")]
pub(crate) fn mib(kib: u64) -> f64 {
    kib as f64 / 1_024.0
}

/// The course of things as a plot wants it.
pub(crate) fn timeline(settling: &Settling) -> Vec<(f64, f64, f64)> {
    let point =
        |it: &super::settling::Sample| (it.at.as_secs_f64(), it.usage.cpu.as_secs_f64(), mib(it.usage.resident_kib));
    settling.samples().iter().map(point).collect()
}

fn sizes<S: Serializer>(population: &Population, serializer: S) -> Result<S::Ok, S::Error> {
    let Population { pods, services, nodes, services_of_a_namespace: _ } = population;
    serde_json::json!({"pods": pods, "services": services, "nodes": nodes, "namespaces": population.namespaces()})
        .serialize(serializer)
}
