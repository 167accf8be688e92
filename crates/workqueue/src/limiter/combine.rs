//! The longest of several delays.

use std::{
    fmt,
    time::{Duration, Instant},
};

use super::RateLimiter;

/// Rate limiter that returns the longest delay of several limiters. Each of them counts every retry; `requeues` is the
/// largest of their numbers.
#[derive(Default)]
pub struct MaxOf<K> {
    limiters: Vec<Box<dyn RateLimiter<K>>>,
}

impl<K> MaxOf<K> {
    /// Creates a limiter without members; its delay is zero.
    pub fn new() -> Self {
        Self { limiters: Vec::new() }
    }

    /// Adds a limiter to those whose longest delay is returned.
    #[must_use]
    pub fn and(mut self, limiter: impl RateLimiter<K> + 'static) -> Self {
        self.limiters.push(Box::new(limiter));
        self
    }
}

impl<K> RateLimiter<K> for MaxOf<K> {
    fn when(&mut self, key: &K, now: Instant) -> Duration {
        self.limiters.iter_mut().map(|it| it.when(key, now)).max().unwrap_or_default()
    }

    fn forget(&mut self, key: &K) {
        self.limiters.iter_mut().for_each(|it| it.forget(key));
    }

    fn requeues(&self, key: &K) -> u32 {
        self.limiters.iter().map(|it| it.requeues(key)).max().unwrap_or_default()
    }
}

impl<K> fmt::Debug for MaxOf<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MaxOf").field("limiters", &self.limiters.len()).finish()
    }
}
