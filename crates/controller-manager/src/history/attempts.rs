//! The back-off between attempts to record.

use std::time::Duration;

/// Longest back-off.
const MAX: Duration = Duration::from_secs(60);

/// The attempts since the last time that the recording went well for a minute.
#[derive(Debug, Default)]
pub(super) struct Attempts(u32);

impl Attempts {
    /// Counts an attempt that has failed after some time. Returns the back-off: 1 s, doubling up to 60 s.
    pub(super) fn failed(&mut self, after: Duration) -> Duration {
        if after >= MAX {
            self.0 = 0;
        }
        self.0 = self.0.saturating_add(1);
        Duration::from_secs(1 << (self.0 - 1).min(6)).min(MAX)
    }

    /// Returns whether the last failure is logged: the first one, and each whose number is a power of two.
    pub(super) fn is_logged(&self) -> bool {
        self.0.is_power_of_two()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failures_back_off_and_are_folded() {
        let mut attempts = Attempts::default();
        let mut fail = |after| (attempts.failed(Duration::from_secs(after)).as_secs(), attempts.is_logged());
        let first: Vec<_> = (0..9).map(|_| fail(0)).collect();
        let expected = [1, 2, 4, 8, 16, 32, 60, 60, 60].into_iter();
        let expected: Vec<_> = expected.zip([true, true, false, true, false, false, false, true, false]).collect();
        assert_eq!(first, expected);
        assert_eq!(fail(60), (1, true), "after a minute that went well");
        assert_eq!(fail(59).0, 2);
    }
}
