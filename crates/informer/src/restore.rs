//! Restores of etcd from a backup, and other interruptions, which affect all informers of an API server.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use kube_wire::Resource;
use tokio::{sync::Notify, time::Instant};

/// Signal shared by the informers of one API server: when one detects that etcd was restored from a backup, all relist.
///
/// An informer whose watch was interrupted compares the server's resource version with its own before it resumes. This
/// detects a restore only while the server's version is lower. An informer that compares later, because its first
/// request failed, may find a version that was assigned a second time.
///
/// The signal also tells which stores are *behind*: their watch was interrupted or has expired, or a restore was
/// detected, and since then they have neither listed nor resumed the watch. A program that plans
/// with several stores waits while one of them [is](Self::behind_since), so that it does not combine the state before an
/// outage with the state after it.
///
/// Clones share the state. Pass one to [`Builder::restores`](crate::Builder::restores) of each informer.
#[derive(Clone, Debug, Default)]
pub struct RestoreSignal {
    shared: Arc<Shared>,
}

#[derive(Debug, Default)]
struct Shared {
    state: Mutex<Stores>,
    /// Notified by each restore, and when a store is behind or no longer is. Not a `watch` channel, which wakes its receivers
    /// in random order.
    changed: Notify,
}

/// Stores of the informers, and the restores that one of them has detected.
#[derive(Debug, Default)]
struct Stores {
    /// Number of restores detected.
    detected: u64,
    /// Number of informers so far.
    informers: u64,
    /// Stores that have a list, by informer.
    populated: BTreeMap<u64, Store>,
}

#[derive(Debug)]
struct Store {
    resource: Resource,
    /// Since when it is behind; `None` if it is not.
    behind: Option<Instant>,
}

/// Subscription of one informer to the signal.
#[derive(Debug)]
pub(crate) struct RestoreSubscription {
    signal: RestoreSignal,
    resource: Resource,
    informer: u64,
    seen: u64,
}

impl RestoreSignal {
    /// Returns since when a store of one of these resources is behind, the latest time of several; `None` if none is.
    pub fn behind_since(&self, resources: &[Resource]) -> Option<Instant> {
        self.locked().behind_since(resources)
    }

    /// Waits until [`behind_since`](Self::behind_since) of these resources is another time than `since`, or none.
    pub async fn changed(&self, resources: &[Resource], since: Instant) {
        self.wait_until(|state| state.behind_since(resources) != Some(since)).await;
    }

    pub(crate) fn subscribe(&self, resource: Resource) -> RestoreSubscription {
        let mut state = self.locked();
        state.informers += 1;
        let (informer, seen) = (state.informers, state.detected);
        drop(state);
        RestoreSubscription { signal: self.clone(), resource, informer, seen }
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

impl Stores {
    fn behind_since(&self, resources: &[Resource]) -> Option<Instant> {
        let stores = self.populated.values().filter(|store| resources.contains(&store.resource));
        stores.filter_map(|store| store.behind).max()
    }
}

impl RestoreSubscription {
    /// Makes the other informers relist. Returns `false` if another informer has detected the restore already.
    pub(crate) fn raise(&mut self, now: Instant) -> bool {
        let mut state = self.signal.locked();
        let is_first = self.seen == state.detected;
        if is_first {
            state.detected += 1;
            for store in state.populated.values_mut() {
                store.behind.get_or_insert(now);
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
        if let Some(store) = self.signal.locked().populated.get_mut(&self.informer) {
            store.behind.get_or_insert(now);
        }
        self.signal.shared.changed.notify_waiters();
    }

    /// Records that the store was listed, or that its watch was resumed. Does nothing after a restore that the informer has
    /// not [taken](Self::take).
    pub(crate) fn caught_up(&self) {
        let mut state = self.signal.locked();
        let is_current = self.seen == state.detected;
        let store = state.populated.entry(self.informer).or_insert(Store { resource: self.resource, behind: None });
        if is_current && store.behind.take().is_some() {
            drop(state);
            self.signal.shared.changed.notify_waiters();
        }
    }
}

impl Drop for RestoreSubscription {
    fn drop(&mut self) {
        self.signal.locked().populated.remove(&self.informer);
        self.signal.shared.changed.notify_waiters();
    }
}

#[cfg(test)]
mod tests {
    use std::{pin::pin, time::Duration};

    use futures::FutureExt as _;

    use super::*;

    const PODS: Resource = Resource::namespaced("", "v1", "pods", "Pod");
    const NODES: Resource = Resource::cluster("", "v1", "nodes", "Node");

    #[tokio::test(start_paused = true)]
    async fn restore_is_signalled_once_to_each_other_informer() {
        let (signal, now) = (RestoreSignal::default(), Instant::now());
        let (mut one, mut other) = (signal.subscribe(PODS), signal.clone().subscribe(PODS));
        assert!(!other.take() && other.detected().now_or_never().is_none());
        assert!(one.raise(now));
        assert!(!one.take() && one.detected().now_or_never().is_none());
        assert!(other.detected().now_or_never().is_some());
        assert!(other.take() && !other.take());
        assert!(!signal.subscribe(PODS).take(), "a new informer starts with a list anyway");
    }

    #[tokio::test(start_paused = true)]
    async fn restore_that_two_informers_detect_counts_once() {
        let (signal, now) = (RestoreSignal::default(), Instant::now());
        let (mut one, mut other) = (signal.subscribe(PODS), signal.subscribe(PODS));
        assert!(one.raise(now) && !other.raise(now));
        assert!(!one.take() && !other.take());
        assert!(other.raise(now), "a second restore");
    }

    #[tokio::test(start_paused = true)]
    async fn stores_are_behind_until_they_have_listed() {
        let (signal, now) = (RestoreSignal::default(), Instant::now());
        let (mut one, mut other, empty) = (signal.subscribe(PODS), signal.subscribe(PODS), signal.subscribe(PODS));
        one.caught_up();
        other.caught_up();
        one.interrupted(now);
        assert_eq!(signal.behind_since(&[PODS]), Some(now));
        one.raise(now);
        one.caught_up();
        // The list of the other one was requested before the restore.
        other.caught_up();
        assert_eq!(signal.behind_since(&[PODS]), Some(now));
        assert!(signal.changed(&[PODS], now).now_or_never().is_none());
        assert!(other.take());
        other.caught_up();
        assert_eq!(signal.behind_since(&[PODS]), None);
        assert!(signal.changed(&[PODS], now).now_or_never().is_some());
        drop(empty);
        other.interrupted(now);
        drop(other);
        assert_eq!(signal.behind_since(&[PODS]), None, "an informer that has ended");
    }

    #[tokio::test(start_paused = true)]
    async fn stores_of_other_resources_do_not_count() {
        let (signal, start) = (RestoreSignal::default(), Instant::now());
        let (pods, nodes) = (signal.subscribe(PODS), signal.subscribe(NODES));
        pods.caught_up();
        nodes.caught_up();
        nodes.interrupted(start);
        assert_eq!([&[PODS][..], &[PODS, NODES]].map(|of| signal.behind_since(of)), [None, Some(start)]);
        let mut changed = pin!(signal.changed(&[PODS, NODES], start));
        assert!(changed.as_mut().now_or_never().is_none());
        let later = start + Duration::from_secs(1);
        pods.interrupted(later);
        assert!(changed.now_or_never().is_some(), "the latest of several");
        assert_eq!(signal.behind_since(&[PODS, NODES]), Some(later));
    }
}
