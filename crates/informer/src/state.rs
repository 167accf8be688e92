//! Contents of a store, and its changes.

use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard};

use kube_wire::{Object, ObjectKey, ResourceVersion};

use crate::{Event, Index, Objects, guard::Withheld, list_log::ListLog, own_writes::OwnWrites};

/// Contents of a store, shared by its writer and its listers.
pub(crate) struct State<T, X> {
    pub(crate) objects: Objects<T>,
    pub(crate) index: X,
    /// Resource version of the last list, event or bookmark that was applied; empty before the first one.
    pub(crate) resource_version: ResourceVersion,
    /// Objects that may exist although neither a list nor an event has shown them.
    pub(crate) withheld: Withheld,
    /// Whether a list was stored. Later additions are changes, not initial contents.
    pub(crate) populated: bool,
    /// Own writes that are stored and that the watch has not shown yet.
    pub(crate) own: OwnWrites,
    pub(crate) lists: ListLog,
}

/// State of a store without its objects.
pub(crate) struct StoreHead {
    pub(crate) version: ResourceVersion,
    pub(crate) populated: bool,
    /// Whether there are own deletes that the watch must show.
    pub(crate) awaits_deletes: bool,
    pub(crate) lists: ListLog,
}

/// Locks the contents of a store for reading.
///
/// An index function that panics poisons the lock. Poisoning is ignored: the panic ends the task of the informer, and
/// with it the process.
pub(crate) fn read_lock<T, X>(state: &RwLock<State<T, X>>) -> RwLockReadGuard<'_, State<T, X>> {
    state.read().unwrap_or_else(PoisonError::into_inner)
}

impl<T: Object, X: Index<T>> State<T, X> {
    /// Removes an object that an own write has deleted, or moved out of the selection: it was not selected at `deselected_at`.
    pub(crate) fn remove_own(&mut self, key: ObjectKey, deselected_at: Option<ResourceVersion>) -> Option<Event<T>> {
        let old = self.objects.remove(&key.namespace, &key.name)?;
        let version = Some(old.resource_version());
        self.own.forget_write(&key);
        self.own.record_removal(key, old.uid(), version, deselected_at, self.lists.begun());
        self.index.update(Some(&old), None);
        Some(Event::Deleted { object: old, tombstone: false })
    }

    /// Returns the events that lead from the stored objects to `objects`, which are sorted: deletions first, then the
    /// others in order. Replaces each of `objects` that is in the stored state by the stored object.
    pub(crate) fn differences(&self, objects: &mut [Arc<T>]) -> Vec<Event<T>> {
        let mut changed = Vec::new();
        let mut matched = 0;
        for new in &mut *objects {
            match self.objects.get(new.namespace(), new.name()) {
                None => changed.push(Event::Added {
                    object: new.clone(),
                    initial: !self.populated,
                    relisted: self.populated,
                }),
                Some(old) => {
                    matched += 1;
                    if Arc::ptr_eq(old, new) || same_state(&**old, &**new) {
                        *new = old.clone();
                    } else {
                        changed.push(Event::Updated { old: old.clone(), new: new.clone(), relisted: true });
                    }
                }
            }
        }
        if matched == self.objects.len() {
            return changed;
        }
        let is_missing = |old: &&Arc<T>| objects.binary_search_by(|it| key(it).cmp(&key(old))).is_err();
        let missing = self.objects.iter().filter(is_missing);
        let mut events: Vec<_> = missing.map(|old| Event::Deleted { object: old.clone(), tombstone: true }).collect();
        events.append(&mut changed);
        events
    }

    pub(crate) fn apply(&mut self, event: &Event<T>) {
        let (old, new) = event.states();
        match (old, new) {
            (_, Some(new)) => self.objects.insert(new.clone()),
            (Some(old), None) => {
                self.objects.remove(old.namespace(), old.name());
            }
            (None, None) => {}
        }
        self.index.update(old, new);
    }

    /// Stores a new state of an object in place of `old`, and returns the event. With `relisted`, there may have been
    /// further states in between.
    pub(crate) fn put(&mut self, old: Option<Arc<T>>, new: Arc<T>, relisted: bool) -> Event<T> {
        self.objects.insert(new.clone());
        self.index.update(old.as_ref(), Some(&new));
        match old {
            Some(old) => Event::Updated { old, new, relisted },
            None => Event::Added { object: new, initial: false, relisted },
        }
    }

    /// Records that a list at this version is stored. `own` are the own writes that a watch from this list will show, and
    /// `withheld` the objects that it lacks although they may exist.
    pub(crate) fn list_stored(&mut self, resource_version: ResourceVersion, own: OwnWrites, withheld: Withheld) {
        self.resource_version = resource_version;
        self.own = own;
        self.withheld = withheld;
        self.populated = true;
        self.lists.stored();
    }

    /// Forgets that this object may exist, because an event shows its state.
    pub(crate) fn forget_withheld(&mut self, shown: &T) {
        if !self.withheld.is_empty() {
            self.withheld.remove(&shown.key());
        }
    }

    pub(crate) fn advance_version(&mut self, resource_version: ResourceVersion) {
        if !resource_version.is_empty() {
            self.resource_version = resource_version;
        }
    }
}

pub(crate) fn key<T: Object>(object: &Arc<T>) -> (&str, &str) {
    (object.namespace(), object.name())
}

/// Returns whether two states of one object are equal: in uid, resource version and content. `false` without a version.
///
/// The content is compared because a version is assigned a second time after etcd is restored from a backup.
pub(crate) fn same_state<T: Object>(one: &T, other: &T) -> bool {
    let version = one.resource_version();
    !version.is_empty() && version == other.resource_version() && one.uid() == other.uid() && one.content_eq(other)
}
