//! What to ask the server next, given what happened so far. No I/O, no clock, no randomness of its own.

use std::time::Duration;

use kube_ambient::{Defect, has};
use kube_controller_client::MAX_RETRY_AFTER;
use kube_wire::{Encoding, ResourceVersion};
use tokio::time::Instant;

use super::{
    backoff::{Backoff, BackoffPolicy},
    negotiation::Negotiation,
};
use crate::RelistCause;

/// Objects per page where the server reads its pages from etcd.
const PAGE: u32 = 500;
/// Watches end after this long, and at random up to twice that, so that they do not all end together.
const WATCH_AT_LEAST: Duration = Duration::from_secs(300);
/// A watch that ends sooner than this without a word counts as trouble.
const VERY_SHORT: Duration = Duration::from_secs(1);

/// What to do next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Next {
    /// Nothing for a while; then ask again.
    Wait(Duration),
    /// Open a watch that first brings all objects, at least as new as `version`.
    Stream { version: ResourceVersion, timeout: Duration },
    /// Request a list, or its next page.
    List(ListRequest),
    /// Request the version that the server is at.
    Verify,
    /// Open a watch after `version`.
    Watch { version: ResourceVersion, timeout: Duration },
}

/// One list request.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct ListRequest {
    /// `None`: the most recent state. `0`: any. Otherwise: at least as new.
    pub(super) version: Option<ResourceVersion>,
    pub(super) limit: Option<u32>,
    /// `Some` for all pages but the first.
    pub(super) page: Option<String>,
}

/// What came of the last request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Happened {
    /// The server answers, in this encoding.
    Answered(Encoding),
    /// A page of the list came, and there are more.
    Page { next: String },
    /// The list is complete and stored.
    Listed { version: ResourceVersion },
    /// The list failed.
    ListFailed(Failure),
    /// The server is at this version.
    Verified { version: ResourceVersion },
    /// All objects of the stream came and are stored. It goes on as a watch.
    Synced { version: ResourceVersion },
    /// The watch, or the stream, brought an event or a bookmark.
    Progress { version: ResourceVersion, added: bool },
    /// The watch, or the stream, ended or broke; what it brought is good.
    Ended,
    /// The watch, or the stream, was refused or ended with an error.
    Failed(Failure),
}

/// Why a request failed, as far as it matters for the next one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Failure {
    /// The version or page asked for is no longer in the server's history.
    Expired,
    /// The server is behind the version asked for: it was restored, or is another replica.
    Ahead,
    /// The server asks for patience.
    Busy { retry_after: Option<Duration> },
    /// No connection, or it was lost.
    Unreachable,
    /// The server does not have the encoding asked for.
    NotAcceptable,
    /// What came cannot be read in the encoding it came in.
    Unreadable,
    /// Nothing failed: this program asked for a list.
    ListRequested(RelistCause),
    /// Anything else.
    Other,
}

/// Decides, as client-go's reflector does (IN-1 to IN-12).
///
/// A round is a stream, or a list where that does not work, and then watches until one fails for good.
#[derive(Debug)]
pub(super) struct Machine {
    phase: Phase,
    /// The version up to which the store is good; `None` before the first list.
    version: Option<ResourceVersion>,
    /// The server said that it does not have `version` (any more, or yet): ask for the most recent state instead.
    unavailable: bool,
    /// The server was away: check that it still has the history that the watch goes on from. A store that was restored from a
    /// backup is behind it, and a watch from the future is silent.
    verify: bool,
    /// When the watch that was asked for last is to end.
    deadline: Option<Instant>,
    /// The server cut a list from "any version" into pages: it has no watch cache, and whole lists would be hard on it.
    pages_all: bool,
    /// The encoding to ask for.
    encoding: Negotiation,
    /// To be waited before the next request.
    wait: Option<Duration>,
    backoff: Backoff,
}

/// A watch that ends this long before its timeout was cut. Servers end one a little early at most.
const EARLY: Duration = Duration::from_secs(5);

#[derive(Debug)]
enum Phase {
    Stream {
        since: Option<Instant>,
        silent: bool,
    },
    List {
        /// The page to ask for.
        page: Option<String>,
        /// Without pages, because a page expired while the list was read.
        whole: bool,
    },
    Watch {
        since: Option<Instant>,
        silent: bool,
    },
}

const STREAM: Phase = Phase::Stream { since: None, silent: true };
const FIRST_PAGE: Phase = Phase::List { page: None, whole: false };

impl Machine {
    /// `accept` is the encoding to ask for where it works.
    pub(super) fn new(backoff: BackoffPolicy, accept: Encoding) -> Self {
        let (version, unavailable, verify, deadline, pages_all, wait) = (None, false, false, None, false, None);
        let (encoding, backoff) = (Negotiation::new(accept), Backoff::new(backoff));
        Self { phase: STREAM, version, unavailable, verify, deadline, pages_all, encoding, wait, backoff }
    }

    /// The encoding to ask for.
    pub(super) fn accept(&self) -> Encoding {
        self.encoding.accept()
    }

    /// The version up to which the store is good; empty before the first list.
    pub(super) fn version(&self) -> ResourceVersion {
        self.version.clone().unwrap_or_default()
    }

    /// Lets the next list be as new as `version`.
    pub(super) fn at_least(&mut self, version: Option<ResourceVersion>) {
        if let Some(version) = version
            && self.version.as_ref().is_some_and(|known| *known < version)
        {
            self.version = Some(version);
        }
    }

    /// Lets the next list be one of the most recent state, because the store of the server was restored.
    pub(super) fn restored(&mut self) {
        self.unavailable = true;
        self.phase = STREAM;
    }

    /// Lets the next list or stream, if that is the next request, be one of the most recent state.
    pub(super) fn list_most_recent(&mut self) {
        self.unavailable |= !matches!(self.phase, Phase::Watch { .. });
    }

    /// What to do now. `jitter` is drawn from `0.0..1.0`.
    pub(super) fn next(&mut self, now: Instant, jitter: f64) -> Next {
        if let Some(wait) = self.wait.take() {
            return Next::Wait(wait);
        }
        // Not between the pages of a list.
        if matches!(self.phase, Phase::Stream { .. } | Phase::Watch { .. }) {
            self.encoding.retry(now);
        }
        let timeout = Duration::from_secs(WATCH_AT_LEAST.mul_f64(1.0 + jitter.clamp(0.0, 1.0)).as_secs());
        match &mut self.phase {
            Phase::Stream { since, silent } => {
                (*since, *silent) = (Some(now), true);
                self.deadline = Some(now + timeout);
                let version = if self.unavailable { ResourceVersion::default() } else { self.version() };
                Next::Stream { version, timeout }
            }
            Phase::List { page, whole } => {
                let (page, whole) = (page.clone(), *whole);
                Next::List(self.list_request(page, whole))
            }
            Phase::Watch { .. } if self.verify && !has(Defect::WatchNotVerified) => Next::Verify,
            Phase::Watch { since, silent } => {
                (*since, *silent) = (Some(now), true);
                self.deadline = Some(now + timeout);
                Next::Watch { version: self.version(), timeout }
            }
        }
    }

    /// Takes note of what happened. Says why, if a watch is given up for a list.
    pub(super) fn happened(&mut self, what: Happened, now: Instant, jitter: f64) -> Option<RelistCause> {
        match what {
            Happened::Answered(encoding) => {
                if encoding == Encoding::Json {
                    self.encoding.fall_back(now);
                }
            }
            Happened::Page { next } => {
                // Only the first list asks for any version.
                self.pages_all |= self.version.is_none() && !self.unavailable;
                self.phase = Phase::List { page: Some(next), whole: false };
            }
            Happened::Listed { version } => self.synced(version, None),
            Happened::Synced { version } => {
                let since = if let Phase::Stream { since, .. } = self.phase { since } else { None };
                self.synced(version, since);
            }
            Happened::Verified { version } => {
                self.verify = false;
                if self.version.as_ref().is_some_and(|known| version < *known) {
                    self.unavailable = true;
                    self.phase = STREAM;
                    return Some(RelistCause::Ahead);
                }
            }
            Happened::ListFailed(failure) => self.list_failed(&failure, now, jitter),
            Happened::Progress { version, added } => self.progress(version, added),
            Happened::Ended => return self.ended(now, jitter),
            Happened::Failed(failure) => match self.phase {
                Phase::Stream { .. } => self.stream_failed(&failure, now, jitter),
                _ => return self.watch_failed(&failure, now, jitter),
            },
        }
        None
    }

    fn list_request(&self, page: Option<String>, whole: bool) -> ListRequest {
        if page.is_some() {
            // The token says where the list is; a version beside it would be refused.
            return ListRequest { version: None, limit: Some(PAGE), page };
        }
        let version = match &self.version {
            _ if self.unavailable => None,
            // Any state will do to begin with: served from the watch cache.
            None => Some(ResourceVersion::from(0)),
            Some(version) => Some(version.clone()).filter(|version| !version.is_empty()),
        };
        // With a limit, a version other than 0 would mean "exactly this one" and be read from etcd.
        let cheap = version.as_ref().is_none_or(|version| *version == "0") || self.pages_all;
        ListRequest { version, limit: (cheap && !whole).then_some(PAGE), page: None }
    }

    fn synced(&mut self, version: ResourceVersion, since: Option<Instant>) {
        self.version = Some(version);
        self.unavailable = false;
        self.verify = false;
        self.phase = Phase::Watch { since, silent: false };
    }

    fn progress(&mut self, version: ResourceVersion, added: bool) {
        match &mut self.phase {
            // Until the stream is complete its events are in no order of versions, and nothing of it is stored.
            Phase::Stream { silent, .. } => *silent = false,
            Phase::Watch { silent, .. } => {
                *silent = false;
                // A watch from no version begins with what there is, in no order (IN-11).
                let unordered =
                    added && self.version.as_ref().is_none_or(|version| version.is_empty() || *version == "0");
                // An event without a version is an event all the same.
                if !unordered && !version.is_empty() {
                    self.version = Some(version);
                }
            }
            Phase::List { .. } => {}
        }
    }

    fn list_failed(&mut self, failure: &Failure, now: Instant, jitter: f64) {
        let page_asked = matches!(self.phase, Phase::List { page: Some(_), .. });
        self.phase = FIRST_PAGE;
        match failure {
            Failure::Expired if page_asked => self.phase = Phase::List { page: None, whole: true },
            Failure::Expired | Failure::Ahead if !self.unavailable => self.unavailable = true,
            _ if self.other_encoding(failure, now) && *failure == Failure::NotAcceptable => {}
            _ => {
                self.phase = STREAM;
                self.back_off(failure, now, jitter);
            }
        }
    }

    fn ended(&mut self, now: Instant, jitter: f64) -> Option<RelistCause> {
        let (Phase::Stream { since, silent } | Phase::Watch { since, silent }) = self.phase else { return None };
        let very_short = silent && since.is_some_and(|since| now.saturating_duration_since(since) < VERY_SHORT);
        match self.phase {
            // The server may not know streams.
            Phase::Stream { .. } if very_short => self.phase = FIRST_PAGE,
            // From the beginning, but not at once: whatever cut it may do so again.
            Phase::Stream { .. } => self.back_off(&Failure::Other, now, jitter),
            // Something cuts our watches. A list per backoff at least keeps the store fresh.
            _ if very_short => {
                self.phase = STREAM;
                self.back_off(&Failure::Other, now, jitter);
                return Some(RelistCause::Short);
            }
            // The server or the connection ended it. If the store is restored in between, no request fails.
            _ => self.verify |= self.deadline.is_some_and(|deadline| now + EARLY < deadline),
        }
        None
    }

    fn stream_failed(&mut self, failure: &Failure, now: Instant, jitter: f64) {
        match failure {
            Failure::Busy { .. } | Failure::Unreachable => self.back_off(failure, now, jitter),
            Failure::Expired | Failure::Ahead if !self.unavailable => self.unavailable = true,
            _ if self.other_encoding(failure, now) => {}
            _ => self.phase = FIRST_PAGE,
        }
    }

    fn watch_failed(&mut self, failure: &Failure, now: Instant, jitter: f64) -> Option<RelistCause> {
        let cause = match failure {
            Failure::NotAcceptable if self.other_encoding(failure, now) => return None,
            // Nothing is known to be missing: go on from where we were.
            Failure::Busy { .. } | Failure::Unreachable => None,
            Failure::Expired => Some(RelistCause::Expired),
            Failure::ListRequested(cause) => {
                self.phase = STREAM;
                return Some(*cause);
            }
            Failure::Ahead => {
                self.unavailable = true;
                Some(RelistCause::Ahead)
            }
            Failure::NotAcceptable | Failure::Unreadable | Failure::Other => {
                self.other_encoding(failure, now);
                Some(RelistCause::Failed)
            }
        };
        if cause.is_some() {
            self.phase = STREAM;
        }
        self.verify |= *failure == Failure::Unreachable;
        self.back_off(failure, now, jitter);
        cause
    }

    /// Returns whether JSON may help, and asks for it from now on.
    fn other_encoding(&mut self, failure: &Failure, now: Instant) -> bool {
        matches!(failure, Failure::NotAcceptable | Failure::Unreadable) && self.encoding.fall_back(now)
    }

    fn back_off(&mut self, failure: &Failure, now: Instant, jitter: f64) {
        let wait = self.backoff.next(now, jitter);
        self.wait = Some(match failure {
            Failure::Busy { retry_after: Some(asked) } if has(Defect::LongRetryAfter) => *asked,
            Failure::Busy { retry_after: Some(asked) } => wait.max((*asked).min(MAX_RETRY_AFTER)),
            _ => wait,
        });
    }
}

#[cfg(test)]
#[path = "machine_tests.rs"]
mod tests;
