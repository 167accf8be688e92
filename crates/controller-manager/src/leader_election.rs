//! The flags and settings of leader election.

use std::time::Duration;

use clap::Args;
use kube_lease_election::{LeaseName, Timing, TimingError};

use crate::flags::parse_bool;
use crate::go_duration;

/// Our Lease. Upstream's name would stop every other controller of a kube-controller-manager.
const NAME: &str = "endpoint-controller-manager";
const UPSTREAM_NAME: &str = "kube-controller-manager";
const NAMESPACE: &str = "kube-system";

/// How this program seeks the lease.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeaderElection {
    /// The Lease to hold.
    pub lease: LeaseName,
    /// For how long, and how often renewed.
    pub timing: Timing,
}

/// Our own Lease, with upstream's timing.
impl Default for LeaderElection {
    fn default() -> Self {
        let lease = LeaseName { namespace: NAMESPACE.to_owned(), name: NAME.to_owned() };
        LeaderElection { lease, timing: Timing::default() }
    }
}

#[expect(clippy::struct_field_names, reason = "the flags are named after the fields")]
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Leader election")]
pub(crate) struct LeaderElectionFlags {
    /// Only do work while holding a Lease, so that several instances can run.
    #[arg(
        long, value_name = "BOOL", value_parser = parse_bool, num_args = 0..=1, require_equals = true,
        default_value = "true", default_missing_value = "true"
    )]
    leader_elect: bool,

    /// How long others wait after the last renewal they saw before they take over.
    #[arg(long, value_name = "DURATION", default_value = "15s", value_parser = go_duration::parse)]
    leader_elect_lease_duration: Duration,

    /// How long after its last renewal the leader goes on; less than the lease duration.
    #[arg(long, value_name = "DURATION", default_value = "10s", value_parser = go_duration::parse)]
    leader_elect_renew_deadline: Duration,

    /// How long to wait between two tries to acquire or renew.
    #[arg(long, value_name = "DURATION", default_value = "2s", value_parser = go_duration::parse)]
    leader_elect_retry_period: Duration,

    /// The type of object that is held; only leases.
    #[arg(long, value_name = "TYPE", default_value = "leases", value_parser = ["leases"])]
    leader_elect_resource_lock: String,

    /// Name of the Lease.
    #[arg(long, value_name = "NAME", default_value = NAME)]
    leader_elect_resource_name: String,

    /// Namespace of the Lease.
    #[arg(long, value_name = "NAMESPACE", default_value = NAMESPACE)]
    leader_elect_resource_namespace: String,
}

impl LeaderElectionFlags {
    /// What they ask for; nothing, when leader election is off.
    pub(crate) fn settings(&self) -> Result<Option<LeaderElection>, TimingError> {
        let LeaderElectionFlags {
            leader_elect,
            leader_elect_lease_duration,
            leader_elect_renew_deadline,
            leader_elect_retry_period,
            leader_elect_resource_lock: _,
            leader_elect_resource_name,
            leader_elect_resource_namespace,
        } = self;
        if !leader_elect {
            return Ok(None);
        }
        let timing =
            Timing::new(*leader_elect_lease_duration, *leader_elect_renew_deadline, *leader_elect_retry_period)?;
        let lease =
            LeaseName { namespace: leader_elect_resource_namespace.clone(), name: leader_elect_resource_name.clone() };
        Ok(Some(LeaderElection { lease, timing }))
    }
}

impl LeaderElection {
    /// Warns of what is allowed and hardly ever meant.
    pub(crate) fn warn(&self) {
        if self.lease.name == UPSTREAM_NAME && self.lease.namespace == NAMESPACE {
            tracing::warn!(
                lease = %self.lease,
                "This is the Lease of kube-controller-manager: while it is held here, all controllers there stand still"
            );
        }
    }
}
