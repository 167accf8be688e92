//! Storage of objects, their index, and own writes ahead of the watch.

use std::{
    collections::HashMap,
    mem,
    sync::{Arc, PoisonError, RwLock, RwLockWriteGuard},
};

use kube_wire::{Object, ObjectKey, ResourceVersion, Uid};

use crate::{
    Event, Index, Lister, Objects,
    changes::Changes,
    guard::{self, Missing, Reference, Withheld},
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
    /// Own writes before the first list, which may be older.
    early: HashMap<ObjectKey, Arc<T>>,
}

impl<T: Object, X: Index<T>> StoreWriter<T, X> {
    /// Returns the writer of an empty store. `index` is the index of no objects; `is_selecting` tells whether the informer has
    /// selectors.
    pub(crate) fn new(index: X, is_selecting: bool) -> Self {
        let state = State {
            objects: Objects::default(),
            index: index.clone(),
            resource_version: ResourceVersion::default(),
            withheld: Withheld::default(),
            populated: false,
            own: OwnWrites::new(is_selecting),
            lists: ListLog::default(),
        };
        Self { state: Arc::new(RwLock::new(state)), empty_index: index, early: HashMap::new() }
    }

    pub(crate) fn lister(&self) -> Lister<T, X> {
        Lister::new(self.state.clone())
    }

    /// Stores an object from an `ADDED` or `MODIFIED` event. Returns `None` if this state is stored already, or if it
    /// is older than an own write of the object.
    pub(crate) fn upsert(&mut self, new: Arc<T>) -> Option<Event<T>> {
        let mut state = self.write_lock();
        state.advance_version(new.resource_version());
        state.forget_withheld(&*new);
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
        state.forget_withheld(&*last);
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
        state.withheld.remove(key);
        let old = state.objects.get(&key.namespace, &key.name)?;
        if old.resource_version() > *version {
            return None;
        }
        let old = state.objects.remove(&key.namespace, &key.name)?;
        state.index.update(Some(&old), None);
        Some(Event::Deleted { object: old, tombstone: true })
    }

    /// Records that the watch is at this version.
    pub(crate) fn advance(&mut self, version: &ResourceVersion) {
        self.write_lock().advance_version(version.clone());
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
    /// itself changes nothing. Does nothing if the versions are not numbers, since such versions have no order, and for an
    /// object that was deleted since, whose response was faster. Before the first list, the object is stored with it.
    pub(crate) fn written(&mut self, new: Arc<T>) -> Option<Event<T>> {
        // Not `write_lock`, which borrows the whole writer.
        let mut state = self.state.write().unwrap_or_else(PoisonError::into_inner);
        let ahead = state.resource_version < new.resource_version();
        if state.own.has_deleted(&*new) {
            return None;
        }
        if !state.populated {
            let is_newer = |known: &Arc<T>| known.resource_version() < new.resource_version();
            if self.early.get(&new.key()).is_none_or(is_newer) {
                state.own.record_write(new.key(), new.resource_version());
                self.early.insert(new.key(), new);
            }
            return None;
        }
        if !ahead {
            return None;
        }
        let old = state.objects.get(new.namespace(), new.name()).cloned();
        if old.as_ref().is_some_and(|old| new.resource_version() <= old.resource_version()) {
            return None;
        }
        state.own.record_write(new.key(), new.resource_version());
        state.forget_withheld(&*new);
        Some(state.put(old, new, false))
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
        state.remove_own(deleted.key(), None)
    }

    /// Removes the object with this uid, if it is stored, because an own write has deleted it or moved it out of the selection:
    /// it was not selected at `deselected_at`. Keeps a later state, and another object of this name. An empty uid matches the stored
    /// object of this name or, before the first list, that of an own write.
    ///
    /// States of the object that the watch has not shown yet are dropped, as by [`deleted`](Self::deleted), also if neither this nor
    /// another object of its name is stored.
    #[cfg(any(test, feature = "runtime"))]
    pub(crate) fn gone(
        &mut self,
        key: ObjectKey,
        mut uid: Uid,
        deselected_at: Option<ResourceVersion>,
    ) -> Option<Event<T>> {
        let mut state = self.state.write().unwrap_or_else(PoisonError::into_inner);
        let lists = state.lists.begun();
        let stored = state.objects.get(&key.namespace, &key.name);
        let (is_stored, mut is_other) = (stored.is_some(), false);
        if let Some(known) = stored.or_else(|| self.early.get(&key)) {
            if deselected_at.as_ref().is_some_and(|at| *at < known.resource_version()) {
                return None;
            }
            if uid.is_empty() {
                uid = known.uid();
            }
            is_other = known.uid() != uid;
        }
        if is_stored {
            return if is_other { None } else { state.remove_own(key, deselected_at) };
        }
        let mut version = None;
        if !is_other {
            state.own.forget_write(&key);
            version = self.early.remove(&key).map(|early| early.resource_version());
        }
        state.own.record_removal(key, uid, version, deselected_at, lists);
        None
    }

    /// Records that a list is requested. With `most_recent`, the server reads it from etcd.
    pub(crate) fn list_requested(&mut self, most_recent: bool) {
        self.write_lock().lists.begin(most_recent);
    }

    /// Records objects that may exist although the store has none of their names, because references name them. Those
    /// that it has by now are left out. Returns whether any remain.
    ///
    /// Objects of earlier calls stay withheld. References to one name with different uids withhold every object of it.
    pub(crate) fn withhold(&mut self, references: &[Reference]) -> bool {
        let mut state = self.write_lock();
        let State { objects, withheld, .. } = &mut *state;
        let mut any = false;
        for Reference { key, uid } in references {
            if objects.get(&key.namespace, &key.name).is_some() {
                continue;
            }
            any = true;
            let known = withheld.entry(key.clone()).or_insert_with(|| uid.clone());
            if known != uid {
                *known = Uid::default();
            }
        }
        any
    }

    /// Replaces all objects by a list, and returns the changes. Of several objects of one name, the last is stored.
    ///
    /// An object in the state that is stored already causes no event. Own writes that are newer than the list are kept.
    /// A list at a version below that of the store means that etcd was restored from a backup: the records of own writes
    /// from before the restore are dropped.
    ///
    /// # Errors
    ///
    /// The objects that the list lacks, in order, if there are more than `treatment` allows. The store is unchanged.
    pub(crate) fn replace(
        &mut self,
        mut objects: Vec<Arc<T>>,
        resource_version: ResourceVersion,
        treatment: Missing,
    ) -> Result<Changes<T>, Vec<Reference>> {
        // There is one writer, so the state is the same under the next lock. Readers proceed in between.
        let state = read_lock(&self.state);
        let mut own = if resource_version < state.resource_version { state.own.cleared() } else { state.own.clone() };
        own.apply_to_list(&mut objects, &resource_version, &state.lists, |key| {
            state.objects.get(&key.namespace, &key.name).or_else(|| self.early.get(key)).cloned()
        });
        sort_and_dedup(&mut objects);
        let first = !state.populated;
        let was_empty = state.objects.is_empty();
        let mut differences = if was_empty && first { Vec::new() } else { state.differences(&mut objects) };
        let lists =
            |name: &ObjectKey| objects.binary_search_by(|it| key(it).cmp(&(&*name.namespace, &*name.name))).is_ok();
        let mut withheld = Withheld::default();
        match treatment {
            Missing::AtMost(limit) => {
                let missing = guard::missing(&differences, &state.withheld, lists);
                if missing.len() > limit {
                    return Err(missing);
                }
            }
            Missing::Remove => {}
            Missing::Keep => {
                withheld = state.withheld.clone();
                withheld.retain(|name, _| !lists(name));
                objects.extend(guard::removed(&differences).cloned());
                objects.sort_by(|a, b| key(a).cmp(&key(b)));
                differences.retain(|change| change.states().1.is_some());
            }
        }
        drop(state);

        if !was_empty && differences.len() <= MAX_IN_PLACE {
            let mut state = self.write_lock();
            for event in &differences {
                state.apply(event);
            }
            state.list_stored(resource_version, own, withheld);
        } else {
            let mut index = self.empty_index.clone();
            for object in &objects {
                index.update(None, Some(object));
            }
            let mut next: Objects<T> = objects.iter().cloned().collect();
            let mut state = self.write_lock();
            mem::swap(&mut state.objects, &mut next);
            mem::swap(&mut state.index, &mut index);
            state.list_stored(resource_version, own, withheld);
            drop(state);
            // Freed after the lock is released, since freeing many objects takes long.
            drop((next, index));
        }
        self.early = HashMap::new();
        Ok(if was_empty && first { Changes::initial(objects) } else { Changes::differences(differences) })
    }

    fn write_lock(&mut self) -> RwLockWriteGuard<'_, State<T, X>> {
        self.state.write().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Sorts objects by namespace and name, and keeps the last of each name.
fn sort_and_dedup<T: Object>(objects: &mut Vec<Arc<T>>) {
    objects.sort_by(|a, b| key(a).cmp(&key(b)));
    objects.dedup_by(|later, earlier| {
        let same = key(later) == key(earlier);
        if same {
            mem::swap(later, earlier);
        }
        same
    });
}

#[cfg(test)]
mod tests;
