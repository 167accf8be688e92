//! The handle of a queue: its public methods.

use std::{fmt, hash::Hash, sync::Arc, time::Duration};

use educe::Educe;
use tokio::time::Instant;

use crate::{Builder, get::Get, shared::Shared};

/// A keyed work queue. Clones are handles of the same queue.
///
/// - A key is queued at most once, however often it is added.
/// - A key is processed by at most one worker at a time. A key that is added while in process is queued again when its
///   worker is done.
/// - Keys are handed out in the order in which they were queued.
///
/// Methods block only for a short critical section, and no lock is held across an await.
///
/// tokio runs the task that was woken last on the thread that woke it. A producer that adds a key and then blocks its
/// thread, which no task should do, delays the worker that was woken for that key.
#[derive(Educe)]
#[educe(Clone(bound(false)))]
pub struct Queue<K> {
    pub(crate) shared: Arc<Shared<K>>,
}

impl<K: Clone + Eq + Hash + Send + 'static> Queue<K> {
    /// Returns a builder of a queue and its timer, with the default configuration.
    pub fn builder() -> Builder<K> {
        Builder::new()
    }

    /// Queues `key`; if it is in process, once its worker is done. Does nothing if the key is queued already or the
    /// queue is shutting down.
    pub fn add(&self, key: K) {
        self.shared.add(key);
    }

    /// Queues `key` after `delay`; immediately if the delay is zero.
    ///
    /// If the key is delayed already, the earlier deadline counts. [`add`](Self::add) does not cancel a delayed add.
    /// Keys still delayed at shutdown are dropped.
    pub fn add_after(&self, key: K, delay: Duration) {
        self.shared.add_after(key, delay, Duration::ZERO);
    }

    /// Queues `key` after `delay`, or up to a tenth of it later, so that deadlines can coincide.
    ///
    /// The deadline is rounded up to a multiple of `delay / 10` since the queue was built. Thousands of keys with the
    /// same delay then wake the timer and the workers ten times per delay instead of once per key. Use it where the
    /// delay only batches changes. Otherwise like [`add_after`](Self::add_after).
    pub fn add_after_about(&self, key: K, delay: Duration) {
        self.shared.add_after(key, delay, delay / 10);
    }

    /// Queues `key` after the delay that the queue's [`RetryLimiter`](crate::RetryLimiter) returns, and returns that delay. A
    /// key that is delayed already may be queued earlier.
    pub fn add_rate_limited(&self, key: K) -> Duration {
        let now = Instant::now().into_std();
        let delay = self.shared.with_limiter(|limiter| limiter.when(&key, now));
        self.add_after(key, delay);
        delay
    }

    /// Resets the rate limiter's retries of `key`. Queued and delayed adds of the key are not affected.
    pub fn forget(&self, key: &K) {
        self.shared.with_limiter(|limiter| limiter.forget(key));
    }

    /// Returns the number of rate-limited adds of `key` since it was last forgotten: in a worker that retries each failure,
    /// the failed attempts so far, so 0 in the first attempt.
    pub fn num_requeues(&self, key: &K) -> u32 {
        self.shared.with_limiter(|limiter| limiter.requeues(key))
    }

    /// Waits for a key and returns it in a guard; `None` once the queue is shut down and empty.
    ///
    /// The key is in process until the [`Item`](crate::Item) is dropped, also by a panic.
    ///
    /// Cancel safe: a dropped call has taken no key, and its wake-up is passed on to another waiting call. With delayed
    /// keys and without a running [`Timer`](crate::Timer), it requires a tokio runtime with time enabled.
    #[inline]
    pub fn get(&self) -> Get<'_, K> {
        Get::new(self)
    }
}

impl<K> Queue<K> {
    /// Returns the number of queued keys. Keys in process and delayed keys do not count.
    pub fn len(&self) -> usize {
        self.shared.len()
    }

    /// Returns whether no key is queued.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the number of delayed keys, those that wait for a retry included. A delayed key that is also queued or in
    /// process counts.
    pub fn delayed(&self) -> usize {
        self.shared.delayed()
    }

    /// Returns the number of keys that are queued, delayed or in process. Each counts once, also while it changes from one of
    /// these states to another: at 0, no key of an earlier add is left.
    pub fn pending(&self) -> usize {
        self.shared.pending()
    }

    /// Returns whether the queue was shut down; queued keys may still be handed out.
    pub fn is_shutting_down(&self) -> bool {
        self.shared.is_shutting_down()
    }

    /// Shuts the queue down: later adds are ignored and delayed keys dropped. Queued keys are still handed out; after
    /// them, [`get`](Queue::get) returns `None`. The [`Timer`](crate::Timer) ends. The queue is drained when the workers have
    /// ended, with keys that were added again while in process. Failures during a drain are final:
    /// [`Item::retry`](crate::Item::retry) drops the key.
    pub fn shut_down(&self) {
        self.shared.shut_down();
    }
}

impl<K> fmt::Debug for Queue<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Queue").field("len", &self.len()).field("delayed", &self.delayed()).finish_non_exhaustive()
    }
}
