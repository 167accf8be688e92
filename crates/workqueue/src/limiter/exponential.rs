//! Exponential back-off per key.

use std::{
    hash::Hash,
    mem,
    time::{Duration, Instant},
};

use hashbrown::HashMap;

use super::RateLimiter;

/// Rate limiter with exponential back-off per key: `base`, doubling with each retry, at most `cap`.
#[derive(Debug, Clone)]
pub struct ItemExponential<K> {
    base: Duration,
    cap: Duration,
    /// Retries of each key since it was last forgotten. A key without retries takes no memory.
    failures: HashMap<K, u32>,
}

impl<K> ItemExponential<K> {
    /// Creates a limiter with a first delay of `base` and a longest delay of `cap`.
    pub fn new(base: Duration, cap: Duration) -> Self {
        Self { base, cap, failures: HashMap::new() }
    }

    /// Returns the delay after `failures` earlier retries. A delay that overflows an `i64` of nanoseconds is the cap,
    /// as in client-go.
    fn after(&self, failures: u32) -> Duration {
        let nanos = self.base.as_nanos().saturating_mul(1 << failures.min(63));
        i64::try_from(nanos).map_or(self.cap, |nanos| Duration::from_nanos(nanos.unsigned_abs()).min(self.cap))
    }
}

impl<K: Clone + Eq + Hash + Send> RateLimiter<K> for ItemExponential<K> {
    fn when(&mut self, key: &K, _now: Instant) -> Duration {
        if let Some(failures) = self.failures.get_mut(key) {
            let before = mem::replace(failures, failures.saturating_add(1));
            return self.after(before);
        }
        self.failures.insert(key.clone(), 1);
        self.after(0)
    }

    fn forget(&mut self, key: &K) {
        self.failures.remove(key);
    }

    fn requeues(&self, key: &K) -> u32 {
        self.failures.get(key).copied().unwrap_or_default()
    }
}
