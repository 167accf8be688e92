//! Graph of owner references.

use std::collections::{BTreeMap, BTreeSet};

use indexmap::IndexSet;

use super::stored::{Key, Stored};

/// Reference to an object: index of its kind, and its key.
pub(super) type ObjectRef = (usize, Key);

/// Graph of owner references, and the owners that are to be processed.
#[derive(Debug, Clone, Default)]
pub(super) struct Dependencies {
    /// Dependents by the uid of the owner.
    pub(super) dependents: BTreeMap<Box<str>, BTreeSet<ObjectRef>>,
    /// Owners in foreground deletion, by uid.
    pub(super) waiting: BTreeMap<Box<str>, ObjectRef>,
    /// Uids of owners to process: those removed, and those in foreground deletion whose dependents changed.
    pub(super) pending: BTreeSet<Box<str>>,
    /// Uids of recently removed objects, oldest first, for dependents created after the removal of their owner.
    removed_uids: IndexSet<Box<str>>,
}

/// Maximum number of removed objects to remember. A dependent that is created after its owner was forgotten is kept.
const MAX_REMOVED_UIDS: usize = 10_000;

impl Dependencies {
    pub(super) fn added(&mut self, index: usize, object: &Stored) {
        for owner in &object.owners {
            self.dependents.entry(owner.clone()).or_default().insert((index, object.key()));
            if self.removed_uids.contains(owner) {
                self.pending.insert(owner.clone());
            }
        }
    }

    pub(super) fn removed(&mut self, index: usize, object: &Stored) {
        let object_ref = (index, object.key());
        for owner in &object.owners {
            if let Some(dependents) = self.dependents.get_mut(owner) {
                dependents.remove(&object_ref);
                if dependents.is_empty() {
                    self.dependents.remove(owner);
                }
            }
            if self.waiting.contains_key(owner) {
                self.pending.insert(owner.clone());
            }
        }
    }

    /// Updates the removed uids after a restore: those of `before`, and those removed according to `former`, unless
    /// they are among `now`.
    pub(super) fn restored(&mut self, former: &Dependencies, before: &BTreeSet<Box<str>>, now: &BTreeSet<Box<str>>) {
        self.removed_uids.retain(|uid| !now.contains(uid));
        for uid in former.removed_uids.iter().chain(before).filter(|uid| !now.contains(*uid)) {
            self.record_removed(uid);
        }
    }

    fn record_removed(&mut self, uid: &str) {
        if self.removed_uids.len() == MAX_REMOVED_UIDS {
            self.removed_uids.shift_remove_index(0);
        }
        self.removed_uids.insert(uid.into());
    }

    /// Records the removal of an object and schedules its dependents.
    pub(super) fn owner_removed(&mut self, object: &Stored) {
        self.waiting.remove(&object.uid);
        self.record_removed(&object.uid);
        if self.dependents.contains_key(&object.uid) {
            self.pending.insert(object.uid.clone());
        }
    }
}
