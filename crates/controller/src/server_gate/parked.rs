//! Keys of one controller that wait while the gate is closed.

use educe::Educe;
use std::collections::HashMap;
use std::hash::Hash;

/// Keys that wait for the server.
#[derive(Debug, Educe)]
#[educe(Default(bound(false)))]
pub(super) struct Parked<K> {
    keys: HashMap<K, Rank>,
    /// Number of calls of [`add`](Self::add).
    adds: u64,
    /// Key that is synced although the gate is closed.
    probe: Option<K>,
}

/// The fields in the order of importance: the least key is synced first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Rank {
    /// Whether the key failed since the gate closed.
    pub(super) tried: bool,
    /// Whether the key loses nothing that others still use.
    patient: bool,
    number: u64,
}

impl<K: Clone + Eq + Hash> Parked<K> {
    pub(super) fn len(&self) -> usize {
        self.keys.len()
    }

    /// Adds a key. `urgent`: it removes something that others still use.
    pub(super) fn add(&mut self, key: K, urgent: bool, tried: bool) {
        self.adds += 1;
        let waiting = self.keys.entry(key).or_insert(Rank { tried, patient: !urgent, number: self.adds });
        waiting.tried |= tried;
        waiting.patient &= !urgent;
    }

    /// Returns whether there is a key that was not tried; `None` without keys. Seldom looks at many: only probes are tried.
    pub(super) fn is_fresh(&self) -> Option<bool> {
        (!self.keys.is_empty()).then(|| self.keys.values().any(|rank| !rank.tried))
    }

    /// Returns the rank of the key to probe the server with: first those that were not tried (`again`: that were), of these
    /// the urgent ones, then the one that waits longest.
    pub(super) fn rank(&self, again: bool) -> Option<Rank> {
        self.keys.values().min_by_key(|rank| (rank.tried != again, **rank)).copied()
    }

    /// Removes and returns that key.
    pub(super) fn start_probe(&mut self, again: bool) -> Option<(K, bool)> {
        let (key, rank) = self.keys.iter().min_by_key(|(_, rank)| (rank.tried != again, **rank))?;
        let (key, urgent) = (key.clone(), !rank.patient);
        self.keys.remove(&key);
        self.probe = Some(key.clone());
        Some((key, urgent))
    }

    /// Returns whether the key is the probe, once for each probe.
    pub(super) fn take_probe(&mut self, key: &K) -> bool {
        self.probe.take_if(|probe| probe == key).is_some()
    }

    /// Removes and returns all keys, the urgent ones first, of these the one that waits longest.
    pub(super) fn take_all(&mut self) -> Vec<(K, bool)> {
        let mut all: Vec<_> = std::mem::take(&mut self.keys).into_iter().collect();
        all.sort_by_key(|(_, waiting)| (waiting.patient, waiting.number));
        all.into_iter().map(|(key, waiting)| (key, !waiting.patient)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn removals_and_keys_that_were_not_tried_are_first() {
        let mut parked = Parked::default();
        parked.add("tried", false, true);
        parked.add("tried-removal", true, true);
        parked.add("addition", false, false);
        parked.add("removal", true, false);
        parked.add("addition", false, false);
        assert!(parked.rank(false).is_some_and(|rank| !rank.tried));
        assert_eq!(parked.is_fresh(), Some(true));
        let mut probes = Vec::new();
        while let Some(probe) = parked.start_probe(false) {
            probes.push(probe);
        }
        assert_eq!(probes, [("removal", true), ("addition", false), ("tried-removal", true), ("tried", false)]);
        assert!(parked.take_probe(&"tried") && !parked.take_probe(&"tried"));
        parked.add("removal", true, false);
        parked.add("tried", false, true);
        let probes = [parked.start_probe(true), parked.start_probe(true)];
        assert_eq!(probes, [Some(("tried", false)), Some(("removal", true))]);
    }

    #[test]
    fn all_keys_are_released_with_the_removals_first() {
        let mut parked = Parked::default();
        for (key, urgent) in [(1, false), (2, true), (3, false), (4, true), (1, true)] {
            parked.add(key, urgent, true);
        }
        assert!(parked.rank(false).is_some_and(|rank| rank.tried));
        assert_eq!(parked.is_fresh(), Some(false));
        assert_eq!(parked.take_all(), [(1, true), (2, true), (4, true), (3, false)]);
        assert_eq!((parked.len(), parked.is_fresh()), (0, None));
    }
}
