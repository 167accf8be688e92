//! The handle of a queue: its public methods.

use std::{
    fmt,
    future::Future,
    hash::Hash,
    pin::Pin,
    task::{Context, Poll},
    time::Duration,
};

use tokio::time::Instant;

use crate::{
    Builder, Lane,
    get::{Get, GetKey, NextKey},
    shared::Shared,
    sync::Arc,
    waiters::Place,
};

/// A keyed work queue. Clones are handles of the same queue.
///
/// - A key is queued at most once, however often it is added.
/// - A key is processed by at most one worker at a time. A key that is added while in process is queued again when its
///   worker is done.
/// - Keys are handed out in the order in which they were queued (within a [lane](crate::Lanes)).
///
/// Methods block only for a short critical section, and no lock is held across an await. At most once in 16 keys,
/// a worker that finds none yields its thread to the others of the machine before it goes to sleep.
///
/// tokio runs the task that was woken last on the thread that woke it. A producer that adds a key and then blocks its
/// thread, which no task should do, delays the worker that was woken for that key.
pub struct Queue<K> {
    pub(crate) shared: Arc<Shared<K>>,
}

impl<K: Clone + Eq + Hash + Send + 'static> Queue<K> {
    /// Returns a builder with the default configuration.
    pub fn builder() -> Builder<K> {
        Builder::new()
    }

    /// Queues `key`. Does nothing if the key is queued already or the queue is shutting down.
    pub fn add(&self, key: K) {
        self.shared.add(key, self.usual_lane());
    }

    /// Queues `key` after `delay`; immediately if the delay is zero.
    ///
    /// If the key is delayed already, the earlier deadline counts. [`add`](Self::add) does not cancel a delayed add.
    /// Keys still delayed at shutdown are dropped.
    pub fn add_after(&self, key: K, delay: Duration) {
        self.shared.add_after(key, delay, Duration::ZERO, self.usual_lane());
    }

    /// Queues `key` after `delay`, or up to a tenth of it later, so that deadlines can coincide.
    ///
    /// The deadline is rounded up to a multiple of `delay / 10` since the queue was built. Thousands of keys with the
    /// same delay then wake the timer and the workers ten times per delay instead of once per key. Use it where the
    /// delay only batches changes. Otherwise like [`add_after`](Self::add_after).
    pub fn add_after_about(&self, key: K, delay: Duration) {
        self.shared.add_after(key, delay, delay / 10, self.usual_lane());
    }

    /// Queues `key` after the delay that the queue's [`RateLimiter`](crate::RateLimiter) returns.
    pub fn add_rate_limited(&self, key: K) {
        self.lane(self.shared.lanes.usual_lane()).add_rate_limited(key);
    }

    /// Returns a view of this queue whose adds go to `lane`.
    pub fn lane(&self, lane: Lane) -> InLane<'_, K> {
        InLane { queue: self, lane: self.shared.lanes.clamp(lane) }
    }

    /// Resets the rate limiter's retries of `key`. Queued and delayed adds of the key are not affected.
    pub fn forget(&self, key: &K) {
        self.shared.with_limiter(|limiter| limiter.forget(key));
    }

    /// Returns the number of rate-limited adds of `key` since it was last forgotten.
    pub fn num_requeues(&self, key: &K) -> u32 {
        self.shared.with_limiter(|limiter| limiter.requeues(key))
    }

    /// Waits for a key and returns it in a guard; `None` once the queue is shut down and empty.
    ///
    /// The key is in process until the [`Item`](crate::Item) is dropped, also by a panic.
    ///
    /// Cancel safe: a dropped call has taken no key, and its wake-up is passed on to another waiting call.
    #[inline]
    pub fn get(&self) -> Get<'_, K> {
        Get { next: NextKey::new(self) }
    }

    /// Waits for a key and returns it without a guard; `None` once the queue is shut down and empty.
    ///
    /// The caller must call [`done`](Queue::done) with the key after processing it, also if processing failed.
    #[inline]
    pub fn get_key(&self) -> GetKey<'_, K> {
        GetKey { next: NextKey::new(self) }
    }

    /// Ends the processing of a key from [`get_key`](Queue::get_key). If the key was added meanwhile, it is queued
    /// again. Does nothing if the key is not in process.
    pub fn done(&self, key: &K) {
        self.shared.done_key(key);
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

    /// Returns the number of delayed keys.
    pub fn waiting(&self) -> usize {
        self.shared.waiting()
    }

    /// Returns whether the queue was shut down.
    pub fn is_shutting_down(&self) -> bool {
        self.shared.is_shutting_down()
    }

    /// Shuts the queue down: later adds are ignored and delayed keys dropped. Queued keys are still handed out; after
    /// them, [`get`](Queue::get) returns `None`. The [`Timer`](crate::Timer) ends.
    ///
    /// Also completes every pending [`shut_down_with_drain`](Queue::shut_down_with_drain).
    pub fn shut_down(&self) {
        self.shared.shut_down(false);
    }

    /// Shuts the queue down like [`shut_down`](Queue::shut_down), then waits until every queued key has been processed,
    /// keys that were added again while in process included. Workers must keep calling `get` until it returns `None`.
    ///
    /// The shutdown happens in the call, not at the first poll. Dropping the future only ends the wait.
    pub fn shut_down_with_drain(&self) -> Drain<'_, K> {
        self.shared.shut_down(true);
        Drain { queue: self, place: None }
    }

    fn usual_lane(&self) -> u8 {
        self.shared.lanes.clamp(self.shared.lanes.usual_lane())
    }
}

impl<K> Clone for Queue<K> {
    fn clone(&self) -> Self {
        Self { shared: Arc::clone(&self.shared) }
    }
}

impl<K> fmt::Debug for Queue<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Queue").field("len", &self.len()).field("waiting", &self.waiting()).finish_non_exhaustive()
    }
}

/// A view of a queue whose adds go to one lane; from [`Queue::lane`].
///
/// A key that is added to two lanes is queued in the more urgent one.
#[derive(Debug)]
pub struct InLane<'a, K> {
    queue: &'a Queue<K>,
    lane: u8,
}

impl<K: Clone + Eq + Hash + Send + 'static> InLane<'_, K> {
    /// Queues `key` in this lane; see [`Queue::add`].
    pub fn add(&self, key: K) {
        self.queue.shared.add(key, self.lane);
    }

    /// Queues `key` in this lane after `delay`; see [`Queue::add_after`].
    pub fn add_after(&self, key: K, delay: Duration) {
        self.queue.shared.add_after(key, delay, Duration::ZERO, self.lane);
    }

    /// Queues `key` in this lane after the rate limiter's delay; see [`Queue::add_rate_limited`].
    pub fn add_rate_limited(&self, key: K) {
        let now = Instant::now().into_std();
        let delay = self.queue.shared.with_limiter(|limiter| limiter.when(&key, now));
        self.add_after(key, delay);
    }
}

/// Future that completes when the queue is drained; returned by [`Queue::shut_down_with_drain`].
#[derive(Debug)]
#[must_use = "the shutdown has begun, but nothing waits for its end"]
pub struct Drain<'a, K> {
    queue: &'a Queue<K>,
    place: Option<Place>,
}

impl<K> Future for Drain<'_, K> {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let queue = self.queue;
        queue.shared.poll_drained(&mut self.place, cx)
    }
}

impl<K> Drop for Drain<'_, K> {
    fn drop(&mut self) {
        if self.place.is_some() {
            self.queue.shared.cancel_drain(&mut self.place);
        }
    }
}
