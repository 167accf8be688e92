//! Storage of objects, their index, and own writes ahead of the watch.

use std::{
    mem,
    sync::{Arc, PoisonError, RwLock, RwLockWriteGuard},
};

use kube_wire::{Object, ObjectKey, ResourceVersion};

use crate::{
    Event, Guard, Index, Lister, Objects,
    changes::Changes,
    guard::Removal,
    list_log::ListLog,
    own_writes::OwnWrites,
    state::{State, key, read_lock, same_state},
};

/// Maximum number of changes of a list that are applied in place, under one write lock, which takes microseconds. More
/// are applied to a copy, so that readers do not wait for them.
const MAX_IN_PLACE: usize = 256;

/// The writer of a store: objects and an index over them, always consistent with each other (client-go: `Indexer`).
///
/// Each change takes one short write lock; a large list is built as a copy and swapped in. Readers, which are
/// [`Lister`]s, wait for at most one change.
pub(crate) struct StoreWriter<T, X> {
    state: Arc<RwLock<State<T, X>>>,
    /// Index of no objects, from which the index of a large list is built.
    empty_index: X,
}

impl<T: Object, X: Index<T>> StoreWriter<T, X> {
    /// Returns the writer of an empty store. `index` is the index of no objects.
    pub(crate) fn new(index: X) -> Self {
        let state = State {
            objects: Objects::default(),
            index: index.clone(),
            resource_version: ResourceVersion::default(),
            is_restored: false,
            populated: false,
            own: OwnWrites::default(),
            lists: ListLog::default(),
        };
        Self { state: Arc::new(RwLock::new(state)), empty_index: index }
    }

    /// Returns a lister of the store.
    pub(crate) fn lister(&self) -> Lister<T, X> {
        Lister::new(self.state.clone())
    }

    /// Stores an object from an `ADDED` or `MODIFIED` event. Returns `None` if this state is stored already, or if it
    /// is older than an own write of the object.
    pub(crate) fn upsert(&mut self, new: Arc<T>) -> Option<Event<T>> {
        let mut state = self.write_lock();
        state.advance_version(new.resource_version());
        if !state.own.admits(&*new) {
            return None;
        }
        let old = state.objects.get(new.namespace(), new.name()).cloned();
        if old.as_ref().is_some_and(|old| same_state(&**old, &*new)) {
            return None;
        }
        Some(state.put(old, new, false))
    }

    /// Returns whether the watch shows an own create or update of an object at this version, which is stored already.
    pub(crate) fn confirm(&mut self, key: &ObjectKey, version: &ResourceVersion) -> bool {
        let mut state = self.write_lock();
        let is_own = state.own.confirm(key, version);
        if is_own {
            state.advance_version(version.clone());
        }
        is_own
    }

    /// Removes an object, given its last state from a `DELETED` event. Returns `None` if it is not stored, or if the
    /// deletion is older than an own write of the object.
    pub(crate) fn delete(&mut self, last: Arc<T>) -> Option<Event<T>> {
        let mut state = self.write_lock();
        state.advance_version(last.resource_version());
        if !state.own.admits_deletion(&*last) {
            return None;
        }
        let old = state.objects.remove(last.namespace(), last.name())?;
        state.index.update(Some(&old), None);
        Some(Event::Deleted { object: last, tombstone: false })
    }

    /// Removes an object whose last state is unknown. Returns `None` if it is not stored, or stored at a later version.
    pub(crate) fn remove_unknown(&mut self, key: &ObjectKey, version: &ResourceVersion) -> Option<Event<T>> {
        let mut state = self.write_lock();
        state.advance_version(version.clone());
        let old = state.objects.get(&key.namespace, &key.name)?;
        if old.resource_version() > *version {
            return None;
        }
        let old = state.objects.remove(&key.namespace, &key.name)?;
        state.index.update(Some(&old), None);
        Some(Event::Deleted { object: old, tombstone: true })
    }

    /// Applies a bookmark: the watch has shown all changes up to this version.
    ///
    /// Returns whether an own write is missing among them, because the server has lost it. The caller must then relist.
    pub(crate) fn bookmark(&mut self, version: &ResourceVersion) -> bool {
        let mut state = self.write_lock();
        let lost_write = state.own.bookmark(version);
        state.advance_version(version.clone());
        lost_write
    }

    /// Stores the object from the response to a create, an update, or a delete that waits for finalizers, ahead of the
    /// watch. Returns `None` if the watch or a list has shown this version or a later one already.
    ///
    /// Until the watch is at this version, its events of the object are older and are dropped. The event of the write
    /// itself changes nothing. Does nothing if the versions are not numbers, since such versions have no order.
    ///
    /// While the list of a restored server is held, lower versions are stored as well: a list can be held for hours, and
    /// each sync that does not find an object that the last one created would create it again.
    pub(crate) fn written(&mut self, new: Arc<T>) -> Option<Event<T>> {
        let mut state = self.write_lock();
        let ahead = state.resource_version < new.resource_version();
        if !(ahead || state.is_restored) || !state.populated {
            return None;
        }
        let old = state.objects.get(new.namespace(), new.name()).cloned();
        if old.as_ref().is_some_and(|old| new.resource_version() <= old.resource_version()) {
            return None;
        }
        state.own.record_write(new.key(), new.resource_version());
        // Of the states between the restore and this one, none is delivered.
        Some(state.put(old, new, !ahead))
    }

    /// Removes an object that the server has deleted on request of this process, ahead of the watch. Returns `None` if
    /// no object of this name and uid is stored.
    ///
    /// Until the watch shows the deletion, states of the object in events and lists are dropped. A list of the most
    /// recent state that was requested after the deletion is the exception: it shows the object only if etcd was
    /// restored.
    pub(crate) fn deleted(&mut self, deleted: &T) -> Option<Event<T>> {
        let mut state = self.write_lock();
        let stored = state.objects.get(deleted.namespace(), deleted.name())?;
        if stored.uid() != deleted.uid() {
            return None;
        }
        let old = state.objects.remove(deleted.namespace(), deleted.name())?;
        let begun = state.lists.begun();
        state.own.record_delete(&*old, begun);
        state.index.update(Some(&old), None);
        Some(Event::Deleted { object: old, tombstone: false })
    }

    /// Records that a list is requested. With `most_recent`, the server reads it from etcd.
    pub(crate) fn list_requested(&mut self, most_recent: bool) {
        self.write_lock().lists.begin(most_recent);
    }

    /// Replaces all objects by a list, and returns the changes. Of several objects of one name, the last is stored.
    ///
    /// An object in the state that is stored already causes no event. Own writes that are newer than the list are kept.
    /// A list at a version below that of the store means that etcd was restored from a backup: the records of own writes
    /// from before the restore are dropped.
    ///
    /// # Errors
    ///
    /// [`Removal`] if the list exceeds the guard. The objects are unchanged.
    pub(crate) fn replace(
        &mut self,
        mut objects: Vec<Arc<T>>,
        resource_version: ResourceVersion,
        guard: Option<&Guard<T>>,
    ) -> Result<Changes<T>, Removal> {
        // There is one writer, so the state is the same under the next lock. Readers proceed in between.
        let state = read_lock(&self.state);
        let is_restored = resource_version < state.resource_version;
        let mut own = match (is_restored, state.is_restored) {
            (false, _) => state.own.clone(),
            (true, true) => state.own.written_up_to(&state.resource_version),
            (true, false) => OwnWrites::default(),
        };
        own.apply_to_list(&mut objects, &resource_version, &state.lists, |key| {
            state.objects.get(&key.namespace, &key.name).cloned()
        });
        objects.sort_by(|a, b| key(a).cmp(&key(b)));
        objects.dedup_by(|later, earlier| {
            let same = key(later) == key(earlier);
            if same {
                mem::swap(later, earlier);
            }
            same
        });
        let (first, was_empty) = (!state.populated, state.objects.is_empty());
        let differences = if was_empty && first { Vec::new() } else { state.differences(&mut objects) };
        let removal = guard.filter(|_| !first).and_then(|guard| guard.check(&state.objects, &differences));
        drop(state);
        if let Some(removal) = removal {
            self.write_lock().list_held(is_restored);
            return Err(removal);
        }

        if !was_empty && differences.len() <= MAX_IN_PLACE {
            let mut state = self.write_lock();
            for event in &differences {
                state.apply(event);
            }
            state.list_stored(resource_version, own);
        } else {
            let mut index = self.empty_index.clone();
            for object in &objects {
                index.update(None, Some(object));
            }
            let mut next: Objects<T> = objects.iter().cloned().collect();
            let mut state = self.write_lock();
            mem::swap(&mut state.objects, &mut next);
            mem::swap(&mut state.index, &mut index);
            state.list_stored(resource_version, own);
            drop(state);
            // Freed after the lock is released, since freeing many objects takes long.
            drop((next, index));
        }
        Ok(if was_empty && first { Changes::initial(objects) } else { Changes::differences(differences) })
    }

    fn write_lock(&mut self) -> RwLockWriteGuard<'_, State<T, X>> {
        self.state.write().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use kube_wire::Uid;
    use rstest::rstest;

    use super::*;

    #[derive(Debug)]
    struct Item {
        name: &'static str,
        version: u64,
    }

    impl Object for Item {
        fn namespace(&self) -> &'static str {
            "shop"
        }
        fn name(&self) -> &str {
            self.name
        }
        fn uid(&self) -> Uid {
            self.name.into()
        }
        fn resource_version(&self) -> ResourceVersion {
            self.version.into()
        }
    }

    fn item(name: &'static str, version: u64) -> Arc<Item> {
        Arc::new(Item { name, version })
    }

    /// The store is at version 90 with an own write at 80 that the server has lost and one at 95. Then a list at version
    /// 5 is held, and own writes at 6 and 8 follow.
    #[rstest]
    #[case::restored(7, &["listed@6", "own@8"])]
    #[case::restored_and_all_shown(9, &["listed@6"])]
    #[case::not_restored(92, &["listed@6", "unshown@95"])]
    fn own_writes_while_the_list_of_a_restored_server_is_held(#[case] version: u64, #[case] expected: &[&str]) {
        let guard = Guard { minimum: 0, ..Guard::default() };
        let mut store = StoreWriter::new(());
        let stored = store.lister();
        assert!(store.replace(vec![item("a", 3), item("b", 4)], 70.into(), None).is_ok());
        assert!(store.written(item("lost", 80)).is_some());
        assert!(store.bookmark(&90.into()));
        assert!(store.written(item("unshown", 95)).is_some());
        assert!(store.written(item("own", 6)).is_none(), "shown by the watch");

        assert!(store.replace(vec![], 5.into(), Some(&guard)).is_err());
        assert!(store.written(item("listed", 6)).is_some_and(|event| event.is_from_list()));
        assert!(store.written(item("own", 8)).is_some());
        assert!(store.written(item("own", 7)).is_none(), "an older state");
        assert!(!stored.has_reached(&8.into()), "nor any other version");

        assert!(store.replace(vec![item("listed", 6)], version.into(), None).is_ok());
        let objects: Vec<_> = stored.list().iter().map(|it| format!("{}@{}", it.name, it.version)).collect();
        assert_eq!(objects, expected);
        assert!(stored.has_reached(&version.into()));
        assert!(store.written(item("own", 1)).is_none(), "shown by the list");
    }
}
