//! Own writes that the watch has not shown yet: which events and listed objects are older than them.

use std::{
    cmp::Ordering,
    collections::{HashMap, HashSet},
    sync::Arc,
};

use kube_wire::{Object, ObjectKey, ResourceVersion, Uid};

/// Bookmarks that may pass without the event of an own delete. Servers send one a minute.
const BOOKMARKS_TO_WAIT: u8 = 2;

/// Own writes between the answer of the server and the event of the watch.
///
/// The store holds their outcome already. Everything older that the watch or a list still brings is dropped. The entries are
/// few: they live for the time between an answer and its event.
#[derive(Debug, Default)]
pub(crate) struct OwnWrites {
    /// The version that the server answered, by object. The store holds the object at this version.
    written: HashMap<ObjectKey, ResourceVersion>,
    /// The objects that the server deleted, by name.
    deleted: HashMap<ObjectKey, Deleted>,
}

#[derive(Debug)]
struct Deleted {
    uid: Uid,
    /// The last known version of the object.
    version: ResourceVersion,
    bookmarks: u8,
    /// A list of the most recent state was requested after the answer to the delete, and is not complete yet.
    listing: bool,
}

impl Deleted {
    /// Whether a state of an object of this name is older than the delete.
    fn is_newer_than(&self, state: &impl Object) -> bool {
        state.uid() == self.uid || state.resource_version() < self.version
    }
}

impl OwnWrites {
    /// Forgets everything, because the history of the server was rewritten.
    pub(crate) fn clear(&mut self) {
        *self = Self::default();
    }

    /// Notes that a create or update was answered with this version and put into the store.
    pub(crate) fn wrote(&mut self, key: ObjectKey, version: ResourceVersion) {
        self.written.insert(key, version);
    }

    /// Notes that a delete was answered and the object taken out of the store.
    pub(crate) fn deleted(&mut self, object: &impl Object) {
        let (uid, version) = (object.uid(), object.resource_version());
        self.written.remove(&object.key());
        if !uid.is_empty() {
            self.deleted.insert(object.key(), Deleted { uid, version, bookmarks: 0, listing: false });
        }
    }

    /// Whether the stored state of this object is an own write that the watch has not shown yet.
    pub(crate) fn is_unconfirmed(&self, key: &ObjectKey) -> bool {
        self.written.contains_key(key)
    }

    /// Whether a state that the watch shows is newer than the own writes of the object, and so belongs into the store.
    pub(crate) fn admits(&mut self, object: &impl Object) -> bool {
        if self.deleted.is_empty() && self.written.is_empty() {
            return true;
        }
        let key = object.key();
        if self.deleted.get(&key).is_some_and(|deleted| deleted.is_newer_than(object)) {
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

    /// Whether a deletion that the watch shows is newer than the own writes of the object, and so concerns the store.
    pub(crate) fn admits_deletion(&mut self, last: &impl Object) -> bool {
        if self.deleted.is_empty() && self.written.is_empty() {
            return true;
        }
        let key = last.key();
        if let Some(deleted) = self.deleted.get(&key).filter(|deleted| deleted.is_newer_than(last)) {
            if deleted.uid == last.uid() {
                self.deleted.remove(&key);
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

    /// Takes in that the watch has shown everything up to `version`; returns whether that contradicts an own write.
    ///
    /// The watch shows changes in the order of their versions, so a write up to `version` must have been shown by now. One that
    /// was not is lost on the server (restored from a backup, say), and the store must be listed again.
    pub(crate) fn bookmark(&mut self, version: &ResourceVersion) -> bool {
        let lost_write = self.written.values().any(|written| written <= version);
        let mut lost_delete = false;
        self.deleted.retain(|_, deleted| {
            deleted.bookmarks += 1;
            let overdue = deleted.bookmarks > BOOKMARKS_TO_WAIT;
            lost_delete |= overdue;
            !overdue
        });
        lost_write || lost_delete
    }

    /// Returns whether the watch has not shown all own deletes yet.
    pub(crate) fn awaits_deletes(&self) -> bool {
        !self.deleted.is_empty()
    }

    /// Notes the request of a list. `most_recent`: the server reads it from its store, so that it contains all acknowledged writes.
    pub(crate) fn list_requested(&mut self, most_recent: bool) {
        self.deleted.values_mut().for_each(|deleted| deleted.listing = most_recent);
    }

    /// Corrects a complete list by the own writes that are newer than it. `stored` finds what the store holds.
    ///
    /// What remains noted afterwards is what the watch from this list will still show. A list may come from a server that lags
    /// behind, so one that shows a deleted object is taken to be older than the delete. A list of the most recent state is not: if it
    /// shows the object, the store of the server was restored from a backup.
    pub(crate) fn correct<T: Object>(
        &mut self,
        objects: &mut Vec<Arc<T>>,
        listed: &ResourceVersion,
        stored: impl Fn(&ObjectKey) -> Option<Arc<T>>,
    ) {
        if !self.deleted.is_empty() {
            self.deleted.retain(|_, deleted| !deleted.listing);
            let mut shown = HashSet::new();
            objects.retain(|object| {
                let key = object.key();
                let gone = self.deleted.get(&key).is_some_and(|deleted| deleted.is_newer_than(&**object));
                if gone {
                    shown.insert(key);
                }
                !gone
            });
            // A list that is newer than the object and does not show it is newer than the delete: no event will follow.
            self.deleted.retain(|key, deleted| shown.contains(key) || *listed <= deleted.version);
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

    struct Item {
        uid: &'static str,
        version: u64,
    }

    impl Object for Item {
        fn namespace(&self) -> &'static str {
            "shop"
        }
        fn name(&self) -> &'static str {
            "web"
        }
        fn uid(&self) -> Uid {
            self.uid.into()
        }
        fn resource_version(&self) -> ResourceVersion {
            self.version.into()
        }
    }

    fn corrected(own: &mut OwnWrites, object: Item, listed: u64) -> usize {
        let mut objects = vec![Arc::new(object)];
        own.correct(&mut objects, &listed.into(), |_| None);
        objects.len()
    }

    // Seed 139660 of the simulation: Endpoints that a restore brought back stayed out of the cache for three minutes.
    #[test]
    fn a_deleted_object_in_a_list_of_the_most_recent_state_was_restored() {
        let mut own = OwnWrites::default();
        own.list_requested(true);
        own.deleted(&Item { uid: "u", version: 5 });
        assert_eq!(corrected(&mut own, Item { uid: "u", version: 5 }, 9), 0, "requested before the delete");
        own.list_requested(false);
        assert_eq!(corrected(&mut own, Item { uid: "u", version: 5 }, 9), 0, "may come from a server that lags behind");
        own.list_requested(true);
        assert_eq!(corrected(&mut own, Item { uid: "u", version: 5 }, 9), 1);
        assert!(own.admits(&Item { uid: "u", version: 6 }));
    }
}
