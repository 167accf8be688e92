//! Limiters made of limiters.

use std::{
    fmt,
    time::{Duration, Instant},
};

use super::RateLimiter;

/// The longest wait of several limiters. All of them count every try.
#[derive(Default)]
pub struct MaxOf<K> {
    limiters: Vec<Box<dyn RateLimiter<K>>>,
}

impl<K> MaxOf<K> {
    /// No limiter yet: no wait.
    pub fn new() -> Self {
        Self { limiters: Vec::new() }
    }

    /// One more limiter.
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

/// Another limiter's wait, but never longer than `longest`.
#[derive(Debug, Clone)]
pub struct WithMaxWait<L> {
    limiter: L,
    longest: Duration,
}

impl<L> WithMaxWait<L> {
    /// Caps the waits of `limiter`.
    pub fn new(limiter: L, longest: Duration) -> Self {
        Self { limiter, longest }
    }
}

impl<K, L: RateLimiter<K>> RateLimiter<K> for WithMaxWait<L> {
    fn when(&mut self, key: &K, now: Instant) -> Duration {
        self.limiter.when(key, now).min(self.longest)
    }

    fn forget(&mut self, key: &K) {
        self.limiter.forget(key);
    }

    fn requeues(&self, key: &K) -> u32 {
        self.limiter.requeues(key)
    }
}
