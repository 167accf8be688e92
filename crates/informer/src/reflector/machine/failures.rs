//! The next request after one that failed or ended.

use std::{mem, time::Duration};

use kube_wire::{Encoding, MAX_RETRY_AFTER};
use tokio::time::Instant;

use super::{FIRST_PAGE, Machine, Phase, STREAM, WATCH};
use crate::{
    RelistCause,
    reflector::steps::{Action, Failure},
};

/// A watch that ends sooner than this without an event has failed (client-go: `VeryShortWatchError`).
const VERY_SHORT_WATCH: Duration = Duration::from_secs(1);
/// A watch that ends more than this before its timeout was interrupted. Servers end watches at most slightly early.
pub(super) const EARLY_END: Duration = Duration::from_secs(5);
/// Minimum time between two lists that keep the store current while watches fail.
const REFRESH_INTERVAL: Duration = Duration::from_secs(10);
/// Delay after a 429 without `Retry-After`: the one that API servers request.
const BUSY_DELAY: Duration = Duration::from_secs(1);
/// Time without streaming lists after one that did not end with its bookmark.
const WITHOUT_STREAMS: Duration = Duration::from_secs(3600);
/// Time without protobuf after a failure that it may have caused. The server may be upgraded, and a response that was
/// damaged in transit says little about the next.
const WITHOUT_PROTOBUF: Duration = Duration::from_secs(600);

/// The first page of a list in place of a watch that fails.
const REFRESH: Phase = Phase::List { continue_token: None, unlimited: false, refresh: true };

impl Machine {
    pub(super) fn list_failed(&mut self, failure: &Failure, now: Instant, jitter: f64) {
        let Phase::List { continue_token, unlimited, refresh } = mem::replace(&mut self.phase, FIRST_PAGE) else {
            return self.list_again(failure, now, jitter);
        };
        match failure {
            Failure::Expired if continue_token.is_some() && !unlimited => {
                self.phase = Phase::List { continue_token: None, unlimited: true, refresh };
            }
            Failure::Expired | Failure::Ahead if !self.unavailable => self.unavailable = true,
            _ if self.fall_back_to_json(failure, now) && *failure == Failure::NotAcceptable => {}
            Failure::Busy { .. } | Failure::Unreachable | Failure::ServerError if refresh => {
                self.phase = WATCH;
                self.retry(failure);
            }
            _ => self.list_again(failure, now, jitter),
        }
    }

    /// Starts over with a streaming list, after a wait.
    fn list_again(&mut self, failure: &Failure, now: Instant, jitter: f64) {
        self.phase = STREAM;
        match failure {
            Failure::Busy { .. } | Failure::Unreachable | Failure::ServerError => self.retry(failure),
            _ => self.back_off(now, jitter),
        }
    }

    pub(super) fn ended(&mut self, now: Instant) -> Option<RelistCause> {
        let open = self.close_watch(now);
        match self.phase {
            // The server may not support streaming lists.
            Phase::Stream { .. } => self.phase = FIRST_PAGE,
            // Something between server and process cuts watches.
            Phase::Watch { silent: true, streamed, .. } if open.is_some_and(|open| open < VERY_SHORT_WATCH) => {
                // As other early ends. Not for each watch of many: that would double the requests.
                self.verify |= streamed;
                self.retry(&Failure::ServerError);
                return self.refresh(now).then_some(RelistCause::Short);
            }
            Phase::Watch { .. } => {
                self.refreshed_at = Some(now);
                // etcd may have been restored since an early end, and a watch from a future version does not fail.
                self.verify |= self.deadline.is_some_and(|deadline| now + EARLY_END < deadline);
            }
            Phase::List { .. } => {}
        }
        None
    }

    pub(super) fn stream_failed(&mut self, failure: &Failure, opened: bool, now: Instant) {
        match failure {
            Failure::Busy { .. } => self.retry(failure),
            // A list may succeed: the server may fail in streaming lists only, and a proxy may cut long responses.
            Failure::Unreachable | Failure::ServerError => {
                // Upstream lists at once after an ERROR event.
                if !(opened && *failure == Failure::ServerError) {
                    self.retry(failure);
                }
                if opened || *failure == Failure::ServerError {
                    self.phase = FIRST_PAGE;
                }
            }
            Failure::NoBookmark => {
                self.stream_after = Some(now + WITHOUT_STREAMS);
                self.phase = FIRST_PAGE;
            }
            Failure::Expired | Failure::Ahead if !self.unavailable => self.unavailable = true,
            _ if self.fall_back_to_json(failure, now) => {}
            _ => self.phase = FIRST_PAGE,
        }
    }

    /// Records the end of a watch. Returns the time for which it was open; `None` if it was not.
    ///
    /// After more than [`VERY_SHORT_WATCH`], even without an event, the server had its version: if the next watch is answered
    /// with 410, that has expired since.
    fn close_watch(&mut self, now: Instant) -> Option<Duration> {
        let Phase::Watch { since, .. } = &mut self.phase else { return None };
        let open = now.saturating_duration_since(since.take()?);
        self.outdated &= open <= VERY_SHORT_WATCH;
        Some(open)
    }

    pub(super) fn watch_failed(&mut self, failure: &Failure, now: Instant, jitter: f64) -> Option<RelistCause> {
        self.close_watch(now);
        match failure {
            Failure::NotAcceptable if self.fall_back_to_json(failure, now) => return None,
            // No event is lost: resume from the same version.
            Failure::Busy { .. } => {
                self.retry(failure);
                return None;
            }
            Failure::Unreachable | Failure::ServerError => {
                self.verify |= *failure == Failure::Unreachable;
                self.retry(failure);
                return self.refresh(now).then_some(RelistCause::Failed);
            }
            Failure::ListRequested(cause) => {
                self.phase = STREAM;
                if *cause == RelistCause::Confirm {
                    // The server reads a list of the most recent state in another way, which may be right where the
                    // held one is wrong.
                    self.phase = FIRST_PAGE;
                    self.unavailable = true;
                }
                return Some(*cause);
            }
            // No sign of load: list at once. If the watch after the last list made no progress, try it again instead.
            Failure::Expired | Failure::Ahead => {
                let is_repeated = mem::replace(&mut self.outdated, true);
                if is_repeated {
                    self.retry(&Failure::ServerError);
                    if !self.refresh(now) {
                        return None;
                    }
                }
                self.unavailable |= *failure == Failure::Ahead;
                self.phase = STREAM;
                return Some(if *failure == Failure::Ahead { RelistCause::Ahead } else { RelistCause::Expired });
            }
            Failure::NotAcceptable | Failure::Unreadable | Failure::NoBookmark | Failure::Other => {
                self.fall_back_to_json(failure, now);
            }
        }
        self.phase = STREAM;
        self.back_off(now, jitter);
        Some(RelistCause::Failed)
    }

    /// Requests a list in place of the watch that fails, if the last one is long enough ago. Returns whether it does.
    fn refresh(&mut self, now: Instant) -> bool {
        let is_due = self.refreshed_at.is_none_or(|at| now.saturating_duration_since(at) >= REFRESH_INTERVAL);
        if is_due {
            self.refreshed_at = Some(now);
            self.phase = REFRESH;
        }
        is_due
    }

    /// Falls back to JSON if the encoding may be the cause of the failure. Returns whether that changes the encoding.
    fn fall_back_to_json(&mut self, failure: &Failure, now: Instant) -> bool {
        matches!(failure, Failure::NotAcceptable | Failure::Unreadable) && self.request_json(now)
    }

    /// Requests JSON for some time. Returns `false` if it is requested already.
    pub(super) fn request_json(&mut self, now: Instant) -> bool {
        let changes = self.encoding() != Encoding::Json;
        if changes {
            self.json_until = Some(now + WITHOUT_PROTOBUF);
        }
        changes
    }

    fn back_off(&mut self, now: Instant, jitter: f64) {
        self.wait = Some(Action::Wait(self.backoff.next(now, jitter)));
    }

    /// Waits for a retry of a request that failed because of the server.
    pub(super) fn retry(&mut self, failure: &Failure) {
        let max = self.backoff.max();
        let requested = match failure {
            Failure::Busy { retry_after: Some(requested) } => Some((*requested).min(MAX_RETRY_AFTER)),
            Failure::Busy { retry_after: None } => Some(BUSY_DELAY.min(max)),
            _ => None,
        };
        self.wait = Some(Action::Retry { requested, limit: requested.unwrap_or_default().saturating_add(max) });
    }
}
