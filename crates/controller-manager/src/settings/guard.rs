//! Settings that flags of earlier releases give, without effect.

use std::time::Duration;

/// Values of `--guard-fraction`, `--guard-minimum` and `--guard-confirm-after`, which have no effect.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GuardSettings {
    /// `--guard-fraction`.
    pub fraction: f64,
    /// `--guard-minimum`.
    pub minimum: usize,
    /// `--guard-confirm-after`.
    pub confirm_after: Duration,
}

impl Default for GuardSettings {
    fn default() -> Self {
        GuardSettings { fraction: 0.5, minimum: 50, confirm_after: Duration::from_secs(15) }
    }
}
