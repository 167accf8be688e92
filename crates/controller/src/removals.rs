//! Keys whose next sync removes something that others still use.

use std::collections::HashSet;
use std::hash::Hash;
use std::sync::{Arc, Mutex};

use educe::Educe;

use crate::locked;

/// Keys that a change of [`Urgency::High`](crate::Urgency::High) queued since their last sync. Clones share them.
#[derive(Debug, Educe)]
#[educe(Clone(bound(false)), Default(bound(false)))]
pub(crate) struct Removals<K>(Arc<Mutex<HashSet<K>>>);

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
