//! Graph of owner references.

use std::collections::{BTreeMap, BTreeSet};

use indexmap::IndexSet;

use super::stored::{Key, OwnerLink, Stored};

/// Reference to an object: index of its kind, and its key.
pub(super) type ObjectRef = (usize, Key);

/// Graph of owner references, and the objects whose owners or dependents are to be checked.
#[derive(Debug, Clone, Default)]
pub(super) struct Dependencies {
    /// Dependents by the uid of the owner.
    dependents: BTreeMap<Box<str>, BTreeSet<ObjectRef>>,
    /// Owners in foreground deletion, by uid.
    in_foreground_deletion: BTreeMap<Box<str>, ObjectRef>,
    /// Objects to check (Go: the queue `attemptToDelete`).
    to_check: BTreeSet<ObjectRef>,
    /// Uids of the owners that writes have added to objects, whose namespaces are to be checked.
    added_owners: BTreeMap<ObjectRef, Vec<Box<str>>>,
    /// Objects that name an owner of a kind that is not served. They are checked again when a kind is defined.
    unresolved: BTreeSet<ObjectRef>,
    /// Uids of recently removed objects, oldest first, for owners whose kind is no longer served.
    removed_uids: IndexSet<Box<str>>,
}

/// Maximum number of removed objects to remember. A dependent that is created after its owner and the owner's kind were
/// removed and forgotten is kept.
const MAX_REMOVED_UIDS: usize = 10_000;

impl Dependencies {
    /// Records that an object was stored in place of `previous`.
    pub(super) fn stored(&mut self, index: usize, object: &Stored, previous: Option<&Stored>) {
        let object_ref = (index, object.key());
        let before = previous.map(|previous| &*previous.owners).unwrap_or_default();
        if *before != *object.owners {
            self.owners_changed(&object_ref, &object.owners, before);
        }
        let was_in_foreground = previous.is_some_and(|previous| previous.in_foreground_deletion);
        match (was_in_foreground, object.in_foreground_deletion) {
            (false, true) => {
                self.in_foreground_deletion.insert(object.uid.clone(), object_ref.clone());
                self.to_check.insert(object_ref);
                self.check_dependents_of(&object.uid);
            }
            (true, false) => {
                self.in_foreground_deletion.remove(&object.uid);
            }
            _ => {}
        }
    }

    fn owners_changed(&mut self, object_ref: &ObjectRef, now: &[OwnerLink], before: &[OwnerLink]) {
        for owner in before {
            if !now.iter().any(|it| it.uid == owner.uid) {
                self.forget(object_ref, &owner.uid);
            }
            if owner.blocks && !now.contains(owner) {
                self.check_waiting_owner(&owner.uid);
            }
        }
        let added: Vec<Box<str>> = now
            .iter()
            .filter(|owner| !before.iter().any(|it| it.uid == owner.uid))
            .map(|owner| owner.uid.clone())
            .collect();
        for uid in &added {
            self.dependents.entry(uid.clone()).or_default().insert(object_ref.clone());
        }
        if !added.is_empty() {
            self.to_check.insert(object_ref.clone());
            self.added_owners.insert(object_ref.clone(), added);
        }
    }

    /// Records the removal of an object.
    pub(super) fn removed(&mut self, index: usize, object: &Stored) {
        let object_ref = (index, object.key());
        self.in_foreground_deletion.remove(&object.uid);
        self.unresolved.remove(&object_ref);
        self.record_removed(&object.uid);
        for owner in &object.owners {
            self.forget(&object_ref, &owner.uid);
            self.check_waiting_owner(&owner.uid);
        }
        self.check_dependents_of(&object.uid);
    }

    /// Records that the server serves another kind.
    pub(super) fn kind_defined(&mut self) {
        self.to_check.append(&mut self.unresolved);
    }

    pub(super) fn check(&mut self, object_ref: ObjectRef) {
        self.to_check.insert(object_ref);
    }

    pub(super) fn unresolved(&mut self, object_ref: ObjectRef) {
        self.unresolved.insert(object_ref);
    }

    /// Returns the next object to check.
    pub(super) fn pop(&mut self) -> Option<ObjectRef> {
        self.to_check.pop_first()
    }

    /// Returns an object and the uids of the owners that were added to it.
    pub(super) fn pop_added_owners(&mut self) -> Option<(ObjectRef, Vec<Box<str>>)> {
        self.added_owners.pop_first()
    }

    pub(super) fn dependents_of(&self, uid: &str) -> impl Iterator<Item = &ObjectRef> {
        self.dependents.get(uid).into_iter().flatten()
    }

    pub(super) fn is_removed(&self, uid: &str) -> bool {
        self.removed_uids.contains(uid)
    }

    /// Updates the removed uids after a restore: those of `before`, and those removed according to `former`, unless
    /// they are among `now`.
    pub(super) fn restored(&mut self, former: &Dependencies, before: &BTreeSet<Box<str>>, now: &BTreeSet<Box<str>>) {
        self.removed_uids.retain(|uid| !now.contains(uid));
        for uid in former.removed_uids.iter().chain(before).filter(|uid| !now.contains(*uid)) {
            self.record_removed(uid);
        }
    }

    fn forget(&mut self, object_ref: &ObjectRef, owner: &str) {
        if let Some(dependents) = self.dependents.get_mut(owner) {
            dependents.remove(object_ref);
            if dependents.is_empty() {
                self.dependents.remove(owner);
            }
        }
    }

    fn check_dependents_of(&mut self, uid: &str) {
        self.to_check.extend(self.dependents.get(uid).into_iter().flatten().cloned());
    }

    fn check_waiting_owner(&mut self, uid: &str) {
        self.to_check.extend(self.in_foreground_deletion.get(uid).cloned());
    }

    fn record_removed(&mut self, uid: &str) {
        if self.removed_uids.len() == MAX_REMOVED_UIDS {
            self.removed_uids.shift_remove_index(0);
        }
        self.removed_uids.insert(uid.into());
    }
}
