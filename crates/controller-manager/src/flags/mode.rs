//! Flags of the mode, and of the comparison of shadow mode.

use clap::Args;

use crate::go_duration::{self, GoDuration};
use crate::settings::{Mode, SETTLE_PERIOD, Settings, ShadowSettings, WRITER_LEASE, lease_name};

#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Mode flags")]
pub(super) struct ModeFlags {
    /// active: the controllers write. shadow: the controllers run beside those of kube-controller-manager, compare what
    /// they would write with what exists, and never write; --leader-elect and --use-service-account-credentials have no
    /// effect. Not a flag of kube-controller-manager.
    #[arg(long, value_name = "active|shadow", value_parser = parse_mode, default_value = Mode::default().as_str())]
    mode: Mode,

    /// Time for which a difference must last, without a change of the objects of its Service, before it counts as a
    /// mismatch. Twice the longest time that a difference lasted in the last 10 minutes, if that is longer. Not a flag
    /// of kube-controller-manager.
    #[arg(long, value_name = "DURATION", default_value_t = GoDuration(SETTLE_PERIOD), value_parser = go_duration::value)]
    shadow_settle_period: GoDuration,

    /// Namespace and name of the Lease of the program that is compared. Mismatches are counted only while it is
    /// renewed. A program that stops writing but still renews it counts as running. Empty: time alone decides. Not a flag of kube-controller-manager.
    #[arg(long, value_name = "NAMESPACE/NAME", default_value = WRITER_LEASE)]
    shadow_writer_lease: String,
}

impl ModeFlags {
    /// Sets the mode. Shadow mode has no leader election.
    pub(super) fn apply(&self, settings: &mut Settings, errors: &mut Vec<String>) {
        let ModeFlags { mode, shadow_settle_period, shadow_writer_lease } = self;
        let writer_lease = lease_name(shadow_writer_lease);
        if writer_lease.is_none() && !shadow_writer_lease.is_empty() {
            errors.push(format!("shadow-writer-lease must be NAMESPACE/NAME, but got {shadow_writer_lease:?}"));
        }
        if shadow_settle_period.0.is_zero() {
            errors.push("shadow-settle-period must be greater than zero".to_owned());
        }
        settings.mode = *mode;
        settings.shadow =
            ShadowSettings { settle_period: shadow_settle_period.0, writer_lease, ..ShadowSettings::default() };
        if *mode == Mode::Shadow {
            settings.leader_election = None;
        }
    }
}

fn parse_mode(text: &str) -> Result<Mode, String> {
    let mode = [Mode::Active, Mode::Shadow].into_iter().find(|mode| mode.as_str() == text);
    mode.ok_or_else(|| "expected active or shadow".to_owned())
}
