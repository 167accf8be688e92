//! A few quick tries, then slow ones.

use std::{
    hash::Hash,
    time::{Duration, Instant},
};

use super::{RateLimiter, tries::Tries};

/// For each key `fast` for the first tries, then `slow`.
#[derive(Debug, Clone)]
pub struct ItemFastSlow<K> {
    fast: Duration,
    slow: Duration,
    fast_tries: u32,
    tries: Tries<K>,
}

impl<K> ItemFastSlow<K> {
    /// A limiter that says `fast` for the first `fast_tries` tries of a key and `slow` afterwards.
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
