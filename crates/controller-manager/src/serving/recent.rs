//! A bounded cache with expiry.

use std::collections::HashMap;
use std::hash::Hash;
use std::time::{Duration, Instant};

/// Cache of at most `most` answers, each with its own expiry time.
#[derive(Debug)]
pub(super) struct Recent<K, V> {
    answers: HashMap<K, (V, Instant)>,
    most: usize,
}

impl<K: Hash + Eq, V: Clone> Recent<K, V> {
    pub(super) fn new(most: usize) -> Self {
        Self { answers: HashMap::new(), most }
    }

    pub(super) fn get(&self, key: &K, now: Instant) -> Option<V> {
        self.answers.get(key).filter(|(_, until)| now < *until).map(|(answer, _)| answer.clone())
    }

    pub(super) fn put(&mut self, key: K, answer: V, now: Instant, lasts: Duration) {
        if self.answers.len() >= self.most {
            self.answers.retain(|_, (_, until)| now < *until);
        }
        if self.answers.len() >= self.most {
            // No entry has expired: clearing the cache is cheaper than searching for the oldest on every insertion.
            self.answers.clear();
        }
        self.answers.insert(key, (answer, now + lasts));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn answers_last_a_while_and_stay_few() {
        let (mut recent, now) = (Recent::new(2), tokio::time::Instant::now().into_std());
        let second = Duration::from_secs(1);
        recent.put("a", 1, now, second);
        assert_eq!((recent.get(&"a", now), recent.get(&"a", now + second)), (Some(1), None));
        recent.put("b", 2, now, 3 * second);
        // The expired entry is evicted, the other one stays.
        recent.put("c", 3, now + second, second);
        assert_eq!((recent.get(&"b", now + second), recent.get(&"c", now + second)), (Some(2), Some(3)));
        for key in ["d", "e", "f", "g"] {
            recent.put(key, 4, now + second, second);
            assert!(recent.answers.len() <= 2);
        }
    }
}
