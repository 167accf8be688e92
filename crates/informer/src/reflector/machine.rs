//! State machine of the reflector: the next request, given the results so far. No I/O; time and random numbers are
//! arguments.

mod failures;
mod recheck;

use std::time::Duration;

use kube_wire::{Encoding, ResourceVersion};
use tokio::time::Instant;

use self::recheck::Recheck;
use super::{
    backoff::{Backoff, BackoffPolicy},
    steps::{Action, Failure, ListRequest, Observation},
};
use crate::RelistCause;

/// Page size of lists that the server reads from etcd.
const PAGE_SIZE: u32 = 500;
/// Minimum timeout of a watch. Each watch gets a random one between this and twice this, so that they do not all end
/// together.
const MIN_WATCH_TIMEOUT: Duration = Duration::from_secs(300);

/// Decides on the next request, as client-go's `Reflector` does (IN-1 to IN-12).
///
/// A round is a streaming list, or a list if that fails, and then watches until one fails in a way that needs a relist.
#[derive(Debug)]
#[expect(clippy::struct_excessive_bools, reason = "independent facts about the server")]
pub(super) struct Machine {
    phase: Phase,
    /// Version at which the next list or watch starts; `None` before the first list. It differs from that of the store
    /// while a later list is required, and during a watch that started without a version (IN-11).
    version: Option<ResourceVersion>,
    /// The server does not have `version`, no longer or not yet: request the most recent state instead.
    unavailable: bool,
    /// The watch was interrupted: before it is resumed, compare the server's version with `version`. If it is lower,
    /// etcd was restored from a backup, and a watch from a future version would deliver nothing.
    verify: bool,
    /// When the timeout of the last watch expires.
    deadline: Option<Instant>,
    /// The server paginated a list at version 0, so it has no watch cache: request pages, since unlimited lists are
    /// expensive.
    paginate_lists: bool,
    /// When the store last had the state of the server, or a list was requested in place of a watch that fails.
    refreshed_at: Option<Instant>,
    /// The last watch ended because the server does not have its version, and the next one has made no progress.
    outdated: bool,
    /// No streaming list is requested before this time.
    stream_after: Option<Instant>,
    /// Encoding to request, unless JSON is.
    preferred: Encoding,
    /// End of the time for which JSON is requested, because protobuf has failed.
    json_until: Option<Instant>,
    /// Pending wait before the next request: [`Action::Wait`] or [`Action::Retry`].
    wait: Option<Action>,
    backoff: Backoff,
    /// The next list while one is held, which reads the most recent state; `None` if none is.
    recheck: Option<Recheck>,
}

#[derive(Debug)]
enum Phase {
    Stream {
        /// Whether the response has started.
        opened: bool,
    },
    List {
        /// Continue token; `None` for the first page.
        continue_token: Option<String>,
        /// Request the list without a limit, because a page expired while it was read.
        unlimited: bool,
        /// The list takes the place of a watch that fails: if it fails as well, the watch is next.
        refresh: bool,
    },
    Watch {
        /// When the watch was requested, or the streaming list that continues as one was complete.
        since: Option<Instant>,
        /// No event has arrived since.
        silent: bool,
        /// The watch continues a streaming list.
        streamed: bool,
    },
}

const STREAM: Phase = Phase::Stream { opened: false };
const FIRST_PAGE: Phase = Phase::List { continue_token: None, unlimited: false, refresh: false };
const WATCH: Phase = Phase::Watch { since: None, silent: false, streamed: false };

impl Machine {
    /// Returns the machine in its first round. `preferred` is the preferred encoding.
    pub(super) fn new(backoff: BackoffPolicy, preferred: Encoding) -> Self {
        Self {
            phase: STREAM,
            version: None,
            unavailable: false,
            verify: false,
            deadline: None,
            paginate_lists: false,
            refreshed_at: None,
            outdated: false,
            stream_after: None,
            preferred,
            json_until: None,
            wait: None,
            backoff: Backoff::new(backoff),
            recheck: None,
        }
    }

    /// Returns whether the watch was interrupted or has expired, so that the server may have been restored since.
    pub(super) fn is_interrupted(&self) -> bool {
        self.verify || self.outdated
    }

    /// Returns whether a list at `version` shows that the server was restored: the store had a later version.
    pub(super) fn is_ahead_of(&self, version: &ResourceVersion) -> bool {
        self.version.as_ref().is_some_and(|current| version < current)
    }

    pub(super) fn encoding(&self) -> Encoding {
        if self.json_until.is_some() { Encoding::Json } else { self.preferred }
    }

    fn version(&self) -> ResourceVersion {
        self.version.clone().unwrap_or_default()
    }

    /// Requires the next list to be at least as new as `version`. Does nothing before the first list.
    pub(super) fn require_version(&mut self, version: Option<ResourceVersion>) {
        if let Some(version) = version
            && self.version.as_ref().is_some_and(|current| *current < version)
        {
            self.version = Some(version);
        }
    }

    /// Makes the next request a list of the most recent state, because etcd was restored.
    pub(super) fn relist_after_restore(&mut self) {
        self.unavailable = true;
        self.phase = STREAM;
        self.wait = None;
    }

    /// Makes the next list or stream, if that is the next request, read the most recent state.
    pub(super) fn list_most_recent(&mut self) {
        self.unavailable |= !matches!(self.phase, Phase::Watch { .. });
    }

    /// Returns the next action. `jitter` is a random number in `0.0..1.0`.
    pub(super) fn next(&mut self, now: Instant, jitter: f64) -> Action {
        if let Some(wait) = self.wait.take() {
            return wait;
        }
        if matches!(self.phase, Phase::Stream { .. }) && self.stream_after.is_some_and(|after| now < after) {
            self.phase = FIRST_PAGE;
        }
        // All pages of a list are requested in one encoding.
        if matches!(self.phase, Phase::Stream { .. } | Phase::Watch { .. }) {
            self.json_until.take_if(|until| now >= *until);
        }
        let timeout = Duration::from_secs(MIN_WATCH_TIMEOUT.mul_f64(1.0 + jitter.clamp(0.0, 1.0)).as_secs());
        match &mut self.phase {
            Phase::Stream { opened } => {
                *opened = false;
                self.deadline = Some(now + timeout);
                let version = if self.lists_most_recent() { ResourceVersion::default() } else { self.version() };
                Action::Stream { version, timeout }
            }
            Phase::List { continue_token, unlimited, .. } => {
                let (continue_token, unlimited) = (continue_token.clone(), *unlimited);
                Action::List(self.list_request(continue_token, unlimited))
            }
            Phase::Watch { .. } if self.verify => Action::Verify,
            Phase::Watch { since, silent, streamed } => {
                *since = Some(now);
                *silent = true;
                *streamed = false;
                self.deadline = Some(now + timeout);
                Action::Watch { version: self.version(), timeout }
            }
        }
    }

    /// Processes a result. Returns the cause if a watch is abandoned for a relist.
    pub(super) fn observe(&mut self, observation: Observation, now: Instant, jitter: f64) -> Option<RelistCause> {
        match observation {
            Observation::ResponseStarted(encoding) => {
                if let Phase::Stream { opened } = &mut self.phase {
                    *opened = true;
                }
                if encoding == Encoding::Json {
                    self.request_json(now);
                }
            }
            Observation::Page { continue_token } => {
                // Only the first list is at version 0.
                self.paginate_lists |= self.version.is_none() && !self.unavailable;
                if let Phase::List { continue_token: token, .. } = &mut self.phase {
                    *token = Some(continue_token);
                }
            }
            Observation::Listed { version, held } => {
                // The watch may still fail.
                if matches!(self.phase, Phase::List { refresh: true, .. }) {
                    self.retry(&Failure::ServerError);
                }
                self.synced(version, held, now, jitter);
            }
            Observation::Verified { version } => {
                self.verify = false;
                if self.is_ahead_of(&version) {
                    self.unavailable = true;
                    self.phase = STREAM;
                    return Some(RelistCause::Ahead);
                }
            }
            Observation::ListFailed(failure) => self.list_failed(&failure, now, jitter),
            Observation::Progress { version, added } => self.progress(version, added, now),
            Observation::Ended => return self.ended(now),
            Observation::Failed(failure) => match self.phase {
                Phase::Stream { opened } => self.stream_failed(&failure, opened, now),
                _ => return self.watch_failed(&failure, now, jitter),
            },
        }
        None
    }

    fn lists_most_recent(&self) -> bool {
        self.unavailable || self.is_held()
    }

    fn list_request(&self, continue_token: Option<String>, unlimited: bool) -> ListRequest {
        if continue_token.is_some() {
            // The continue token contains the version; the server rejects another one beside it.
            return ListRequest { version: None, limit: Some(PAGE_SIZE), continue_token };
        }
        let version = match &self.version {
            _ if self.lists_most_recent() => None,
            // Any state is new enough for the first list, and version 0 is served from the watch cache.
            None => Some(ResourceVersion::from(0)),
            Some(version) => Some(version.clone()).filter(|version| !version.is_empty()),
        };
        // With a limit, a version other than 0 would mean exactly this version and be read from etcd.
        let may_paginate = version.as_ref().is_none_or(|version| *version == "0") || self.paginate_lists;
        ListRequest { version, limit: (may_paginate && !unlimited).then_some(PAGE_SIZE), continue_token: None }
    }

    /// Processes a list that is stored. A streaming list continues as a watch.
    fn synced(&mut self, version: ResourceVersion, held: bool, now: Instant, jitter: f64) {
        self.version = Some(version);
        self.unavailable = false;
        self.verify = false;
        if held {
            self.recheck_later(now, jitter);
        } else {
            self.recheck = None;
        }
        self.refreshed_at = Some(now);
        self.phase = Phase::Watch { since: Some(now), silent: true, streamed: true };
    }

    fn progress(&mut self, version: ResourceVersion, added: bool, now: Instant) {
        match &mut self.phase {
            Phase::Watch { silent, .. } => {
                *silent = false;
                self.outdated = false;
                self.refreshed_at = Some(now);
                // A watch without a version starts with the existing objects, in no order (IN-11).
                let unordered =
                    added && self.version.as_ref().is_none_or(|version| version.is_empty() || *version == "0");
                // An event without a version clears `silent` but does not change the version.
                if !unordered && !version.is_empty() {
                    self.version = Some(version);
                }
            }
            // The initial events are not ordered by version, and are not stored before the list is complete.
            Phase::Stream { .. } | Phase::List { .. } => {}
        }
    }
}

#[cfg(test)]
mod tests;
