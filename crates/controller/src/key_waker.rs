//! What handlers of events wake keys with.

use std::hash::Hash;
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

use kube_workqueue::Queue;
use tokio::time::Instant;

use crate::damping::Damping;
use crate::{Propagation, locked};

/// Wakes keys of one controller: follows the change that did it, then queues the key, in that order, so that the sync of
/// the key finds its cause. Clones wake the same keys.
#[derive(Debug)]
pub struct KeyWaker<K, C> {
    queue: Queue<K>,
    propagation: Propagation<K, C>,
    damping: Arc<Mutex<Damping<K>>>,
}

impl<K, C> Clone for KeyWaker<K, C> {
    fn clone(&self) -> Self {
        KeyWaker {
            queue: self.queue.clone(),
            propagation: self.propagation.clone(),
            damping: Arc::clone(&self.damping),
        }
    }
}

impl<K: Clone + Eq + Hash + Send + 'static, C: Copy + Eq + Into<&'static str>> KeyWaker<K, C> {
    /// Fills `queue`, and tells `propagation`, the one that syncs [take](Propagation::take) their turns from.
    pub fn new(queue: Queue<K>, propagation: Propagation<K, C>) -> Self {
        KeyWaker { queue, propagation, damping: Arc::default() }
    }

    /// A change wakes a key. `change` says what it was and when it was made, or was at the earliest, if that is known;
    /// or nothing, if it is no news. It is not asked where nothing is measured.
    pub fn wake<W: Into<(C, Option<SystemTime>)>>(&self, key: K, change: impl FnOnce() -> Option<W>) {
        self.propagation.woken(&key, change);
        self.queue.add(key);
    }

    /// The same, to be synced when `delay` has passed or up to a tenth of it later, together with
    /// [other keys](Queue::add_after_about).
    pub fn wake_after<W: Into<(C, Option<SystemTime>)>>(
        &self,
        key: K,
        delay: Duration,
        change: impl FnOnce() -> Option<W>,
    ) {
        self.propagation.woken(&key, change);
        self.queue.add_after_about(key, delay);
    }

    /// Queues a key whose written state another client has changed or deleted.
    ///
    /// Queued as by [`wake_after`](Self::wake_after) the first five times. The delay of each further one doubles, from 1 s to
    /// 30 s, so that two clients that undo each other's writes do not do so at full speed. The count starts anew after a minute
    /// without such changes.
    pub fn wake_undone<W: Into<(C, Option<SystemTime>)>>(
        &self,
        key: K,
        delay: Duration,
        change: impl FnOnce() -> Option<W>,
    ) {
        let delay = locked(&self.damping).delay(key.clone(), delay, Instant::now());
        self.wake_after(key, delay, change);
    }

    /// Queues a second sync of a key after a successful one.
    ///
    /// Its delay is `delay`, or for a [contested](Self::wake_undone) key the longer one that the next change by another client
    /// would cause.
    pub fn wake_again(&self, key: K, delay: Duration) {
        let delay = locked(&self.damping).next(&key, delay, Instant::now());
        self.queue.add_after_about(key, delay);
    }

    /// A key goes on at once: what it waited for is there.
    pub fn resume(&self, key: K) {
        self.queue.add(key);
    }
}
