//! Metrics of slice controllers.

#[cfg(feature = "prometheus")]
mod prometheus;
mod sums;

#[cfg(feature = "prometheus")]
pub use prometheus::{PrometheusMetrics, WriteMetrics};
pub use sums::Totals;
pub(crate) use sums::{Counted, Sums};

use std::collections::BTreeMap;

use kube_topology::{HintPolicy, TrafficDistribution};

use crate::plan::Plan;

/// Receiver of the metrics of a slice controller. Each method does nothing by default.
pub trait SliceMetrics: Send + Sync {
    /// Observes the plan of one sync, before its writes (RC-28).
    fn planned(&self, plan: &Plan) {
        let _ = plan;
    }

    /// Sets the totals over all Services.
    fn totals(&self, totals: Totals) {
        let _ = totals;
    }

    /// Sets the number of Services by traffic distribution. A distribution that is no longer used stays, with 0 (MT-6).
    fn traffic_distributions(&self, services: &BTreeMap<TrafficDistribution, usize>) {
        let _ = services;
    }

    /// Counts a write that the API server accepted, by its [verb](kube_endpoint_model::Write::verb), which is upstream's
    /// label value.
    fn wrote(&self, verb: &'static str) {
        let _ = verb;
    }

    /// Observes the number of changed slices of one address type, after all its writes succeeded (RC-46).
    fn changed(&self, slices: usize, hints: HintPolicy) {
        let _ = (slices, hints);
    }

    /// Counts a sync of the slice controller. It succeeded if all writes did, and no Pod was left out (SY-3).
    fn synced(&self, succeeded: bool) {
        let _ = succeeded;
    }
}

/// Drops all metrics.
impl SliceMetrics for () {}
