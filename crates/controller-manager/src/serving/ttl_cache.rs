//! A bounded cache with expiry.

use std::collections::HashMap;
use std::hash::Hash;
use std::time::{Duration, Instant};

/// Cache of at most `capacity` answers, each with its own expiry time.
#[derive(Debug)]
pub(super) struct TtlCache<K, V> {
    entries: HashMap<K, (V, Instant)>,
    capacity: usize,
}

impl<K: Hash + Eq, V: Clone> TtlCache<K, V> {
    pub(super) fn new(capacity: usize) -> Self {
        Self { entries: HashMap::new(), capacity }
    }

    pub(super) fn get(&self, key: &K, now: Instant) -> Option<V> {
        self.entries.get(key).filter(|(_, expires)| now < *expires).map(|(value, _)| value.clone())
    }

    pub(super) fn put(&mut self, key: K, value: V, now: Instant, ttl: Duration) {
        if self.entries.len() >= self.capacity {
            self.entries.retain(|_, (_, expires)| now < *expires);
        }
        if self.entries.len() >= self.capacity {
            // No entry has expired: clearing the cache is cheaper than searching for the oldest on every insertion.
            self.entries.clear();
        }
        self.entries.insert(key, (value, now + ttl));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn entries_expire_and_their_number_is_bounded() {
        let (mut cache, now) = (TtlCache::new(2), tokio::time::Instant::now().into_std());
        let second = Duration::from_secs(1);
        cache.put("a", 1, now, second);
        assert_eq!((cache.get(&"a", now), cache.get(&"a", now + second)), (Some(1), None));
        cache.put("b", 2, now, 3 * second);
        // The expired entry is evicted, the other one stays.
        cache.put("c", 3, now + second, second);
        assert_eq!((cache.get(&"b", now + second), cache.get(&"c", now + second)), (Some(2), Some(3)));
        for key in ["d", "e", "f", "g"] {
            cache.put(key, 4, now + second, second);
            assert!(cache.entries.len() <= 2);
        }
    }
}
