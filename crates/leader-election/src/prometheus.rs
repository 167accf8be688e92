//! The election metrics of client-go, on a registry of the `prometheus` crate.

use prometheus::{
    IntCounterVec, IntGaugeVec, Registry, register_int_counter_vec_with_registry, register_int_gauge_vec_with_registry,
};

use crate::ElectionMetrics;

/// Election metrics with the names, help texts and label of the Kubernetes binaries:
///
/// | metric | type |
/// |---|---|
/// | `leader_election_master_status` | gauge: 1 for the leader, 0 for others |
/// | `leader_election_slowpath_total` | counter |
///
/// Their label `name` is the name of the Lease. Register once per registry, and pass clones to the elections.
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
        Ok(Self {
            master_status: register_int_gauge_vec_with_registry!(
                "leader_election_master_status",
                "[ALPHA] Gauge of if the reporting system is master of the relevant lease, 0 indicates backup, 1 indicates \
                 master. 'name' is the string used to identify the lease. Please make sure to group by name.",
                &["name"],
                registry
            )?,
            slow_path: register_int_counter_vec_with_registry!(
                "leader_election_slowpath_total",
                "[ALPHA] Total number of slow path exercised in renewing leader leases. 'name' is the string used to \
                 identify the lease. Please make sure to group by name.",
                &["name"],
                registry
            )?,
        })
    }
}

impl ElectionMetrics for PrometheusMetrics {
    fn leading(&self, lease: &str, is_leader: bool) {
        self.master_status.with_label_values(&[lease]).set(is_leader.into());
    }

    /// As upstream, the series appears with the first increment.
    fn add_slow_paths(&self, lease: &str, count: u64) {
        self.slow_path.with_label_values(&[lease]).inc_by(count);
    }
}
