//! Flags of leader election.

use clap::Args;
use kube_lease_election::{LeaseName, Timing};

use super::value::go_bool_parser;
use crate::go_duration::{self, GoDuration};
use crate::settings::{self, RESOURCE_NAME, RESOURCE_NAMESPACE};

#[derive(Clone, Debug, Args)]
#[expect(clippy::struct_field_names, reason = "the names of the flags")]
#[command(next_help_heading = "Generic flags")]
pub(super) struct LeaderElection {
    /// Run the controllers only while this instance holds a Lease, so that one of several instances is active.
    #[arg(long, value_name = "BOOL", value_parser = go_bool_parser, default_value = "true")]
    leader_elect: bool,

    /// Time that other instances wait after the last observed renewal before they acquire the Lease.
    #[arg(long, value_name = "DURATION", default_value_t = GoDuration(Timing::default().lease_duration()), value_parser = go_duration::value)]
    leader_elect_lease_duration: GoDuration,

    /// Time after its last successful renewal at which the leader stops; must be less than the lease duration.
    #[arg(long, value_name = "DURATION", default_value_t = GoDuration(Timing::default().renew_deadline()), value_parser = go_duration::value)]
    leader_elect_renew_deadline: GoDuration,

    /// Time between two attempts to acquire or renew the Lease; the renew deadline must be greater than 1.2 times this.
    #[arg(long, value_name = "DURATION", default_value_t = GoDuration(Timing::default().retry_period()), value_parser = go_duration::value)]
    leader_elect_retry_period: GoDuration,

    /// Kind of the lock object; leases is the only valid value.
    #[arg(long, value_name = "KIND", default_value = "leases")]
    leader_elect_resource_lock: String,

    /// Name of the Lease. The name kube-controller-manager is that of kube-controller-manager's own Lease: while this
    /// program holds it, no controller of kube-controller-manager runs.
    #[arg(long, value_name = "NAME", default_value = RESOURCE_NAME)]
    leader_elect_resource_name: String,

    /// Namespace of the Lease.
    #[arg(long, value_name = "NAMESPACE", default_value = RESOURCE_NAMESPACE)]
    leader_elect_resource_namespace: String,
}

impl LeaderElection {
    /// Returns the settings; `None` with `--leader-elect=false`, in which case the other flags are not validated.
    pub(super) fn settings(&self, errors: &mut Vec<String>) -> Option<settings::LeaderElection> {
        if !self.leader_elect {
            return None;
        }
        let timing = Timing::new(
            self.leader_elect_lease_duration.0,
            self.leader_elect_renew_deadline.0,
            self.leader_elect_retry_period.0,
        );
        if let Err(error) = &timing {
            errors.push(format!("leader-elect: {error}"));
        }
        if self.leader_elect_resource_lock != "leases" {
            errors.push("resourceLock value must be \"leases\"".to_owned());
        }
        let (name, namespace) = (&self.leader_elect_resource_name, &self.leader_elect_resource_namespace);
        for (flag, value) in [("leader-elect-resource-name", name), ("leader-elect-resource-namespace", namespace)] {
            if value.is_empty() {
                errors.push(format!("{flag} must not be empty"));
            }
        }
        let lease = LeaseName::new(namespace, name);
        Some(settings::LeaderElection { lease, timing: timing.unwrap_or_default() })
    }
}
