//! What a slice controller reports of its work, and to whom.

mod cache;
#[cfg(feature = "prometheus")]
mod prometheus;

pub use cache::{MetricsCache, Totals};
#[cfg(feature = "prometheus")]
pub use prometheus::{PrometheusMetrics, WriteMetrics};

use std::collections::BTreeMap;

use kube_topology::TrafficDistribution;

use crate::plan::Plan;

/// What came of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SyncResult {
    /// It is in its desired state.
    Success,
    /// Something failed.
    Error,
}

impl SyncResult {
    /// As upstream labels it (SY-3).
    pub fn as_str(self) -> &'static str {
        match self {
            SyncResult::Success => "success",
            SyncResult::Error => "error",
        }
    }
}

/// A write of a slice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// It was created.
    Create,
    /// It was updated.
    Update,
    /// It was deleted.
    Delete,
}

impl Operation {
    /// As upstream labels it.
    pub fn as_str(self) -> &'static str {
        match self {
            Operation::Create => "create",
            Operation::Update => "update",
            Operation::Delete => "delete",
        }
    }
}

/// How the hints of a Service were decided, as upstream labels it (RC-46).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HintLabels {
    /// Whether the topology annotation asks for hints: `Auto`, otherwise `Disabled`.
    pub topology: bool,
    /// The traffic distribution in use.
    pub traffic_distribution: Option<TrafficDistribution>,
}

/// What slice controllers report. Each method does nothing by default.
pub trait SliceMetrics: Send + Sync {
    /// Observes the plan of one sync (RC-28).
    fn planned(&self, plan: &Plan) {
        let _ = plan;
    }

    /// The totals over all Services, after those of one changed.
    fn totals(&self, totals: Totals) {
        let _ = totals;
    }

    /// How many Services use each traffic distribution, after that of one changed. One that was used once stays, with 0
    /// (MT-6).
    fn traffic_distributions(&self, services: &BTreeMap<TrafficDistribution, usize>) {
        let _ = services;
    }

    /// A slice was written.
    fn wrote(&self, operation: Operation) {
        let _ = operation;
    }

    /// All changes of one address type were written: so many slices.
    fn changed(&self, slices: usize, hints: HintLabels) {
        let _ = (slices, hints);
    }

    /// A key was handled.
    fn synced(&self, result: SyncResult) {
        let _ = result;
    }
}

/// Reports nothing.
impl SliceMetrics for () {}
