//! The queue as its users see it.

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
/// - A key that is queued is in the queue once, however often it is added.
/// - A key is with one worker at a time. Added while it is being processed, it is queued once more when that is done.
/// - Keys are handed out in the order in which they were queued (within a [lane](crate::Lanes)).
///
/// No method blocks but for the short critical section, and no lock is held across an await. At most once in 16 keys,
/// a worker that finds none yields its thread to the others of the machine before it goes to sleep.
///
/// tokio keeps the task that was woken last for the thread that woke it. A producer that adds keys and then blocks its
/// thread, which no task should, may hold up the worker that was woken for the last of them.
pub struct Queue<K> {
    pub(crate) shared: Arc<Shared<K>>,
}

impl<K: Clone + Eq + Hash + Send + 'static> Queue<K> {
    /// Configures a queue.
    pub fn builder() -> Builder<K> {
        Builder::new()
    }

    /// Queues a key. Nothing happens if it is queued already, or if the queue is shutting down.
    pub fn add(&self, key: K) {
        self.shared.add(key, self.usual_lane());
    }

    /// Queues a key when `delay` has passed; at once if it is zero.
    ///
    /// If the key waits already, the earlier of the two deadlines counts. Adding the key at once does not call the
    /// delayed add off. What still waits when the queue is shut down is forgotten.
    pub fn add_after(&self, key: K, delay: Duration) {
        self.shared.add_after(key, delay, Duration::ZERO, self.usual_lane());
    }

    /// Queues a key when `delay` has passed, or up to a tenth of it later, together with other keys.
    ///
    /// For delays that only gather changes. Deadlines are moved to the next of the instants that lie a tenth of the delay
    /// apart since the queue was built, so that thousands of keys with one delay wake their workers ten times in that
    /// delay, and not each for itself. Otherwise like [`add_after`](Self::add_after).
    pub fn add_after_about(&self, key: K, delay: Duration) {
        self.shared.add_after(key, delay, delay / 10, self.usual_lane());
    }

    /// Queues a key after the delay that the limiter asks for; see [`RateLimiter`](crate::RateLimiter).
    pub fn add_rate_limited(&self, key: K) {
        self.lane(self.shared.lanes.usual_lane()).add_rate_limited(key);
    }

    /// The same queue, adding to another lane.
    pub fn lane(&self, lane: Lane) -> InLane<'_, K> {
        InLane { queue: self, lane: self.shared.lanes.clamp(lane) }
    }

    /// Tells the limiter that a key is well again, so that its next retry is a first one. Queued or delayed adds of it
    /// are left alone.
    pub fn forget(&self, key: &K) {
        self.shared.with_limiter(|limiter| limiter.forget(key));
    }

    /// How many times the key was added rate limited since it was last forgotten.
    pub fn num_requeues(&self, key: &K) -> u32 {
        self.shared.with_limiter(|limiter| limiter.requeues(key))
    }

    /// Waits for a key and hands it out, or `None` once the queue is shut down and empty.
    ///
    /// The key is being processed until the [`Item`](crate::Item) is dropped, be it by a panic.
    ///
    /// Cancel safe: a call that is dropped has taken no key, and if it was about to be given one, another call gets it.
    #[inline]
    pub fn get(&self) -> Get<'_, K> {
        Get { next: NextKey::new(self) }
    }

    /// [`get`](Queue::get) without a guard: the caller must call [`done`](Queue::done) with the key when it is
    /// processed, whatever came of it.
    #[inline]
    pub fn get_key(&self) -> GetKey<'_, K> {
        GetKey { next: NextKey::new(self) }
    }

    /// Ends the processing of a key from [`get_key`](Queue::get_key). If it was added meanwhile, it is queued now.
    /// Nothing happens if the key is not being processed.
    pub fn done(&self, key: &K) {
        self.shared.done_key(key);
    }
}

impl<K> Queue<K> {
    /// The number of queued keys. Those being processed and those delayed do not count.
    pub fn len(&self) -> usize {
        self.shared.len()
    }

    /// Whether no key is queued.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The number of keys that wait for their delay to pass.
    pub fn waiting(&self) -> usize {
        self.shared.waiting()
    }

    /// Whether the queue refuses keys because it was shut down.
    pub fn is_shutting_down(&self) -> bool {
        self.shared.is_shutting_down()
    }

    /// Refuses keys from now on. Those queued are still handed out, those delayed are forgotten; workers that ask for
    /// more are told that there is none, and the timer ends.
    ///
    /// Releases whoever waits in [`shut_down_with_drain`](Queue::shut_down_with_drain).
    pub fn shut_down(&self) {
        self.shared.shut_down(false);
    }

    /// Like [`shut_down`](Queue::shut_down), and waits until every queued key has been handed out and processed,
    /// including those that were added again while being processed. It needs workers that go on until `get` says
    /// `None`.
    ///
    /// The shutdown begins with the call, not with the first poll; dropping the future only ends the waiting.
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

/// A queue seen through one of its lanes, from [`Queue::lane`]: what is added here is as urgent as the lane.
///
/// A key that is queued in two lanes, or waits for two, counts in the more urgent one.
#[derive(Debug)]
pub struct InLane<'a, K> {
    queue: &'a Queue<K>,
    lane: u8,
}

impl<K: Clone + Eq + Hash + Send + 'static> InLane<'_, K> {
    /// See [`Queue::add`].
    pub fn add(&self, key: K) {
        self.queue.shared.add(key, self.lane);
    }

    /// See [`Queue::add_after`].
    pub fn add_after(&self, key: K, delay: Duration) {
        self.queue.shared.add_after(key, delay, Duration::ZERO, self.lane);
    }

    /// See [`Queue::add_rate_limited`].
    pub fn add_rate_limited(&self, key: K) {
        let now = Instant::now().into_std();
        let delay = self.queue.shared.with_limiter(|limiter| limiter.when(&key, now));
        self.add_after(key, delay);
    }
}

/// Waits until the queue is drained; see [`Queue::shut_down_with_drain`].
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
