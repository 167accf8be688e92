//! Rate limiters: the delay before the next retry of a key.
//!
//! Limiters read no clock: the caller passes `now`. Each can be used without a queue.

mod bucket;
mod combine;
mod exponential;
mod rate_limiter;

use std::{hash::Hash, time::Duration};

pub use self::{
    bucket::{FOREVER, TokenBucket},
    combine::MaxOf,
    exponential::ItemExponential,
    rate_limiter::RateLimiter,
};

/// Returns client-go's default limiter of retries, the longer of two delays: per key 5 ms, doubling up to 1,000 s; for the retries
/// of all keys together, a token bucket of 10 per second with a burst of 100.
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
    MaxOf::new().and(ItemExponential::new(base, LONGEST)).and(TokenBucket::new(10.0, 100))
}
