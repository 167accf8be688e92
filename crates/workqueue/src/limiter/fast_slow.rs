//! A short delay for the first retries of a key, then a long one.

use std::{
    hash::Hash,
    time::{Duration, Instant},
};

use super::{RateLimiter, tries::Tries};

/// A limiter per key with the delay `fast` for the first retries and `slow` for all later ones.
#[derive(Debug, Clone)]
pub struct ItemFastSlow<K> {
    fast: Duration,
    slow: Duration,
    fast_tries: u32,
    tries: Tries<K>,
}

impl<K> ItemFastSlow<K> {
    /// Creates a limiter with the delay `fast` for the first `fast_tries` retries of a key, and `slow` afterwards.
    pub fn new(fast: Duration, slow: Duration, fast_tries: u32) -> Self {
        Self { fast, slow, fast_tries, tries: Tries::new() }
    }
}

impl<K: Clone + Eq + Hash + Send> RateLimiter<K> for ItemFastSlow<K> {
    fn when(&mut self, key: &K, _now: Instant) -> Duration {
        if self.tries.count(key) < self.fast_tries { self.fast } else { self.slow }
    }

    fn forget(&mut self, key: &K) {
        self.tries.forget(key);
    }

    fn requeues(&self, key: &K) -> u32 {
        self.tries.of(key)
    }
}
