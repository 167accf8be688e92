//! A map with least-recently-used eviction.

use std::{
    collections::{BTreeMap, HashMap},
    hash::Hash,
};

/// Map of at most `capacity` entries that evicts the least recently used one.
#[derive(Debug)]
pub(super) struct Lru<K, V> {
    capacity: usize,
    entries: HashMap<K, (V, u64)>,
    /// Keys by the value of `clock` at their last use.
    by_last_use: BTreeMap<u64, K>,
    clock: u64,
}

impl<K: Clone + Eq + Hash, V> Lru<K, V> {
    pub(super) fn new(capacity: usize) -> Self {
        Self { capacity, entries: HashMap::new(), by_last_use: BTreeMap::new(), clock: 0 }
    }

    /// Returns the entry of `key`, inserting the result of `default` if there is none, and marks it as most recently
    /// used.
    pub(super) fn get_or_insert_with(&mut self, key: &K, default: impl FnOnce() -> V) -> &mut V {
        self.clock += 1;
        let now = self.clock;
        let last_use = self.entries.get(key).map(|(_, used)| *used);
        match last_use {
            Some(used) => drop(self.by_last_use.remove(&used)),
            None if self.entries.len() >= self.capacity => {
                if let Some((_, oldest)) = self.by_last_use.pop_first() {
                    self.entries.remove(&oldest);
                }
            }
            None => {}
        }
        self.by_last_use.insert(now, key.clone());
        let (value, used) = self.entries.entry(key.clone()).or_insert_with(|| (default(), now));
        *used = now;
        value
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Compares with a model: a list of keys, most recently used first.
        #[test]
        fn least_recently_used_key_is_evicted(keys in prop::collection::vec(0u8..6, 0..40), capacity in 1usize..5) {
            let mut lru = Lru::new(capacity);
            let mut model: Vec<u8> = Vec::new();
            for key in keys {
                let mut inserted = false;
                lru.get_or_insert_with(&key, || inserted = true);
                prop_assert_eq!(inserted, !model.contains(&key));
                model.retain(|it| *it != key);
                model.insert(0, key);
                model.truncate(capacity);
                prop_assert_eq!(lru.entries.len(), model.len());
                prop_assert_eq!(lru.by_last_use.len(), model.len());
            }
        }
    }
}
