//! Flags of the guard against lists that would remove many objects of a cache.

use clap::Args;

use super::value::Bounds;
use crate::go_duration::{self, GoDuration};
use crate::go_int;
use crate::settings::GuardSettings;

#[derive(Clone, Debug, Args)]
#[expect(clippy::struct_field_names, reason = "the names of the flags")]
#[command(next_help_heading = "Guard flags")]
pub(super) struct Guard {
    /// Fraction of the objects of a cache that a list of the API server may remove before the list has to be confirmed
    /// by a second one and by reads of missing objects; Pods that are not ready do not count. 1 or more disables the
    /// guard. Not a flag of kube-controller-manager.
    #[arg(long, value_name = "NUMBER", default_value_t = GuardSettings::default().fraction)]
    guard_fraction: f64,

    /// Number of objects of a cache that a list may remove without confirmation. If it lacks more, but does not exceed
    /// the fraction, it is confirmed by reads of missing objects alone. Not a flag of kube-controller-manager.
    #[arg(
        long, value_name = "NUMBER", value_parser = go_int::parse,
        default_value_t = i64::try_from(GuardSettings::default().minimum).unwrap_or(i64::MAX)
    )]
    guard_minimum: i64,

    /// Time between a list that has to be confirmed and the list that confirms it; later ones follow at intervals of up
    /// to 2m. Not a flag of kube-controller-manager.
    #[arg(
        long, value_name = "DURATION", value_parser = go_duration::value,
        default_value_t = GoDuration(GuardSettings::default().confirm_after)
    )]
    guard_confirm_after: GoDuration,
}

impl Guard {
    pub(super) fn settings(&self, errors: &mut Vec<String>) -> GuardSettings {
        let Guard { guard_fraction, guard_minimum, guard_confirm_after } = self;
        if guard_fraction.is_nan() || *guard_fraction < 0.0 {
            errors.push(format!("guard-fraction must be a number of at least 0, but got {guard_fraction}"));
        }
        // Without a pause, a server that is wrong for a moment would confirm its list.
        if guard_confirm_after.0.is_zero() {
            errors.push("guard-confirm-after must be greater than zero".to_owned());
        }
        GuardSettings {
            fraction: *guard_fraction,
            minimum: Bounds::new("guard-minimum", 0, i64::from(i32::MAX)).check(*guard_minimum, errors),
            confirm_after: guard_confirm_after.0,
        }
    }
}
