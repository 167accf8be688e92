//! Flags of the cut-over from another writer. None of them is a flag of kube-controller-manager.

use clap::Args;

use super::value::{Bounds, go_bool_parser};
use crate::go_duration::{self, GoDuration};
use crate::go_int;
use crate::settings::{CutOverSettings, Settings, UNEXPLAINED_WRITES_FRACTION, UNEXPLAINED_WRITES_MINIMUM};

#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Cut-over flags")]
pub(super) struct CutOver {
    /// Fraction of all EndpointSlices that may be written in the first minute without a change of a Pod, Service or Node
    /// that explains it. Beyond it, all writes are withheld, with examples in the log; later leaders write nothing
    /// either, until one is started with --force. 1 or more disables the limit. Not a flag of kube-controller-manager.
    #[arg(long, value_name = "NUMBER", default_value_t = UNEXPLAINED_WRITES_FRACTION)]
    unexplained_writes_fraction: f64,

    /// Number of unexplained writes that is always allowed, however few EndpointSlices there are. Not a flag of
    /// kube-controller-manager.
    #[arg(long, value_name = "NUMBER", value_parser = go_int::parse, default_value_t = i64::from(UNEXPLAINED_WRITES_MINIMUM))]
    unexplained_writes_minimum: i64,

    /// Time for which a new leader must have found no difference between what it would write and what exists before its
    /// first write. Later leaders of the same version write at once. For the switch from kube-controller-manager, which
    /// has to write meanwhile: remove the flag afterwards, or a new version of this program waits again. 0 disables it.
    /// Needs --leader-elect. Not a flag of kube-controller-manager.
    #[arg(long, value_name = "DURATION", default_value = "0s", value_parser = go_duration::value)]
    require_clean_shadow: GoDuration,

    /// Write at once and without the limit of unexplained writes, even if an earlier leader withheld its writes. Not a
    /// flag of kube-controller-manager.
    #[arg(
        long, value_name = "BOOL", value_parser = go_bool_parser, num_args = 0..=1, require_equals = true,
        default_value = "false", default_missing_value = "true"
    )]
    force: bool,
}

impl CutOver {
    /// Sets the conditions of writes. Called after leader election is set.
    pub(super) fn apply(&self, settings: &mut Settings, errors: &mut Vec<String>) {
        let CutOver { unexplained_writes_fraction, unexplained_writes_minimum, require_clean_shadow, force } = self;
        if unexplained_writes_fraction.is_nan() || *unexplained_writes_fraction < 0.0 {
            errors.push(format!(
                "unexplained-writes-fraction must not be less than 0, but got {unexplained_writes_fraction}"
            ));
        }
        if !require_clean_shadow.0.is_zero() && settings.leader_election.is_none() {
            errors.push("require-clean-shadow needs leader-elect: its result is stored in the Lease".to_owned());
        }
        let minimum = Bounds::new("unexplained-writes-minimum", 0, i64::from(u32::MAX));
        settings.cut_over = CutOverSettings {
            unexplained_writes_fraction: *unexplained_writes_fraction,
            unexplained_writes_minimum: minimum.check(*unexplained_writes_minimum, errors),
            require_clean_shadow: require_clean_shadow.0,
            force: *force,
        };
    }
}
