//! Adding keys to the queue of a controller.

use std::hash::Hash;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use kube_workqueue::Queue;
use tokio::time::Instant;

use crate::damping::Damping;
use crate::locked;
use crate::observer::Observer;

/// Adds keys to the queue of a controller. Clones add to the same queue.
///
/// Handlers get one from [`ControllerBuilder::watch`](crate::ControllerBuilder::watch), other parts of a controller from
/// [`ControllerBuilder::enqueuer`](crate::ControllerBuilder::enqueuer).
pub struct Enqueuer<K> {
    queue: Queue<K>,
    damping: Arc<Mutex<Damping<K>>>,
    /// The observer and the name of the events that are measured; `None` for events that are no changes.
    measured: Option<(Observer<K>, &'static str)>,
}

impl<K> Clone for Enqueuer<K> {
    fn clone(&self) -> Self {
        Enqueuer { queue: self.queue.clone(), damping: Arc::clone(&self.damping), measured: self.measured.clone() }
    }
}

impl<K> std::fmt::Debug for Enqueuer<K> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Enqueuer").finish_non_exhaustive()
    }
}

impl<K: Clone + Eq + Hash + Send + 'static> Enqueuer<K> {
    /// Returns an enqueuer for a queue that belongs to no [`Controller`](crate::Controller). Its adds are not measured.
    pub fn new(queue: Queue<K>) -> Self {
        Enqueuer { queue, damping: Arc::default(), measured: None }
    }

    /// Returns an enqueuer to the same queue whose adds count as events of `source`.
    pub(crate) fn measured(&self, observer: &Observer<K>, source: &'static str) -> Self {
        Enqueuer { measured: Some((observer.clone(), source)), ..self.clone() }
    }

    /// Adds a key.
    pub fn add(&self, key: K) {
        self.observe(&key);
        self.queue.add(key);
    }

    /// Adds a key after `delay` or up to a tenth of it later, together with [other keys](Queue::add_after_about).
    pub fn add_after(&self, key: K, delay: Duration) {
        self.observe(&key);
        self.queue.add_after_about(key, delay);
    }

    /// Adds a key whose written state another client changed or deleted.
    ///
    /// Added as by [`add_after`](Self::add_after) the first five times. The delay of each further one doubles, from 1 s to
    /// 30 s, so that two clients that undo each other's writes do not do so at full speed. The count starts anew after a minute
    /// without such changes.
    pub fn add_contested(&self, key: K, delay: Duration) {
        let delay = locked(&self.damping).delay(key.clone(), delay, Instant::now());
        self.add_after(key, delay);
    }

    /// Adds a key for a second sync after a successful one.
    ///
    /// Its delay is `delay`, or for a [contested](Self::add_contested) key the longer one that the next change by another client
    /// would cause.
    pub fn add_again(&self, key: K, delay: Duration) {
        let delay = locked(&self.damping).next(&key, delay, Instant::now());
        self.queue.add_after_about(key, delay);
    }

    /// Returns whether a key was added by [`add_contested`](Self::add_contested) within the last minute.
    ///
    /// Its cache may be stale then: the garbage collector deletes objects whose owner the cache still shows. A sync should verify
    /// the owner before it creates such objects again.
    pub fn is_contested(&self, key: &K) -> bool {
        locked(&self.damping).is_contested(key, Instant::now())
    }

    fn observe(&self, key: &K) {
        if let Some((observer, source)) = &self.measured {
            observer.queued(key, source);
        }
    }
}
