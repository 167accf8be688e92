//! Keys whose next sync removes something that others still use.

use std::collections::HashSet;
use std::hash::Hash;
use std::sync::{Arc, Mutex};

use crate::locked;

/// Keys that a change of [`Urgency::High`](crate::Urgency::High) queued since their last sync. Clones share them.
#[derive(Debug)]
pub(crate) struct Removals<K>(Arc<Mutex<HashSet<K>>>);

impl<K> Clone for Removals<K> {
    fn clone(&self) -> Self {
        Removals(Arc::clone(&self.0))
    }
}

impl<K> Default for Removals<K> {
    fn default() -> Self {
        Removals(Arc::default())
    }
}

impl<K: Eq + Hash> Removals<K> {
    /// Adds a key, before it is queued or because its sync failed.
    pub(crate) fn add(&self, key: K) {
        locked(&self.0).insert(key);
    }

    /// Removes a key when its sync starts; returns whether it was there.
    pub(crate) fn take(&self, key: &K) -> bool {
        locked(&self.0).remove(key)
    }
}
