//! How long a key that failed has to wait.
//!
//! Limiters are asked with `now`: they know no clock. Each can be used alone.

mod bucket;
mod combine;
mod exponential;
mod fast_slow;
mod tries;

use std::{
    hash::Hash,
    time::{Duration, Instant},
};

pub use self::{
    bucket::{BucketLimiter, FOREVER, TokenBucket},
    combine::{MaxOf, WithMaxWait},
    exponential::ItemExponential,
    fast_slow::ItemFastSlow,
};

/// Decides how long a key waits before it is tried again.
pub trait RateLimiter<K>: Send {
    /// How long the key has to wait from `now` on. Every call counts as one more try.
    fn when(&mut self, key: &K, now: Instant) -> Duration;

    /// The key is well again, or is given up: its next try is a first one.
    fn forget(&mut self, key: &K);

    /// How many times [`when`](RateLimiter::when) was called for the key since it was last forgotten.
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

/// The limiter of most controllers: 5 ms, doubling up to 1,000 s for each key, and 10 a second with a burst of 100 for
/// all keys together, whichever is longer.
pub fn default_controller_limiter<K: Clone + Eq + Hash + Send + 'static>() -> MaxOf<K> {
    controller_limiter(Duration::from_millis(5))
}

/// The limiter of the EndpointSlice controllers: as [`default_controller_limiter`], but starting at 1 s.
pub fn endpoint_slice_limiter<K: Clone + Eq + Hash + Send + 'static>() -> MaxOf<K> {
    controller_limiter(Duration::from_secs(1))
}

/// A limiter that counts each key's failures and nothing else: 1 ms, doubling up to 1,000 s.
pub fn default_item_limiter<K: Clone + Eq + Hash + Send + 'static>() -> ItemExponential<K> {
    ItemExponential::new(Duration::from_millis(1), LONGEST)
}

/// The longest wait of all three.
const LONGEST: Duration = Duration::from_secs(1_000);

fn controller_limiter<K: Clone + Eq + Hash + Send + 'static>(base: Duration) -> MaxOf<K> {
    MaxOf::new().and(ItemExponential::new(base, LONGEST)).and(BucketLimiter::new(10.0, 100))
}
