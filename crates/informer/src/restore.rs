//! Restores of etcd from a backup, and other interruptions, which affect all informers of an API server.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use tokio::{sync::Notify, time::Instant};

/// Signal shared by the informers of one API server: when one detects that etcd was restored from a backup, all relist.
///
/// An informer whose watch was interrupted compares the server's resource version with its own before it resumes. This
/// detects a restore only while the server's version is lower. An informer that compares later, because its first
/// request failed, may find a version that was assigned a second time.
///
/// The signal also tells which stores are *behind*: their watch was interrupted or has expired, or a restore was
/// detected, and since then they have neither listed nor resumed the watch. A program that plans
/// with several stores awaits [`settled`](Self::settled), so that it does not combine the state before an outage with the
/// state after it.
///
/// Clones share the state. Pass one to [`Builder::restores`](crate::Builder::restores) of each informer.
#[derive(Clone, Debug, Default)]
pub struct RestoreSignal {
    shared: Arc<Shared>,
}

#[derive(Debug, Default)]
struct Shared {
    state: Mutex<Stores>,
    /// Notified by each restore, and when no store is behind any more. Not a `watch` channel, which wakes its receivers in
    /// random order.
    changed: Notify,
}

/// Stores of the informers, and the restores that one of them has detected.
#[derive(Debug, Default)]
struct Stores {
    /// Number of restores detected.
    detected: u64,
    /// Number of informers so far.
    informers: u64,
    /// Informers whose first list is stored.
    populated: BTreeSet<u64>,
    /// Informers whose store is behind, and since when.
    behind: BTreeMap<u64, Instant>,
}

/// Subscription of one informer to the signal.
#[derive(Debug)]
pub(crate) struct RestoreSubscription {
    signal: RestoreSignal,
    informer: u64,
    seen: u64,
}

impl RestoreSignal {
    /// Returns since when a store is behind; `None` if none is.
    pub fn behind_since(&self) -> Option<Instant> {
        self.locked().behind.values().min().copied()
    }

    /// Returns a future that ends as soon as no store is behind.
    pub fn settled(&self) -> impl Future<Output = ()> + Send + use<> {
        let signal = self.clone();
        async move { signal.wait_until(|state| state.behind.is_empty()).await }
    }

    pub(crate) fn subscribe(&self) -> RestoreSubscription {
        let mut state = self.locked();
        state.informers += 1;
        let (informer, seen) = (state.informers, state.detected);
        drop(state);
        RestoreSubscription { signal: self.clone(), informer, seen }
    }

    async fn wait_until(&self, reached: impl Fn(&Stores) -> bool + Send) {
        loop {
            let changed = self.shared.changed.notified();
            if reached(&self.locked()) {
                return;
            }
            changed.await;
        }
    }

    fn locked(&self) -> MutexGuard<'_, Stores> {
        self.shared.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl RestoreSubscription {
    /// Makes the other informers relist. Returns `false` if another informer has detected the restore already.
    pub(crate) fn raise(&mut self, now: Instant) -> bool {
        let mut state = self.signal.locked();
        let is_first = self.seen == state.detected;
        if is_first {
            state.detected += 1;
            let Stores { populated, behind, .. } = &mut *state;
            for informer in populated.iter() {
                behind.entry(*informer).or_insert(now);
            }
        }
        self.seen = state.detected;
        drop(state);
        self.signal.shared.changed.notify_waiters();
        is_first
    }

    /// Returns whether another informer has detected a restore since the last call.
    pub(crate) fn take(&mut self) -> bool {
        let detected = self.signal.locked().detected;
        std::mem::replace(&mut self.seen, detected) != detected
    }

    pub(crate) async fn detected(&self) {
        self.signal.wait_until(|state| state.detected != self.seen).await;
    }

    /// Records that the watch of the informer was interrupted or has expired.
    pub(crate) fn interrupted(&self, now: Instant) {
        self.signal.locked().behind.entry(self.informer).or_insert(now);
    }

    /// Records that the store was listed, or that its watch was resumed. Does nothing after a restore that the informer has
    /// not [taken](Self::take).
    pub(crate) fn caught_up(&self) {
        let mut state = self.signal.locked();
        state.populated.insert(self.informer);
        if self.seen == state.detected && state.behind.remove(&self.informer).is_some() {
            drop(state);
            self.signal.shared.changed.notify_waiters();
        }
    }
}

impl Drop for RestoreSubscription {
    fn drop(&mut self) {
        let mut state = self.signal.locked();
        state.populated.remove(&self.informer);
        if state.behind.remove(&self.informer).is_some() {
            drop(state);
            self.signal.shared.changed.notify_waiters();
        }
    }
}

#[cfg(test)]
mod tests {
    use futures::FutureExt as _;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn restore_is_signalled_once_to_each_other_informer() {
        let (signal, now) = (RestoreSignal::default(), Instant::now());
        let (mut one, mut other) = (signal.subscribe(), signal.clone().subscribe());
        assert!(!other.take() && other.detected().now_or_never().is_none());
        assert!(one.raise(now));
        assert!(!one.take() && one.detected().now_or_never().is_none());
        assert!(other.detected().now_or_never().is_some());
        assert!(other.take() && !other.take());
        assert!(!signal.subscribe().take(), "a new informer starts with a list anyway");
    }

    #[tokio::test(start_paused = true)]
    async fn restore_that_two_informers_detect_counts_once() {
        let (signal, now) = (RestoreSignal::default(), Instant::now());
        let (mut one, mut other) = (signal.subscribe(), signal.subscribe());
        assert!(one.raise(now) && !other.raise(now));
        assert!(!one.take() && !other.take());
        assert!(other.raise(now), "a second restore");
    }

    #[tokio::test(start_paused = true)]
    async fn stores_are_behind_until_they_have_listed() {
        let (signal, now) = (RestoreSignal::default(), Instant::now());
        let (mut one, mut other, empty) = (signal.subscribe(), signal.subscribe(), signal.subscribe());
        one.caught_up();
        other.caught_up();
        one.interrupted(now);
        let settled = signal.settled();
        assert_eq!(signal.behind_since(), Some(now));
        one.raise(now);
        one.caught_up();
        // The list of the other one was requested before the restore.
        other.caught_up();
        assert_eq!(signal.behind_since(), Some(now));
        assert!(other.take());
        other.caught_up();
        assert_eq!(signal.behind_since(), None);
        assert!(settled.now_or_never().is_some());
        drop(empty);
        other.interrupted(now);
        drop(other);
        assert_eq!(signal.behind_since(), None, "an informer that has ended");
    }
}
