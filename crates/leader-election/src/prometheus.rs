//! The election metrics of client-go, on a registry of the `prometheus` crate.

use std::sync::Arc;

use prometheus::{IntCounterVec, IntGauge, IntGaugeVec, Opts, Registry};

use crate::{ElectionMetrics, ElectionMetricsProvider};

/// Election metrics with the names, help texts and label of the Kubernetes binaries:
///
/// | metric | type |
/// |---|---|
/// | `leader_election_master_status` | gauge: 1 for the leader, 0 for others |
/// | `leader_election_slowpath_total` | counter |
///
/// Their label `name` is the name of the Lease. Register once per registry; [`ElectionMetricsProvider::election`]
/// returns the metrics of one election.
#[derive(Debug, Clone)]
pub struct PrometheusMetrics {
    master_status: IntGaugeVec,
    slow_path: IntCounterVec,
}

impl PrometheusMetrics {
    /// Registers the two metrics with `registry`.
    ///
    /// # Errors
    ///
    /// [`prometheus::Error::AlreadyReg`] if the registry contains a metric of one of these names.
    pub fn register(registry: &Registry) -> prometheus::Result<Self> {
        let metrics = Self {
            master_status: IntGaugeVec::new(
                Opts::new(
                    "leader_election_master_status",
                    "[ALPHA] Gauge of if the reporting system is master of the relevant lease, 0 indicates backup, 1 \
                     indicates master. 'name' is the string used to identify the lease. Please make sure to group by name.",
                ),
                &["name"],
            )?,
            slow_path: IntCounterVec::new(
                Opts::new(
                    "leader_election_slowpath_total",
                    "[ALPHA] Total number of slow path exercised in renewing leader leases. 'name' is the string used to \
                     identify the lease. Please make sure to group by name.",
                ),
                &["name"],
            )?,
        };
        registry.register(Box::new(metrics.master_status.clone()))?;
        registry.register(Box::new(metrics.slow_path.clone()))?;
        Ok(metrics)
    }
}

impl ElectionMetricsProvider for PrometheusMetrics {
    fn election(&self, name: &str) -> Arc<dyn ElectionMetrics> {
        let election = PrometheusElectionMetrics {
            master_status: self.master_status.with_label_values(&[name]),
            slow_path: self.slow_path.clone(),
            name: name.to_owned(),
        };
        Arc::new(election)
    }
}

struct PrometheusElectionMetrics {
    master_status: IntGauge,
    // The vector, not the counter: as upstream, the series appears with the first increment.
    slow_path: IntCounterVec,
    name: String,
}

impl ElectionMetrics for PrometheusElectionMetrics {
    fn leading(&self, is_leader: bool) {
        self.master_status.set(is_leader.into());
    }

    fn add_slow_paths(&self, count: u64) {
        self.slow_path.with_label_values(&[&self.name]).inc_by(count);
    }
}
