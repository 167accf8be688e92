//! Lists that follow a held one.

use std::time::Duration;

use tokio::time::Instant;

use super::{Backoff, BackoffPolicy, Machine};

/// Intervals between the lists while one is held. The longest is short enough for a cache to be right within 15 s of the
/// first right answer of the server.
const INTERVALS: BackoffPolicy =
    BackoffPolicy { initial: Duration::from_secs(1), max: Duration::from_secs(10), reset_after: Duration::MAX };
/// Random part of an interval: up to a tenth of it.
const JITTER: f64 = 0.1;

/// The next list while one is held.
#[derive(Debug)]
pub(super) struct Recheck {
    intervals: Backoff,
    at: Instant,
}

impl Machine {
    /// Returns whether a list is held, so that the next one is of the most recent state.
    pub(in crate::reflector) fn is_held(&self) -> bool {
        self.recheck.is_some()
    }

    /// Returns when the watch is to end for the next list; `None` if no list is held.
    pub(in crate::reflector) fn recheck_at(&self) -> Option<Instant> {
        self.recheck.as_ref().map(|recheck| recheck.at)
    }

    /// Requests another list after the next interval.
    pub(super) fn recheck_later(&mut self, now: Instant, jitter: f64) {
        let recheck = self.recheck.get_or_insert_with(|| Recheck { intervals: Backoff::new(INTERVALS), at: now });
        recheck.at = now + recheck.intervals.next(now, jitter.clamp(0.0, 1.0) * JITTER);
    }
}
