//! The handle of a queue: its public methods.

use std::{borrow::Borrow, fmt, hash::Hash, time::Duration};

use tokio::time::Instant;

use crate::{
    Builder, Delayed,
    get::Get,
    idle::{Drain, Idle, Settled},
    shared::Shared,
    sync::Arc,
};

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

    /// Queues `key` as [`add`](Self::add) does, but makes a `K` of it only if the queue does not hold the key already.
    ///
    /// Saves an allocation per event where most events are of keys that are queued, as `&str` for `Arc<str>`.
    pub fn add_ref<Q: Hash + Eq + ?Sized>(&self, key: &Q)
    where
        K: Borrow<Q> + for<'q> From<&'q Q>,
    {
        self.shared.add_borrowed(key);
    }

    /// Queues `key` after `delay`; immediately if the delay is zero.
    ///
    /// If the key is delayed already, the earlier deadline counts. [`add`](Self::add) does not cancel a delayed add.
    /// Keys still delayed at shutdown are dropped, unless [`drain`](Self::drain) queues them.
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

    /// Queues `key` once `quiet` has passed without another call for it, and at the latest `longest` after the first
    /// call (trailing debounce); immediately if either is zero.
    ///
    /// Of different `longest` the earliest end counts. A deadline of [`add_after`](Self::add_after) for the same key, or of a
    /// retry, is not postponed: the earlier of the deadlines counts.
    ///
    /// # Changes of failing keys
    ///
    /// A back-off is a deadline like others, so that a change can end it early, as upstream with `Add` and `AddAfter`: the key is
    /// processed at the end of `quiet`, and a further failure still doubles the next back-off. The workers of `kube-controller` do not
    /// count such a failure. If a failing key is to be left
    /// alone, its worker can put it back until the back-off ends; producers then need no check:
    ///
    /// ```
    /// use std::collections::HashMap;
    /// use std::sync::{Arc, Mutex};
    /// use std::time::Duration;
    ///
    /// use kube_workqueue::{ItemExponential, Queue, RateLimiter};
    /// use tokio::time::Instant;
    ///
    /// struct BackOff {
    ///     limiter: ItemExponential<String>,
    ///     /// Ends of the delays of failing devices.
    ///     until: HashMap<String, Instant>,
    /// }
    ///
    /// async fn work(queue: Queue<String>, back_off: Arc<Mutex<BackOff>>) {
    ///     while let Some(device) = queue.get().await {
    ///         let until = back_off.lock().unwrap().until.get(&*device).copied();
    ///         let early = until.map_or(Duration::ZERO, |until| until.saturating_duration_since(Instant::now()));
    ///         if !early.is_zero() {
    ///             queue.add_after(device.clone(), early);
    ///             continue;
    ///         }
    ///         let succeeded = configure(&device).await;
    ///         let mut back_off = back_off.lock().unwrap();
    ///         if succeeded {
    ///             back_off.limiter.forget(&device);
    ///             back_off.until.remove(&*device);
    ///         } else {
    ///             let now = Instant::now();
    ///             let delay = back_off.limiter.when(&device, now.into_std());
    ///             back_off.until.insert(device.clone(), now + delay);
    ///             queue.add_after(device.clone(), delay);
    ///         }
    ///     }
    /// }
    /// # static ATTEMPTS: Mutex<Vec<Instant>> = Mutex::new(Vec::new());
    /// # async fn configure(_device: &str) -> bool {
    /// #     ATTEMPTS.lock().unwrap().push(Instant::now());
    /// #     false
    /// # }
    /// # #[tokio::main(flavor = "current_thread", start_paused = true)]
    /// # async fn main() {
    /// # let (queue, timer) = Queue::builder().build();
    /// # let limiter = ItemExponential::new(Duration::from_millis(50), Duration::from_secs(60));
    /// # let back_off = Arc::new(Mutex::new(BackOff { limiter, until: HashMap::new() }));
    /// # let mut tasks = tokio::task::JoinSet::new();
    /// # tasks.spawn(timer.run());
    /// # tasks.spawn(work(queue.clone(), back_off));
    /// # for _ in 0..200 {
    /// #     queue.add_debounced("router-1".to_owned(), Duration::from_millis(20), Duration::from_millis(40));
    /// #     tokio::time::sleep(Duration::from_millis(10)).await;
    /// # }
    /// # let attempts = ATTEMPTS.lock().unwrap().clone();
    /// # let gaps: Vec<_> = attempts.windows(2).map(|it| (it[1] - it[0]).as_millis()).collect();
    /// # assert_eq!(gaps, [50, 100, 200, 400, 800]);
    /// # }
    /// ```
    pub fn add_debounced(&self, key: K, quiet: Duration, longest: Duration) {
        self.shared.add_debounced(key, quiet, longest);
    }

    /// Cancels the delayed add of `key`, that of a retry included; returns whether there was one. A key that is queued or in
    /// process stays so.
    ///
    /// The rate limiter keeps its retries; see [`forget`](Self::forget).
    pub fn cancel_delay<Q: Hash + Eq + ?Sized>(&self, key: &Q) -> bool
    where
        K: Borrow<Q>,
    {
        self.shared.cancel(key)
    }

    /// Queues `key` after the delay that the queue's [`RateLimiter`](crate::RateLimiter) returns, and returns that delay. A
    /// key that is delayed already may be queued earlier.
    pub fn add_rate_limited(&self, key: K) -> Duration {
        let now = Instant::now().into_std();
        let delay = self.shared.with_limiter(|limiter| limiter.when(&key, now));
        self.add_after(key, delay);
        delay
    }

    /// Resets the rate limiter's retries of `key`. Queued and delayed adds of the key are not affected.
    ///
    /// It takes no borrowed form of the key, unlike [`cancel_delay`](Self::cancel_delay): the limiter is a trait object, whose
    /// methods cannot be generic. For a queue of `String`s that is `queue.forget(&"router-1".to_owned())`; an
    /// [`Item`](crate::Item) dereferences to its key.
    pub fn forget(&self, key: &K) {
        self.shared.with_limiter(|limiter| limiter.forget(key));
    }

    /// Returns the number of rate-limited adds of `key` since it was last forgotten: in a worker that retries each failure,
    /// the failed attempts so far, so 0 in the first attempt. Always 0 if the limiter counts none, as a
    /// [`BucketLimiter`](crate::BucketLimiter) alone; of several limiters ([`MaxOf`](crate::MaxOf)), the largest number.
    ///
    /// It takes no borrowed form of the key, see [`forget`](Self::forget).
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

    /// Returns whether the queue was shut down; queued keys may still be handed out.
    pub fn is_shutting_down(&self) -> bool {
        self.shared.is_shutting_down()
    }

    /// Waits until no key is queued or in process, which may be so at once. Delayed keys do not count.
    ///
    /// To act between two rounds of work. Keys may be added again before the caller continues. With retries and other delayed
    /// keys, [`settled`](Self::settled) waits for these too.
    pub fn idle(&self) -> Idle<'_, K> {
        Idle::new(self)
    }

    /// Waits until no key is queued, in process or delayed, which may be so at once: all work that was added is done.
    ///
    /// For tests and batch programs. The three are compared under one lock, so a key that fires, or that
    /// [`Item::retry`](crate::Item::retry) delays, is not missed, as it can be between [`idle`](Self::idle) and
    /// [`delayed`](Self::delayed). A worker that drops its [`Item`](crate::Item) before it adds the key again leaves a gap,
    /// in which the queue is settled.
    pub fn settled(&self) -> Settled<'_, K> {
        Settled::new(self)
    }

    /// Shuts the queue down: later adds are ignored and delayed keys dropped. Queued keys are still handed out; after
    /// them, [`get`](Queue::get) returns `None`. The [`Timer`](crate::Timer) ends.
    ///
    /// Also completes every pending [`drain`](Queue::drain).
    pub fn shut_down(&self) {
        self.shared.shut_down(false, Delayed::Drop);
    }

    /// Shuts the queue down like [`shut_down`](Queue::shut_down), then waits until every queued key has been processed,
    /// keys that were added again while in process included. Workers must keep calling `get` until it returns `None`.
    ///
    /// The same as [`drain`](Queue::drain) with [`Delayed::Drop`].
    pub fn shut_down_with_drain(&self) -> Drain<'_, K> {
        self.drain(Delayed::Drop)
    }

    /// Shuts the queue down, queues or drops the delayed keys, and waits until every queued key has been processed.
    ///
    /// Failures during a drain are final: [`Item::retry`](crate::Item::retry) drops the key.
    ///
    /// The shutdown happens in the call, not at the first poll. Dropping the future only ends the wait.
    pub fn drain(&self, delayed: Delayed) -> Drain<'_, K> {
        self.shared.shut_down(true, delayed);
        Drain::new(self)
    }
}

impl<K> Clone for Queue<K> {
    fn clone(&self) -> Self {
        Self { shared: Arc::clone(&self.shared) }
    }
}

impl<K> fmt::Debug for Queue<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Queue").field("len", &self.len()).field("delayed", &self.delayed()).finish_non_exhaustive()
    }
}
