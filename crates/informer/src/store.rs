//! The copy of the cluster's objects.

use std::{
    mem,
    sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard},
};

use kube_ambient::{Defect, is_enabled};
use kube_wire::{Object, ObjectKey, ResourceVersion};

use crate::{Changes, Event, Objects, UpdateIndex, own_writes::OwnWrites};

/// Up to so many changes of a list are applied under one lock, which is a matter of microseconds. More are applied to a copy,
/// so that readers need not wait.
const AT_ONCE: usize = 256;

/// Objects and an index over them, always consistent with each other.
///
/// Each change is one short write lock, a replacement of everything is a swap: readers wait for one change at most. Changes must
/// come from one writer at a time; an [`Informer`](crate::Informer) sees to that.
#[derive(Debug)]
pub struct Store<T, X = ()> {
    state: RwLock<State<T, X>>,
    /// The index of no objects, from which a replacement starts.
    pristine: X,
    update: UpdateIndex<T, X>,
}

#[derive(Debug)]
struct State<T, X> {
    objects: Objects<T>,
    index: X,
    resource_version: ResourceVersion,
    /// The initial list is in the store; later events are changes.
    populated: bool,
    /// Outcomes of own writes that are in the store ahead of the watch.
    own: OwnWrites,
}

impl<T: Object, X: Clone> Store<T, X> {
    /// An empty store. `index` is the index of no objects; `update` keeps it up to date.
    pub fn new(index: X, update: UpdateIndex<T, X>) -> Self {
        let state = State {
            objects: Objects::default(),
            index: index.clone(),
            resource_version: ResourceVersion::default(),
            populated: false,
            own: OwnWrites::default(),
        };
        Self { state: RwLock::new(state), pristine: index, update }
    }

    /// Looks at objects and index as they are at one moment. The writer waits meanwhile: be quick.
    pub fn read<R>(&self, look: impl FnOnce(&Objects<T>, &X) -> R) -> R {
        let state = self.locked();
        look(&state.objects, &state.index)
    }

    /// The version of the newest change (or bookmark) in the store; empty before the first list.
    pub fn last_resource_version(&self) -> ResourceVersion {
        self.locked().resource_version.clone()
    }

    /// Whether a list has been stored.
    pub fn is_populated(&self) -> bool {
        self.locked().populated
    }

    /// Stores a new state of an object; `None` if it is the state that is stored already.
    pub fn upsert(&self, new: Arc<T>) -> Option<Event<T>> {
        let mut state = self.locked_to_write();
        state.note(new.resource_version());
        if !state.own.admits(&*new) {
            return None;
        }
        let old = state.objects.get(new.namespace(), new.name()).cloned();
        if old.as_ref().is_some_and(|old| same_state(&**old, &*new)) {
            return None;
        }
        Some(state.put(old, new, self.update))
    }

    /// Removes an object, given its last state; `None` if it is not there, or a newer own write has replaced it.
    pub fn delete(&self, last: Arc<T>) -> Option<Event<T>> {
        let mut state = self.locked_to_write();
        state.note(last.resource_version());
        if !state.own.admits_deletion(&*last) {
            return None;
        }
        let old = state.objects.remove(last.namespace(), last.name())?;
        (self.update)(&mut state.index, Some(&old), None);
        Some(Event::Deleted { object: last, tombstone: false })
    }

    /// Returns the stored object of this name.
    pub(crate) fn get(&self, key: &ObjectKey) -> Option<Arc<T>> {
        self.locked().objects.get(&key.namespace, &key.name).cloned()
    }

    /// Removes an object whose last state is not known; `None` if it is not there, or there in a later version.
    pub(crate) fn forget(&self, key: &ObjectKey, version: &ResourceVersion) -> Option<Event<T>> {
        let mut state = self.locked_to_write();
        state.note(version.clone());
        let old = state.objects.get(&key.namespace, &key.name)?;
        if old.resource_version() > *version {
            return None;
        }
        let old = state.objects.remove(&key.namespace, &key.name)?;
        (self.update)(&mut state.index, Some(&old), None);
        Some(Event::Deleted { object: old, tombstone: true })
    }

    /// Notes that nothing else changed up to this version.
    ///
    /// Returns whether this contradicts an own write: the watch should have shown it by now and did not. The store has to be
    /// replaced by a list then.
    pub fn bookmark(&self, resource_version: &str) -> bool {
        let version = ResourceVersion::from(resource_version);
        let mut state = self.locked_to_write();
        let contradicted = state.own.bookmark(&version);
        state.note(version);
        contradicted
    }

    /// Stores the object that the server answered to a create or update, or to a delete that waits for finalizers, ahead of the
    /// watch. `None` if the watch or a list has shown this version, or a later one, already.
    ///
    /// Until the watch arrives at this version, what it shows of the object is older and is dropped. The event of the write
    /// itself changes nothing any more. Versions that are no numbers have no order: such an answer is left to the watch.
    pub fn written(&self, new: Arc<T>) -> Option<Event<T>> {
        let mut state = self.locked_to_write();
        let ahead = state.resource_version < new.resource_version();
        if !ahead || !state.populated {
            return None;
        }
        let old = state.objects.get(new.namespace(), new.name()).cloned();
        if old.as_ref().is_some_and(|old| new.resource_version() <= old.resource_version()) {
            return None;
        }
        state.own.wrote(new.key(), new.resource_version());
        Some(state.put(old, new, self.update))
    }

    /// Removes an object that the server has deleted at our request, ahead of the watch; `None` if the store does not hold this
    /// very object.
    ///
    /// Until the watch shows the deletion, what it or a list still shows of the object is dropped.
    pub fn deleted(&self, deleted: &T) -> Option<Event<T>> {
        let mut state = self.locked_to_write();
        let stored = state.objects.get(deleted.namespace(), deleted.name())?;
        if stored.uid() != deleted.uid() {
            return None;
        }
        let old = state.objects.remove(deleted.namespace(), deleted.name())?;
        state.own.deleted(&*old);
        (self.update)(&mut state.index, Some(&old), None);
        Some(Event::Deleted { object: old, tombstone: false })
    }

    /// Whether the stored state of an object is an own write that the watch has not shown yet.
    pub fn is_unconfirmed(&self, object: &T) -> bool {
        self.locked().own.is_unconfirmed(&object.key())
    }

    /// Returns whether the watch has not shown all own deletes yet.
    pub(crate) fn awaits_deletes(&self) -> bool {
        self.locked().own.awaits_deletes()
    }

    /// Notes the request of a list; see [`OwnWrites::list_requested`].
    pub(crate) fn list_requested(&self, most_recent: bool) {
        self.locked_to_write().own.list_requested(most_recent);
    }

    /// The stored object, if this is the same state of it.
    pub(crate) fn known(&self, object: &T) -> Option<Arc<T>> {
        let state = self.locked();
        state.objects.get(object.namespace(), object.name()).filter(|old| same_state(&***old, object)).cloned()
    }

    /// Replaces all objects at once and returns what that changed. The last of several objects of one name counts.
    ///
    /// An object that is stored already in the same state stays as it is and causes no event. A list that is older than an own
    /// write does not undo it. A list that is older than what the watch has shown comes from a server that was restored from a
    /// backup: it is taken as it is, and own writes are forgotten.
    pub fn replace(&self, mut objects: Vec<Arc<T>>, resource_version: &str) -> Changes<T> {
        let resource_version = ResourceVersion::from(resource_version);
        {
            let mut state = self.locked_to_write();
            let State { objects: stored, own, resource_version: seen, .. } = &mut *state;
            if resource_version < *seen {
                own.clear();
            } else {
                own.correct(&mut objects, &resource_version, |key| stored.get(&key.namespace, &key.name).cloned());
            }
        }
        objects.sort_by(|a, b| key(a).cmp(&key(b)));
        objects.dedup_by(|later, kept| {
            let same = key(later) == key(kept);
            if same {
                mem::swap(later, kept);
            }
            same
        });
        // As there is one writer only, the state cannot change between this lock and the next; meanwhile others may read.
        let state = self.locked();
        let (first, none_before) = (!state.populated, state.objects.is_empty());
        let differences = if none_before && first { Vec::new() } else { state.differences(&mut objects) };
        drop(state);

        if !none_before && differences.len() <= AT_ONCE {
            let mut state = self.locked_to_write();
            for event in &differences {
                state.apply(event, self.update);
            }
            (state.resource_version, state.populated) = (resource_version, true);
        } else {
            let mut index = self.pristine.clone();
            for object in &objects {
                (self.update)(&mut index, None, Some(object));
            }
            let mut next: Objects<T> = objects.iter().cloned().collect();
            let mut state = self.locked_to_write();
            mem::swap(&mut state.objects, &mut next);
            mem::swap(&mut state.index, &mut index);
            (state.resource_version, state.populated) = (resource_version, true);
            drop(state);
            // Freeing many objects takes a while; the lock is released by now.
            drop((next, index));
        }
        if none_before && first { Changes::initial(objects) } else { Changes::differences(differences) }
    }

    // A panic of an index function poisons the lock; the panic itself ends the process, through the task it ends.
    fn locked(&self) -> RwLockReadGuard<'_, State<T, X>> {
        self.state.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn locked_to_write(&self) -> RwLockWriteGuard<'_, State<T, X>> {
        self.state.write().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T: Object, X> State<T, X> {
    /// What has to happen to come from the stored objects to these, which are sorted: deletions, then the rest in order.
    /// Stored objects take the place of those that are in the same state.
    fn differences(&self, objects: &mut [Arc<T>]) -> Vec<Event<T>> {
        let mut changed = Vec::new();
        let mut kept = 0;
        for new in &mut *objects {
            match self.objects.get(new.namespace(), new.name()) {
                None => changed.push(Event::Added {
                    object: new.clone(),
                    initial: !self.populated,
                    relisted: self.populated,
                }),
                Some(old) => {
                    kept += 1;
                    if Arc::ptr_eq(old, new) || same_state(&**old, &**new) {
                        *new = old.clone();
                    } else {
                        changed.push(Event::Updated { old: old.clone(), new: new.clone(), relisted: true });
                    }
                }
            }
        }
        if kept == self.objects.len() {
            return changed;
        }
        let gone = |old: &&Arc<T>| objects.binary_search_by(|it| key(it).cmp(&key(old))).is_err();
        let gone = self.objects.iter().filter(gone);
        let mut events: Vec<_> = gone.map(|old| Event::Deleted { object: old.clone(), tombstone: true }).collect();
        events.append(&mut changed);
        events
    }

    fn apply(&mut self, event: &Event<T>, update: UpdateIndex<T, X>) {
        let (old, new) = event.states();
        match (old, new) {
            (_, Some(new)) => self.objects.insert(new.clone()),
            (Some(old), None) => drop(self.objects.remove(old.namespace(), old.name())),
            (None, None) => {}
        }
        update(&mut self.index, old, new);
    }

    /// Stores a new state of an object in place of `old`.
    fn put(&mut self, old: Option<Arc<T>>, new: Arc<T>, update: UpdateIndex<T, X>) -> Event<T> {
        self.objects.insert(new.clone());
        update(&mut self.index, old.as_ref(), Some(&new));
        match old {
            Some(old) => Event::Updated { old, new, relisted: false },
            None => Event::Added { object: new, initial: false, relisted: false },
        }
    }

    fn note(&mut self, resource_version: ResourceVersion) {
        if !resource_version.is_empty() {
            self.resource_version = resource_version;
        }
    }
}

fn key<T: Object>(object: &Arc<T>) -> (&str, &str) {
    (object.namespace(), object.name())
}

/// Equal versions of one object mean equal states, unless the server was restored from a backup and counts them again: so the
/// content is compared as well. Without a version, nothing is known.
fn same_state<T: Object>(one: &T, other: &T) -> bool {
    let version = one.resource_version();
    let is_same = !version.is_empty() && version == other.resource_version() && one.uid() == other.uid();
    is_same && (is_enabled(Defect::EqualVersionsEqualContent) || one.content_eq(other))
}
