//! Whether a cache has caught up with a write of ours, and how long that may take.

use std::time::{Duration, Instant};

/// How long a key may look stale before the cache is not waited for any longer.
pub const STALE_DEADLINE: Duration = Duration::from_secs(30);

/// Whether a cache can be believed about a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Freshness {
    /// It shows every write that is known of.
    Fresh,
    /// It does not yet. The event that changes that wakes the key; if none does, it is overdue after `wait`.
    Stale {
        /// What is left of [`STALE_DEADLINE`].
        wait: Duration,
    },
    /// It has not for too long: read from the server instead.
    Overdue,
}

/// Since when a key has been waiting for the cache.
///
/// Staleness is no failure: a stale sync ends with [`Next::After`](crate::Next::After), which leaves the retries of the
/// key alone, and the handler that sees the event puts the key back at once if it [is waiting](Staleness::is_waiting).
///
/// ```
/// use std::time::{Duration, Instant};
/// use kube_controller::{Freshness, STALE_DEADLINE, Staleness};
///
/// # #[allow(clippy::disallowed_methods)]
/// let start = Instant::now();
/// let mut staleness = Staleness::default();
/// assert_eq!(staleness.check(true, start), Freshness::Stale { wait: STALE_DEADLINE });
/// assert!(staleness.is_waiting());
/// assert_eq!(staleness.check(true, start + STALE_DEADLINE), Freshness::Overdue);
/// assert_eq!(staleness.check(false, start), Freshness::Fresh);
/// assert!(!staleness.is_waiting());
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Staleness {
    since: Option<Instant>,
}

impl Staleness {
    /// Takes in whether a sync finds the cache behind; one that does not starts the deadline over.
    pub fn check(&mut self, behind: bool, now: Instant) -> Freshness {
        if !behind {
            self.since = None;
            return Freshness::Fresh;
        }
        let since = *self.since.get_or_insert(now);
        match STALE_DEADLINE.checked_sub(now.saturating_duration_since(since)) {
            Some(wait) if !wait.is_zero() => Freshness::Stale { wait },
            _ => Freshness::Overdue,
        }
    }

    /// Whether a sync found the cache behind, and none has found it fresh since.
    pub fn is_waiting(&self) -> bool {
        self.since.is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[expect(clippy::disallowed_methods, reason = "any instant will do to count from")]
    fn waits_until_the_deadline_and_starts_over_once_fresh() {
        let (start, mut staleness) = (Instant::now(), Staleness::default());
        assert_eq!(staleness.check(true, start), Freshness::Stale { wait: STALE_DEADLINE });
        let later = start + Duration::from_secs(10);
        assert_eq!(staleness.check(true, later), Freshness::Stale { wait: Duration::from_secs(20) });
        assert_eq!(staleness.check(true, start + STALE_DEADLINE), Freshness::Overdue);
        assert_eq!(staleness.check(true, start + 2 * STALE_DEADLINE), Freshness::Overdue);
        assert_eq!(staleness.check(false, later), Freshness::Fresh);
        assert_eq!(staleness.check(true, later), Freshness::Stale { wait: STALE_DEADLINE });
    }
}
