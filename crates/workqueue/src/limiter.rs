//! Rate limiters: the delay before the next retry of a key.
//!
//! Limiters read no clock: the caller passes `now`. Each can be used without a queue.

mod bucket;

use std::{
    hash::Hash,
    time::{Duration, Instant},
};

use hashbrown::HashMap;

pub use self::bucket::{FOREVER, TokenBucket};

/// Rate limiter of retries: per key `base`, doubling with each retry, at most `cap`, and if it is longer, the delay of a
/// [`TokenBucket`] for the retries of all keys together.
///
/// It is client-go's `TypedItemExponentialFailureRateLimiter`, and with a bucket the `TypedMaxOfRateLimiter` of both. A queue
/// calls it only for [`add_rate_limited`](crate::Queue::add_rate_limited) and [`Item::retry`](crate::Item::retry): it limits
/// neither other adds nor [the rate of processing](crate::TokenBucket#limit-of-the-processing-rate).
///
/// ```
/// use std::time::Duration;
///
/// use kube_workqueue::RetryLimiter;
/// use tokio::time::Instant;
///
/// let mut limiter = RetryLimiter::new(Duration::from_millis(50), Duration::from_secs(60));
/// let now = Instant::now().into_std();
/// assert_eq!(limiter.when(&"router-1", now), Duration::from_millis(50));
/// assert_eq!(limiter.when(&"router-1", now), Duration::from_millis(100));
/// assert_eq!(limiter.requeues(&"router-1"), 2);
/// ```
#[derive(Debug, Clone)]
pub struct RetryLimiter<K> {
    base: Duration,
    cap: Duration,
    bucket: Option<TokenBucket>,
    /// Retries of each key since it was last forgotten. A key without retries takes no memory.
    failures: HashMap<K, u32>,
}

impl<K> RetryLimiter<K> {
    /// Creates a limiter without a bucket, with a first delay of `base` and a longest delay of `cap`.
    pub fn new(base: Duration, cap: Duration) -> Self {
        Self { base, cap, bucket: None, failures: HashMap::new() }
    }

    /// Sets the bucket that limits the retries of all keys together.
    #[must_use]
    pub fn with_bucket(self, bucket: TokenBucket) -> Self {
        Self { bucket: Some(bucket), ..self }
    }

    /// Returns the delay after `failures` earlier retries. A delay that overflows an `i64` of nanoseconds is the cap,
    /// as in client-go.
    fn after(&self, failures: u32) -> Duration {
        let nanos = self.base.as_nanos().saturating_mul(1 << failures.min(63));
        i64::try_from(nanos).map_or(self.cap, |nanos| Duration::from_nanos(nanos.unsigned_abs()).min(self.cap))
    }
}

impl<K: Clone + Eq + Hash> RetryLimiter<K> {
    /// Returns the delay of `key` from `now` on, and counts one more retry of it.
    ///
    /// The queue passes the time of tokio's clock, which a test can pause; other callers get it with
    /// `tokio::time::Instant::now().into_std()`.
    pub fn when(&mut self, key: &K, now: Instant) -> Duration {
        let failures = self.requeues(key);
        match self.failures.get_mut(key) {
            Some(count) => *count = count.saturating_add(1),
            None => {
                self.failures.insert(key.clone(), 1);
            }
        }
        let shared = self.bucket.as_mut().map_or(Duration::ZERO, |bucket| bucket.reserve(now));
        self.after(failures).max(shared)
    }

    /// Resets the retries of `key`, after it succeeded or was given up.
    pub fn forget(&mut self, key: &K) {
        self.failures.remove(key);
    }

    /// Returns the number of calls of [`when`](Self::when) for `key` since the last [`forget`](Self::forget).
    pub fn requeues(&self, key: &K) -> u32 {
        self.failures.get(key).copied().unwrap_or_default()
    }
}

/// Returns client-go's default limiter of retries, the longer of two delays: per key 5 ms, doubling up to 1,000 s; for the retries
/// of all keys together, a token bucket of 10 per second with a burst of 100.
pub fn default_controller_limiter<K>() -> RetryLimiter<K> {
    RetryLimiter::new(Duration::from_millis(5), LONGEST).with_bucket(TokenBucket::new(10.0, 100))
}

/// Returns the limiter of the EndpointSlice controllers of Kubernetes: [`default_controller_limiter`] with a first
/// delay of 1 s instead of 5 ms.
pub fn endpoint_slice_limiter<K>() -> RetryLimiter<K> {
    RetryLimiter { base: Duration::from_secs(1), ..default_controller_limiter() }
}

/// Cap of the per-key delay of both limiters.
const LONGEST: Duration = Duration::from_secs(1_000);
