//! The trait of rate limiters.

use std::time::{Duration, Instant};

/// Policy of the delay before a key is retried; client-go's `TypedRateLimiter`.
///
/// A queue calls it only for [`add_rate_limited`](crate::Queue::add_rate_limited) and [`Item::retry`](crate::Item::retry): it
/// limits neither other adds nor [the rate of processing](crate::TokenBucket#limit-of-the-processing-rate).
///
/// ```
/// use std::time::Duration;
///
/// use kube_workqueue::{ItemExponential, RateLimiter};
/// use tokio::time::Instant;
///
/// let mut limiter = ItemExponential::new(Duration::from_millis(50), Duration::from_secs(60));
/// let now = Instant::now().into_std();
/// assert_eq!(limiter.when(&"router-1", now), Duration::from_millis(50));
/// assert_eq!(limiter.when(&"router-1", now), Duration::from_millis(100));
/// assert_eq!(limiter.requeues(&"router-1"), 2);
/// ```
pub trait RateLimiter<K>: Send {
    /// Returns the delay of `key` from `now` on, and counts one more retry of it.
    ///
    /// The queue passes the time of tokio's clock, which a test can pause; other callers get it with
    /// `tokio::time::Instant::now().into_std()`.
    fn when(&mut self, key: &K, now: Instant) -> Duration;

    /// Resets the retries of `key`, after it succeeded or was given up.
    fn forget(&mut self, key: &K);

    /// Returns the number of calls of [`when`](RateLimiter::when) for `key` since the last
    /// [`forget`](RateLimiter::forget).
    fn requeues(&self, key: &K) -> u32;
}
