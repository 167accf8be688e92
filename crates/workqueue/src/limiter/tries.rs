//! Retry counts per key.

use std::hash::Hash;

use hashbrown::HashMap;

/// Retries of each key since it was last forgotten. A key without retries takes no memory.
#[derive(Debug, Clone)]
pub(super) struct Tries<K> {
    counts: HashMap<K, u32>,
}

impl<K> Tries<K> {
    pub(super) fn new() -> Self {
        Self { counts: HashMap::new() }
    }
}

impl<K: Clone + Eq + Hash> Tries<K> {
    /// Counts one more retry and returns the number of earlier ones.
    pub(super) fn count(&mut self, key: &K) -> u32 {
        if let Some(count) = self.counts.get_mut(key) {
            return std::mem::replace(count, count.saturating_add(1));
        }
        self.counts.insert(key.clone(), 1);
        0
    }

    pub(super) fn forget(&mut self, key: &K) {
        self.counts.remove(key);
    }

    pub(super) fn of(&self, key: &K) -> u32 {
        self.counts.get(key).copied().unwrap_or_default()
    }
}
