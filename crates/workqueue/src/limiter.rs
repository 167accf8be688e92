//! Rate limiters: the delay before the next retry of a key.
//!
//! Limiters read no clock: the caller passes `now`. Each can be used without a queue.

mod bucket;
mod combine;
mod exponential;
mod tries;

use std::{
    hash::Hash,
    time::{Duration, Instant},
};

pub use self::{
    bucket::{BucketLimiter, FOREVER, TokenBucket},
    combine::MaxOf,
    exponential::ItemExponential,
};

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

/// Returns client-go's default limiter, the longer of two delays: per key 5 ms, doubling up to 1,000 s; for all keys
/// together, a token bucket of 10 per second with a burst of 100.
pub fn default_controller_limiter<K: Clone + Eq + Hash + Send + 'static>() -> MaxOf<K> {
    controller_limiter(Duration::from_millis(5))
}

/// Returns the limiter of the EndpointSlice controllers of Kubernetes: [`default_controller_limiter`] with a first
/// delay of 1 s instead of 5 ms.
pub fn endpoint_slice_limiter<K: Clone + Eq + Hash + Send + 'static>() -> MaxOf<K> {
    controller_limiter(Duration::from_secs(1))
}

/// Cap of the per-key delay of both limiters.
const LONGEST: Duration = Duration::from_secs(1_000);

fn controller_limiter<K: Clone + Eq + Hash + Send + 'static>(base: Duration) -> MaxOf<K> {
    MaxOf::new().and(ItemExponential::new(base, LONGEST)).and(BucketLimiter::new(10.0, 100))
}
