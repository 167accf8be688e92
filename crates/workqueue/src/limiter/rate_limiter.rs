//! The trait of rate limiters.

use std::time::{Duration, Instant};

/// Policy of the delay before a key is retried; client-go's `TypedRateLimiter`.
pub trait RateLimiter<K>: Send {
    /// Returns the delay of `key` from `now` on, and counts one more retry of it.
    fn when(&mut self, key: &K, now: Instant) -> Duration;

    /// Resets the retries of `key`, after it succeeded or was given up.
    fn forget(&mut self, key: &K);

    /// Returns the number of calls of [`when`](RateLimiter::when) for `key` since the last
    /// [`forget`](RateLimiter::forget).
    fn requeues(&self, key: &K) -> u32;
}

impl<K, L: RateLimiter<K> + ?Sized> RateLimiter<K> for Box<L> {
    fn when(&mut self, key: &K, now: Instant) -> Duration {
        (**self).when(key, now)
    }

    fn forget(&mut self, key: &K) {
        (**self).forget(key);
    }

    fn requeues(&self, key: &K) -> u32 {
        (**self).requeues(key)
    }
}
