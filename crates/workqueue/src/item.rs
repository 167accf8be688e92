//! The guard of a key in process.

use std::{fmt, hash::Hash, ops::Deref};

use crate::{
    Queue,
    core::{Index, Taken},
};

/// A key in process, from [`Queue::get`]. Dropping the guard ends the processing, as [`done`](Item::done) does.
#[must_use = "dropping it ends the processing of its key"]
pub struct Item<'a, K> {
    in_process: InProcess<'a, K>,
    key: K,
}

/// The processing of one key; dropping it calls `done`. Separate from the key so that a guard can be taken apart.
struct InProcess<'a, K> {
    /// Borrowed: cloning an `Arc` would cost two atomic operations per key.
    queue: &'a Queue<K>,
    index: Index,
}

impl<'a, K> Item<'a, K> {
    #[inline]
    pub(crate) fn new(queue: &'a Queue<K>, taken: Taken<K>) -> Self {
        let Taken { key, index } = taken;
        Self { in_process: InProcess { queue, index }, key }
    }

    /// Returns the key in process.
    pub fn key(&self) -> &K {
        &self.key
    }

    /// Ends the processing of the key, as dropping does. If the key was added meanwhile, it is queued again.
    #[inline]
    pub fn done(self) {
        drop(self);
    }
}

impl<K: Clone + Eq + Hash + Send + 'static> Item<'_, K> {
    /// Ends the processing and queues the key again after the delay that the queue's
    /// [`RetryLimiter`](crate::RetryLimiter) returns: what a worker does after an error. A queue that was shut down drops the
    /// key, even while it drains.
    pub fn retry(self) {
        let Self { in_process, key } = self;
        in_process.queue.add_rate_limited(key);
    }

    /// Resets the rate limiter's retries of the key, as [`Queue::forget`]: what a worker does after a success.
    pub fn forget(&self) {
        self.in_process.queue.forget(&self.key);
    }
}

impl<K> Deref for Item<'_, K> {
    type Target = K;

    fn deref(&self) -> &K {
        self.key()
    }
}

impl<K> Drop for InProcess<'_, K> {
    #[inline]
    fn drop(&mut self) {
        self.queue.shared.done(self.index);
    }
}

impl<K: fmt::Debug> fmt::Debug for Item<'_, K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Item").field(self.key()).finish()
    }
}
