//! Records of own writes that the watch has not shown yet, to detect events and listed objects that are older.

use std::{
    cmp::Ordering,
    collections::{HashMap, HashSet},
    sync::Arc,
};

use kube_wire::{Object, ObjectKey, ResourceVersion, Uid};

use crate::list_log::ListLog;

/// Maximum number of bookmarks before the event of an own delete. With one more, the server has lost the delete. API
/// servers send about one bookmark a minute.
const MAX_BOOKMARKS: u8 = 2;

/// Own writes between the response of the server and the event of the watch.
///
/// Their results are stored already. Events and listed objects that are older are dropped. An entry exists only until
/// the event of its write, or until the third bookmark if that event may have come before, so there are few.
#[derive(Debug, Clone, Default)]
pub(crate) struct OwnWrites {
    /// Version in the response to a create or update, by object. The store has the object at this version.
    written: HashMap<ObjectKey, ResourceVersion>,
    deleted: HashMap<ObjectKey, PendingDelete>,
    /// The informer has selectors: an event that deletes an object may only mean that it was moved out of the selection, and
    /// be older than the own delete.
    is_selecting: bool,
}

/// Own delete that the watch may not have shown yet.
#[derive(Debug, Clone)]
struct PendingDelete {
    uid: Uid,
    /// Version of the object that was stored when it was deleted; empty if none was.
    version: ResourceVersion,
    /// The object exists, but was not selected at `version`: its later states are newer.
    is_deselected: bool,
    /// The watch must show the deletion, because it has shown the object.
    is_awaited: bool,
    /// Number of bookmarks since the response to the delete.
    bookmarks: u8,
    /// Number of lists requested before the response to the delete.
    lists: u64,
}

impl PendingDelete {
    /// Returns whether a state of an object of this name is older than the delete.
    fn is_newer_than(&self, state: &impl Object) -> bool {
        if self.is_deselected {
            return state.uid() == self.uid && state.resource_version() <= self.version;
        }
        state.uid() == self.uid || state.resource_version() < self.version
    }
}

impl OwnWrites {
    /// Returns the records of no writes of an informer with or without selectors.
    pub(crate) fn new(is_selecting: bool) -> Self {
        Self { is_selecting, ..Self::default() }
    }

    /// Returns the records of no writes of the same informer.
    pub(crate) fn cleared(&self) -> Self {
        Self::new(self.is_selecting)
    }

    /// Records a create or update whose response had this version and was stored.
    pub(crate) fn record_write(&mut self, key: ObjectKey, version: ResourceVersion) {
        self.written.insert(key, version);
    }

    /// Records that an own write deleted the object with this uid or, with `deselected_at`, that the object was not selected at that
    /// version. `stored` is the version of the stored object; `None` if it was not stored, so that the watch may have shown the removal
    /// already. `lists` is the number of lists requested so far. An empty uid is not recorded.
    pub(crate) fn record_removal(
        &mut self,
        key: ObjectKey,
        uid: Uid,
        stored: Option<ResourceVersion>,
        deselected_at: Option<ResourceVersion>,
        lists: u64,
    ) {
        if uid.is_empty() {
            return;
        }
        let was_awaited = |deleted: &PendingDelete| deleted.uid == uid && deleted.is_awaited;
        let is_awaited = stored.is_some() || self.deleted.get(&key).is_some_and(was_awaited);
        let is_deselected = deselected_at.is_some();
        let version = deselected_at.or(stored).unwrap_or_default();
        self.deleted.insert(key, PendingDelete { uid, version, is_deselected, is_awaited, bookmarks: 0, lists });
    }

    /// Forgets the own create or update of an object that is removed.
    pub(crate) fn forget_write(&mut self, key: &ObjectKey) {
        self.written.remove(key);
    }

    /// Returns whether an own delete of this object, or of a later one of its name, is not shown by the watch yet.
    pub(crate) fn has_deleted(&self, state: &impl Object) -> bool {
        !self.deleted.is_empty() && self.deleted.get(&state.key()).is_some_and(|deleted| deleted.is_newer_than(state))
    }

    /// Returns whether the stored state of this object is an own write that the watch has not shown yet.
    pub(crate) fn is_unconfirmed(&self, key: &ObjectKey) -> bool {
        self.written.contains_key(key)
    }

    /// Returns whether a state from the watch is newer than the own writes of the object and is to be stored.
    pub(crate) fn admits(&mut self, object: &impl Object) -> bool {
        if self.deleted.is_empty() && self.written.is_empty() {
            return true;
        }
        let key = object.key();
        if let Some(deleted) = self.deleted.get_mut(&key).filter(|deleted| deleted.is_newer_than(object)) {
            deleted.is_awaited = true;
            return false;
        }
        match self.written.get(&key).map(|written| object.resource_version().partial_cmp(written)) {
            None => true,
            Some(Some(Ordering::Less)) => false,
            Some(order) => {
                self.written.remove(&key);
                order != Some(Ordering::Equal)
            }
        }
    }

    /// Returns whether the watch shows the own create or update of an object at this version, and forgets it if so.
    pub(crate) fn confirm(&mut self, key: &ObjectKey, version: &ResourceVersion) -> bool {
        let is_shown = self.written.get(key) == Some(version);
        if is_shown {
            self.written.remove(key);
        }
        is_shown
    }

    /// Returns whether a deletion from the watch is newer than the own writes of the object and is to be applied.
    pub(crate) fn admits_deletion(&mut self, last: &impl Object) -> bool {
        if self.deleted.is_empty() && self.written.is_empty() {
            return true;
        }
        let key = last.key();
        if let Some(deleted) = self.deleted.get_mut(&key).filter(|deleted| deleted.is_newer_than(last)) {
            if deleted.uid == last.uid() {
                deleted.is_awaited = false;
                if !self.is_selecting {
                    self.deleted.remove(&key);
                }
            }
            return false;
        }
        let newer = self
            .written
            .get(&key)
            .is_none_or(|written| last.resource_version().partial_cmp(written) != Some(Ordering::Less));
        if newer {
            self.written.remove(&key);
        }
        newer
    }

    /// Applies a bookmark: the watch has shown all changes up to `version`. Returns whether the server has lost an own
    /// write.
    ///
    /// A watch delivers changes in the order of their versions. A write up to `version` that it has not shown is lost,
    /// for example because etcd was restored from a backup, and the caller must relist. The version of a delete is
    /// unknown, so after [`MAX_BOOKMARKS`] it is forgotten, and counts as lost if the watch had to show it.
    pub(crate) fn bookmark(&mut self, version: &ResourceVersion) -> bool {
        let lost_write = self.written.values().any(|written| written <= version);
        let mut lost_delete = false;
        self.deleted.retain(|_, deleted| {
            deleted.bookmarks += 1;
            let overdue = deleted.bookmarks > MAX_BOOKMARKS;
            lost_delete |= overdue && deleted.is_awaited;
            !overdue
        });
        lost_write || lost_delete
    }

    /// Returns whether there are own creates or updates that the watch has not shown yet.
    pub(crate) fn awaits_writes(&self) -> bool {
        !self.written.is_empty()
    }

    /// Returns whether there are own deletes that the watch must show.
    pub(crate) fn awaits_deletes(&self) -> bool {
        self.deleted.values().any(|deleted| deleted.is_awaited)
    }

    /// Applies the own writes that are newer than a complete list to it. `stored` returns the stored object.
    ///
    /// Keeps only the records of writes that a watch from this list will show. A list may come from a server that lags
    /// behind, so one with a deleted object is taken to be older than the delete. A list of the most recent state that
    /// was requested after the delete is not: with a deleted object in it, etcd was restored from a backup.
    pub(crate) fn apply_to_list<T: Object>(
        &mut self,
        objects: &mut Vec<Arc<T>>,
        listed: &ResourceVersion,
        lists: &ListLog,
        stored: impl Fn(&ObjectKey) -> Option<Arc<T>>,
    ) {
        if !self.deleted.is_empty() {
            self.deleted.retain(|_, deleted| !lists.is_most_recent_after(deleted.lists));
            let mut shown = HashSet::new();
            objects.retain(|object| {
                let key = object.key();
                let deleted = self.deleted.get_mut(&key).filter(|deleted| deleted.is_newer_than(&**object));
                let is_deleted = deleted.map(|deleted| deleted.is_awaited = true).is_some();
                if is_deleted {
                    shown.insert(key);
                }
                !is_deleted
            });
            // A list that lacks the object, at a version at which it was stored before, is newer than the delete: no event will
            // follow.
            let may_be_older = |deleted: &PendingDelete| {
                if deleted.is_deselected { *listed < deleted.version } else { *listed <= deleted.version }
            };
            self.deleted.retain(|key, deleted| shown.contains(key) || !deleted.is_awaited || may_be_older(deleted));
        }
        self.written.retain(|_, written| *listed < *written);
        if !self.written.is_empty() {
            objects.retain(|object| !self.written.contains_key(&object.key()));
            self.written.retain(|key, _| stored(key).map(|object| objects.push(object)).is_some());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::item::Item;

    fn item(version: u64) -> Item {
        Item::new("web", "u", version)
    }

    fn remaining(own: &mut OwnWrites, lists: &ListLog, object: Item, listed: u64) -> usize {
        let mut objects = vec![Arc::new(object)];
        own.apply_to_list(&mut objects, &listed.into(), lists, |_| None);
        objects.len()
    }

    // Seed 139660 of the simulation: Endpoints that a restore brought back were missing in the cache for three minutes.
    #[test]
    fn a_deleted_object_in_a_list_of_the_most_recent_state_was_restored() {
        let (mut own, mut lists) = (OwnWrites::default(), ListLog::default());
        lists.begin(true);
        own.record_removal(item(5).key(), "u".into(), Some(5.into()), None, lists.begun());
        assert_eq!(remaining(&mut own, &lists, item(5), 9), 0, "requested before the delete");
        lists.begin(false);
        assert_eq!(remaining(&mut own, &lists, item(5), 9), 0, "may come from a server that lags behind");
        lists.begin(true);
        assert_eq!(remaining(&mut own, &lists, item(5), 9), 1);
        assert!(own.admits(&item(6)));
    }
}
