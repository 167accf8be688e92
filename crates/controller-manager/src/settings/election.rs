//! Settings of leader election.

use kube_lease_election::{LeaseName, Timing};

/// Lease and timing of leader election; by default `kube-system/endpoint-controller-manager`, with 15 s, 10 s and 2 s.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeaderElection {
    /// `--leader-elect-resource-namespace` and `--leader-elect-resource-name`: the Lease to acquire. Kubernetes 1.36
    /// has no other kind of lock.
    pub lease: LeaseName,
    /// `--leader-elect-lease-duration`, `--leader-elect-renew-deadline` and `--leader-elect-retry-period`.
    pub timing: Timing,
}

/// Default name of the Lease. With upstream's name, a kube-controller-manager would not get its Lease, and none of its
/// controllers would run.
pub(crate) const RESOURCE_NAME: &str = "endpoint-controller-manager";
const UPSTREAM_RESOURCE_NAME: &str = "kube-controller-manager";
/// Default namespace of the Lease, upstream's and ours.
pub(crate) const RESOURCE_NAMESPACE: &str = "kube-system";

/// The Lease `kube-system/endpoint-controller-manager`, with upstream's timing: 15 s, 10 s and 2 s.
impl Default for LeaderElection {
    fn default() -> Self {
        let lease = LeaseName { namespace: RESOURCE_NAMESPACE.to_owned(), name: RESOURCE_NAME.to_owned() };
        LeaderElection { lease, timing: Timing::default() }
    }
}

impl LeaderElection {
    /// Logs a warning if the Lease is that of kube-controller-manager, or in another namespace than `kube-system`: allowed,
    /// but rarely intended.
    pub(crate) fn warn_if_unusual(&self) {
        if self.lease.namespace != RESOURCE_NAMESPACE {
            tracing::warn!(
                lease = %self.lease,
                "The Lease is not in kube-system: an instance that was deployed in another way has another Lease, \
                 and both would write"
            );
        }
        if self.lease.name == UPSTREAM_RESOURCE_NAME && self.lease.namespace == RESOURCE_NAMESPACE {
            tracing::warn!(
                lease = %self.lease,
                "This is the Lease of kube-controller-manager: while this process holds it, no controller of \
                 kube-controller-manager runs"
            );
        }
    }
}
