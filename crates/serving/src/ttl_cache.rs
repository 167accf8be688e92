//! A bounded cache with expiry.

use std::hash::Hash;
use std::num::NonZeroUsize;
use std::time::{Duration, Instant};

use lru::LruCache;

/// Cache of at most `capacity` answers, each with its own expiry time. If it is full, the least recently used answer is
/// evicted.
#[derive(Debug)]
pub(crate) struct TtlCache<K: Eq + Hash, V>(LruCache<K, (V, Instant)>);

impl<K: Eq + Hash, V: Clone> TtlCache<K, V> {
    pub(crate) fn new(capacity: NonZeroUsize) -> Self {
        Self(LruCache::sparse(capacity))
    }

    pub(crate) fn get(&mut self, key: &K, now: Instant) -> Option<V> {
        self.0.get(key).filter(|(_, expires)| now < *expires).map(|(value, _)| value.clone())
    }

    pub(crate) fn put(&mut self, key: K, value: V, now: Instant, ttl: Duration) {
        self.0.put(key, (value, now + ttl));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn entries_expire_and_their_number_is_bounded() {
        let (mut cache, now) = (TtlCache::new(NonZeroUsize::new(2).unwrap()), tokio::time::Instant::now().into_std());
        let second = Duration::from_secs(1);
        cache.put("a", 1, now, second);
        assert_eq!((cache.get(&"a", now), cache.get(&"a", now + second)), (Some(1), None));
        cache.put("b", 2, now, 3 * second);
        // The expired entry is evicted, the other one stays.
        cache.put("c", 3, now + second, second);
        assert_eq!((cache.get(&"b", now + second), cache.get(&"c", now + second)), (Some(2), Some(3)));
        for key in ["d", "e", "f", "g"] {
            cache.put(key, 4, now + second, second);
            assert!(cache.0.len() <= 2);
        }
    }
}
