//! What to ask the server next, given what happened so far. No I/O, no clock, no randomness of its own.

use std::time::Duration;

use tokio::time::Instant;

use super::backoff::{Backoff, BackoffPolicy};

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
    /// Request a list, or its next page.
    List(ListRequest),
    /// Open a watch.
    Watch { version: String, timeout: Duration },
}

/// One list request.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct ListRequest {
    /// `None`: the most recent state. `0`: any. Otherwise: at least as new.
    pub(super) version: Option<String>,
    pub(super) limit: Option<u32>,
    /// `Some` for all pages but the first.
    pub(super) page: Option<String>,
}

/// What came of the last request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Happened {
    /// A page of the list came, and there are more.
    Page { next: String },
    /// The list is complete and stored.
    Listed { version: String },
    /// The list failed.
    ListFailed(Failure),
    /// The watch brought an event or a bookmark.
    Progress { version: String },
    /// The watch ended or broke; what it brought is good.
    WatchEnded,
    /// The watch was refused, or ended with an error.
    WatchFailed(Failure),
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
    /// Anything else, such as an answer that cannot be decoded.
    Other,
}

/// Decides, as client-go's reflector does.
#[derive(Debug)]
pub(super) struct Machine {
    phase: Phase,
    /// The version up to which the store is good; `None` before the first list.
    version: Option<String>,
    /// The server said that it does not have `version` (any more, or yet): ask for the most recent state instead.
    unavailable: bool,
    /// To be waited before the next request.
    wait: Option<Duration>,
    backoff: Backoff,
}

#[derive(Debug)]
enum Phase {
    List {
        /// The page to ask for.
        page: Option<String>,
        /// Without pages, because a page expired while the list was read.
        whole: bool,
    },
    Watch {
        since: Instant,
        silent: bool,
    },
}

const FIRST_PAGE: Phase = Phase::List { page: None, whole: false };

impl Machine {
    pub(super) fn new(backoff: BackoffPolicy) -> Self {
        let backoff = Backoff::new(backoff);
        Self { phase: FIRST_PAGE, version: None, unavailable: false, wait: None, backoff }
    }

    /// What to do now. `jitter` is drawn from `0.0..1.0`.
    pub(super) fn next(&mut self, now: Instant, jitter: f64) -> Next {
        if let Some(wait) = self.wait.take() {
            return Next::Wait(wait);
        }
        match &mut self.phase {
            Phase::List { page, whole } => {
                let (page, whole) = (page.clone(), *whole);
                Next::List(self.list_request(page, whole))
            }
            Phase::Watch { since, silent } => {
                (*since, *silent) = (now, true);
                let seconds = WATCH_AT_LEAST.mul_f64(1.0 + jitter.clamp(0.0, 1.0)).as_secs();
                let timeout = Duration::from_secs(seconds);
                Next::Watch { version: self.version.clone().unwrap_or_default(), timeout }
            }
        }
    }

    /// Takes note of what happened.
    pub(super) fn happened(&mut self, what: Happened, now: Instant, jitter: f64) {
        match what {
            Happened::Page { next } => self.phase = Phase::List { page: Some(next), whole: false },
            Happened::Listed { version } => {
                self.version = Some(version);
                self.unavailable = false;
                self.phase = Phase::Watch { since: now, silent: true };
            }
            Happened::ListFailed(failure) => self.list_failed(&failure, now, jitter),
            Happened::Progress { version } => {
                // An event without a version is an event all the same.
                if !version.is_empty() {
                    self.version = Some(version);
                }
                if let Phase::Watch { silent, .. } = &mut self.phase {
                    *silent = false;
                }
            }
            Happened::WatchEnded => self.watch_ended(now, jitter),
            Happened::WatchFailed(failure) => self.watch_failed(&failure, now, jitter),
        }
    }

    fn list_request(&self, page: Option<String>, whole: bool) -> ListRequest {
        if page.is_some() {
            // The token says where the list is; a version beside it would be refused.
            return ListRequest { version: None, limit: Some(PAGE), page };
        }
        let version = match &self.version {
            _ if self.unavailable => None,
            // Any state will do to begin with: served from the watch cache.
            None => Some("0".to_owned()),
            Some(version) => Some(version.clone()).filter(|version| !version.is_empty()),
        };
        // With a limit, a version other than 0 would mean "exactly this one" and be read from etcd.
        let paged = !whole && version.as_deref().is_none_or(|version| version == "0");
        ListRequest { version, limit: paged.then_some(PAGE), page: None }
    }

    fn list_failed(&mut self, failure: &Failure, now: Instant, jitter: f64) {
        let page_asked = matches!(self.phase, Phase::List { page: Some(_), .. });
        self.phase = FIRST_PAGE;
        match failure {
            Failure::Expired if page_asked => self.phase = Phase::List { page: None, whole: true },
            Failure::Expired | Failure::Ahead if !self.unavailable => self.unavailable = true,
            _ => self.back_off(failure, now, jitter),
        }
    }

    fn watch_ended(&mut self, now: Instant, jitter: f64) {
        if let Phase::Watch { since, silent: true } = self.phase
            && now.saturating_duration_since(since) < VERY_SHORT
        {
            // Something cuts our watches. A list per backoff at least keeps the store fresh.
            self.phase = FIRST_PAGE;
            self.back_off(&Failure::Other, now, jitter);
        }
    }

    fn watch_failed(&mut self, failure: &Failure, now: Instant, jitter: f64) {
        match failure {
            // Nothing is known to be missing: go on from where we were.
            Failure::Busy { .. } | Failure::Unreachable => {}
            Failure::Ahead => (self.phase, self.unavailable) = (FIRST_PAGE, true),
            Failure::Expired | Failure::Other => self.phase = FIRST_PAGE,
        }
        self.back_off(failure, now, jitter);
    }

    fn back_off(&mut self, failure: &Failure, now: Instant, jitter: f64) {
        let wait = self.backoff.next(now, jitter);
        self.wait = Some(match failure {
            Failure::Busy { retry_after: Some(asked) } => wait.max(*asked),
            _ => wait,
        });
    }
}

#[cfg(test)]
#[path = "machine_tests.rs"]
mod tests;
