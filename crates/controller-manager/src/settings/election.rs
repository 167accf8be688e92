//! How the lease is sought.

use kube_lease_election::{LeaseName, Timing};

/// How this program seeks the lease.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeaderElection {
    /// `--leader-elect-resource-namespace` and `--leader-elect-resource-name`: the Lease to hold. Leases are the only kind
    /// of lock that Kubernetes still has.
    pub lease: LeaseName,
    /// `--leader-elect-lease-duration`, `--leader-elect-renew-deadline` and `--leader-elect-retry-period`: for how long it
    /// is held, and how often renewed.
    pub timing: Timing,
}

/// The Lease of this program. Upstream's name would stop every other controller of a kube-controller-manager.
pub(crate) const RESOURCE_NAME: &str = "endpoint-controller-manager";
const UPSTREAM_RESOURCE_NAME: &str = "kube-controller-manager";
/// The namespace of both.
pub(crate) const RESOURCE_NAMESPACE: &str = "kube-system";

/// Our own Lease, with upstream's timing.
impl Default for LeaderElection {
    fn default() -> Self {
        let lease = LeaseName { namespace: RESOURCE_NAMESPACE.to_owned(), name: RESOURCE_NAME.to_owned() };
        LeaderElection { lease, timing: Timing::default() }
    }
}

impl LeaderElection {
    /// Warns of what is allowed and hardly ever meant.
    pub(crate) fn warn(&self) {
        if self.lease.name == UPSTREAM_RESOURCE_NAME && self.lease.namespace == RESOURCE_NAMESPACE {
            tracing::warn!(
                lease = %self.lease,
                "This is the Lease of kube-controller-manager: while it is held here, all controllers there stand still"
            );
        }
    }
}
