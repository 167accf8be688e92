//! The interface through which handlers add keys to the queue of a controller.

use std::hash::Hash;
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use kube_workqueue::Queue;
use tokio::time::Instant;

use crate::damping::Damping;
use crate::locked;
use crate::observer::Observer;

/// Adds keys to the queue of a controller. Clones add to the same queue.
///
/// Handlers get one from [`ControllerBuilder::watch`](crate::ControllerBuilder::watch), other parts of a controller
/// from [`ControllerBuilder::enqueuer`](crate::ControllerBuilder::enqueuer).
pub struct Enqueuer<K> {
    queue: Queue<K>,
    damping: Arc<Mutex<Damping<K>>>,
    on_change: Arc<OnceLock<OnChange<K>>>,
    /// Observer and source name of measured adds; `None` disables measurement.
    measured: Option<(Observer<K>, &'static str)>,
}

/// Function that gets each key that a change enqueues.
type OnChange<K> = Box<dyn Fn(&K) + Send + Sync>;

impl<K> Clone for Enqueuer<K> {
    fn clone(&self) -> Self {
        Enqueuer {
            queue: self.queue.clone(),
            damping: Arc::clone(&self.damping),
            on_change: Arc::clone(&self.on_change),
            measured: self.measured.clone(),
        }
    }
}

impl<K> std::fmt::Debug for Enqueuer<K> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Enqueuer").finish_non_exhaustive()
    }
}

impl<K: Clone + Eq + Hash + Send + 'static> Enqueuer<K> {
    /// Returns an enqueuer whose adds are not measured.
    pub(crate) fn new(queue: Queue<K>) -> Self {
        Enqueuer { queue, damping: Arc::default(), on_change: Arc::default(), measured: None }
    }

    /// Returns an enqueuer of the same queue whose adds are measured as events of `source`.
    pub(crate) fn measured(&self, observer: &Observer<K>, source: &'static str) -> Self {
        Enqueuer { measured: Some((observer.clone(), source)), ..self.clone() }
    }

    /// Adds a key without delay.
    pub fn add(&self, key: K) {
        self.observe(&key);
        self.queue.add(key);
    }

    /// Adds a key after `delay`, or up to a tenth of it later to share a timer with other keys; see
    /// [`Queue::add_after_about`].
    pub fn add_after(&self, key: K, delay: Duration) {
        self.observe(&key);
        self.queue.add_after_about(key, delay);
    }

    /// Adds a key because another client changed or deleted an object that this controller wrote.
    ///
    /// The first five calls for a key behave as [`add_after`](Self::add_after). Then the delay doubles with each call,
    /// from 1 s to 30 s, but is at least `delay`: otherwise two clients that undo each other's writes would do so at
    /// full speed. Calls before the delay of the previous one has passed are not counted. The count is reset one minute
    /// after the last delay.
    pub fn add_contested(&self, key: K, delay: Duration) {
        let delay = locked(&self.damping).record_change(key.clone(), delay, Instant::now());
        self.add_after(key, delay);
    }

    /// Adds a key for a second sync after a successful one. Its propagation latency is not measured.
    ///
    /// The delay is `delay`, or for a [contested](Self::is_contested) key that of the next
    /// [`add_contested`](Self::add_contested) if it is longer.
    pub fn add_again(&self, key: K, delay: Duration) {
        let delay = locked(&self.damping).next_delay(&key, delay, Instant::now());
        self.queue.add_after_about(key, delay);
    }

    /// Returns whether another client contests the key: one minute has not passed since the delay of its last
    /// [`add_contested`](Self::add_contested) ended.
    ///
    /// The cache may be stale then: the garbage collector deletes objects whose owner is deleted, while the cache still
    /// contains the owner. A sync should read the owner from the API server before it creates such objects again.
    pub fn is_contested(&self, key: &K) -> bool {
        locked(&self.damping).is_contested(key, Instant::now())
    }

    /// Sets the function of [`Controller::on_change`](crate::Controller::on_change), once.
    pub(crate) fn on_change(&self, observe: impl Fn(&K) + Send + Sync + 'static) {
        let _ = self.on_change.set(Box::new(observe));
    }

    fn observe(&self, key: &K) {
        if let Some((observer, source)) = &self.measured {
            observer.queued(key, source);
            if let Some(observe) = self.on_change.get() {
                observe(key);
            }
        }
    }
}
