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
    uses: BTreeMap<u64, K>,
    clock: u64,
}

impl<K: Clone + Eq + Hash, V> Lru<K, V> {
    pub(super) fn new(capacity: usize) -> Self {
        Self { capacity, entries: HashMap::new(), uses: BTreeMap::new(), clock: 0 }
    }

    /// Returns the entry of `key`, inserting the result of `make` if there is none, and marks it as most recently used.
    pub(super) fn entry(&mut self, key: &K, make: impl FnOnce() -> V) -> &mut V {
        self.clock += 1;
        let now = self.clock;
        let known = self.entries.get(key).map(|(_, used)| *used);
        match known {
            Some(used) => drop(self.uses.remove(&used)),
            None if self.entries.len() >= self.capacity => {
                if let Some((_, oldest)) = self.uses.pop_first() {
                    self.entries.remove(&oldest);
                }
            }
            None => {}
        }
        self.uses.insert(now, key.clone());
        let (value, used) = self.entries.entry(key.clone()).or_insert_with(|| (make(), now));
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
        fn forgets_the_least_recently_used(keys in prop::collection::vec(0u8..6, 0..40), capacity in 1usize..5) {
            let mut lru = Lru::new(capacity);
            let mut model: Vec<u8> = Vec::new();
            for key in keys {
                let mut made = false;
                lru.entry(&key, || made = true);
                prop_assert_eq!(made, !model.contains(&key));
                model.retain(|it| *it != key);
                model.insert(0, key);
                model.truncate(capacity);
                prop_assert_eq!(lru.entries.len(), model.len());
                prop_assert_eq!(lru.uses.len(), model.len());
            }
        }
    }
}
