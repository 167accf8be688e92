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

    /// Someone else undid what was written for a key. The same as [`wake_after`](Self::wake_after) the first five times.
    ///
    /// Each further one waits twice as long as the one before, from a second to half a minute, and longer than `delay` alone
    /// only by that: two writers that undo each other's writes would otherwise do so without end, as fast as the API server
    /// lets them. A minute without such changes gives the key its five times back.
    pub fn wake_undone<W: Into<(C, Option<SystemTime>)>>(
        &self,
        key: K,
        delay: Duration,
        change: impl FnOnce() -> Option<W>,
    ) {
        let delay = locked(&self.damping).delay(key.clone(), delay, Instant::now());
        self.wake_after(key, delay, change);
    }

    /// Returns when a key that was just synced may be synced again for no other reason: after `delay`, and for a key that
    /// [others contest](Self::wake_undone) not before it would be if they undid this sync, too.
    pub fn again_after(&self, key: &K, delay: Duration) -> Duration {
        locked(&self.damping).next(key, delay, Instant::now())
    }

    /// A key goes on at once: what it waited for is there.
    pub fn resume(&self, key: K) {
        self.queue.add(key);
    }
}
