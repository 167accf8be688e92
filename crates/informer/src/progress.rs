//! Time since a cache last advanced.

use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use tokio::time::Instant;

/// Time at which the store of an informer last advanced: by a list, an event or a bookmark.
///
/// API servers send a bookmark about once a minute on every watch. A cache that has not advanced for some minutes is
/// therefore stale, even if no object changes. client-go has no counterpart.
///
/// Clones share the state.
#[derive(Debug, Clone, Default)]
pub struct Progress(Arc<Mutex<Times>>);

#[derive(Debug, Default)]
struct Times {
    /// When the informer was started; `None` before.
    started: Option<Instant>,
    last: Option<Instant>,
    /// Since when a list is held; `None` if none is.
    held: Option<Instant>,
}

/// State of the cache of one informer at one time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CacheState {
    /// [`Informer::run`](crate::Informer::run) has not been called.
    NotStarted,
    /// The first list is not stored yet.
    Syncing {
        /// Time since the informer was started.
        since: Duration,
    },
    /// The first list is stored.
    Synced {
        /// Time since the last list, event or bookmark was stored.
        idle: Duration,
    },
    /// A list is held because it lacks objects that exist; see [`Guard`](crate::Guard).
    Held {
        /// Time since the first list was held.
        since: Duration,
        /// Time since the last list, event or bookmark was stored.
        idle: Duration,
    },
}

impl Progress {
    /// Returns whether both are of the same informer.
    pub fn is_same(&self, other: &Progress) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    pub(crate) fn start(&self, now: Instant) {
        self.locked().started.get_or_insert(now);
    }

    pub(crate) fn listed(&self, now: Instant) {
        self.locked().last = Some(now);
    }

    /// Records that the last list is held. Returns whether none was before.
    pub(crate) fn held(&self, now: Instant) -> bool {
        let held = &mut self.locked().held;
        let is_first = held.is_none();
        held.get_or_insert(now);
        is_first
    }

    pub(crate) fn believed(&self) {
        self.locked().held = None;
    }

    /// Records that an event or a bookmark was stored. Does nothing before the first list.
    pub(crate) fn advanced(&self, now: Instant) {
        if let Some(last) = &mut self.locked().last {
            *last = now;
        }
    }

    /// Returns the state of the cache at `now`.
    pub fn at(&self, now: Instant) -> CacheState {
        let state = self.locked();
        let to_now = |time| now.saturating_duration_since(time);
        match (state.started, state.last, state.held) {
            (_, Some(last), None) => CacheState::Synced { idle: to_now(last) },
            (_, Some(last), Some(held)) => CacheState::Held { since: to_now(held), idle: to_now(last) },
            (Some(started), None, _) => CacheState::Syncing { since: to_now(started) },
            (None, None, _) => CacheState::NotStarted,
        }
    }

    fn locked(&self) -> MutexGuard<'_, Times> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn idle_since_the_last_list_event_or_bookmark() {
        let (progress, now) = (Progress::default(), Instant::now());
        let after = |seconds| now + Duration::from_secs(seconds);
        let seconds = Duration::from_secs;
        progress.advanced(now);
        assert_eq!(progress.at(after(1)), CacheState::NotStarted);
        progress.start(after(2));
        progress.start(after(3));
        progress.advanced(after(4));
        assert_eq!(progress.at(after(5)), CacheState::Syncing { since: seconds(3) });
        progress.listed(after(6));
        assert_eq!(progress.at(after(9)), CacheState::Synced { idle: seconds(3) });
        progress.advanced(after(10));
        assert_eq!(progress.at(after(12)), CacheState::Synced { idle: seconds(2) });
        assert_eq!(progress.at(now), CacheState::Synced { idle: Duration::ZERO }, "a time before the last event");
        assert!(progress.held(after(20)));
        assert!(!progress.held(after(50)));
        progress.listed(after(50));
        assert_eq!(progress.at(after(55)), CacheState::Held { since: seconds(35), idle: seconds(5) });
        progress.believed();
        progress.listed(after(60));
        assert_eq!(progress.at(after(61)), CacheState::Synced { idle: seconds(1) });
    }
}
