//! Confirmation of lists that the guard holds.

use std::time::Duration;

use tokio::time::Instant;

use super::{Action, Backoff, BackoffPolicy, FIRST_PAGE, Machine, Phase};
use crate::RelistCause;

/// Maximum time between two confirmations, unless the first interval is longer. It is below the time without a list
/// after which health checks regard a cache as stalled.
const MAX_INTERVAL: Duration = Duration::from_secs(120);
/// Random part of an interval: up to a tenth of it. A list that is right should not wait much longer than configured.
const JITTER: f64 = 0.1;

/// The pending confirmation of a held list, if there is one.
#[derive(Debug)]
pub(super) struct Confirmation {
    /// Time before the first confirmation, and minimum time before each further one.
    after: Duration,
    /// Intervals of the pending confirmations; `None` if no list is held.
    pending: Option<Backoff>,
}

impl Confirmation {
    pub(super) fn new(after: Duration) -> Self {
        Self { after, pending: None }
    }

    /// Returns whether a list is held.
    pub(super) fn is_pending(&self) -> bool {
        self.pending.is_some()
    }

    /// Ends the confirmation, because a list is stored.
    pub(super) fn end(&mut self) {
        self.pending = None;
    }

    /// Returns the time before the next confirmation. Starts a confirmation if none is pending.
    fn next_interval(&mut self, now: Instant, jitter: f64) -> Duration {
        let max = self.after.max(MAX_INTERVAL);
        let policy = BackoffPolicy { initial: self.after, max, reset_after: Duration::MAX };
        self.pending.get_or_insert_with(|| Backoff::new(policy)).next(now, jitter.clamp(0.0, 1.0) * JITTER)
    }
}

impl Machine {
    /// Returns whether a list is held, so that the next one confirms it or takes its place.
    pub(in crate::reflector) fn is_confirming(&self) -> bool {
        self.confirmation.is_pending()
    }

    /// Processes a list that is not stored. The first one that exceeds the guard is followed by a list of the most recent
    /// state. That list, if it is not stored either, and one that does not exceed the guard are stored unless they
    /// contradict reads of the missing objects.
    pub(super) fn held(&mut self, most: bool, missing: bool, now: Instant, jitter: f64) -> Option<RelistCause> {
        if most && !self.confirmation.is_pending() {
            return Some(self.confirm_later(now, jitter));
        }
        self.phase = if missing { Phase::Probe } else { Phase::Store };
        None
    }

    pub(super) fn probed(&mut self, gone: bool, now: Instant, jitter: f64) -> Option<RelistCause> {
        if !gone {
            return Some(self.confirm_later(now, jitter));
        }
        self.phase = Phase::Store;
        None
    }

    /// Requests a list after the next interval. Not a streaming list: the server reads it in another way, which may be
    /// right where that of the held list is wrong.
    ///
    /// A request for a list shortens the interval, but not below the first one: a server that is wrong for a moment must
    /// not confirm its list, and continuous requests must not cause continuous lists.
    fn confirm_later(&mut self, now: Instant, jitter: f64) -> RelistCause {
        let longest = self.confirmation.next_interval(now, jitter);
        self.wait = Some(Action::WaitToConfirm { shortest: self.confirmation.after, longest });
        self.phase = FIRST_PAGE;
        RelistCause::Confirm
    }
}

#[cfg(test)]
mod tests;
