//! The copy of the cluster's objects.

use std::{
    mem,
    sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard},
};

use kube_wire::{Object, ResourceVersion};

use crate::{Event, Objects, UpdateIndex};

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
    /// A list has been stored; what comes from now on is news.
    populated: bool,
}

impl<T: Object, X: Clone> Store<T, X> {
    /// An empty store. `index` is the index of no objects; `update` keeps it up to date.
    pub fn new(index: X, update: UpdateIndex<T, X>) -> Self {
        let (objects, resource_version) = (Objects::default(), ResourceVersion::default());
        let state = State { objects, index: index.clone(), resource_version, populated: false };
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
        let old = state.objects.get(new.namespace(), new.name()).cloned();
        if old.as_ref().is_some_and(|old| same_state(&**old, &*new)) {
            return None;
        }
        state.objects.insert(new.clone());
        (self.update)(&mut state.index, old.as_ref(), Some(&new));
        Some(match old {
            Some(old) => Event::Updated { old, new },
            None => Event::Added { object: new, initial: false },
        })
    }

    /// Removes an object, given its last state; `None` if it is not there.
    pub fn delete(&self, last: Arc<T>) -> Option<Event<T>> {
        let mut state = self.locked_to_write();
        state.note(last.resource_version());
        let old = state.objects.remove(last.namespace(), last.name())?;
        (self.update)(&mut state.index, Some(&old), None);
        Some(Event::Deleted { object: last, tombstone: false })
    }

    /// Notes that nothing else changed up to this version.
    pub fn bookmark(&self, resource_version: &str) {
        self.locked_to_write().note(resource_version.into());
    }

    /// Replaces all objects at once and returns the differences: deletions first, then the rest in the order of keys.
    ///
    /// An object that is stored already in the same state stays as it is and causes no event.
    pub fn replace(&self, objects: impl IntoIterator<Item = Arc<T>>, resource_version: &str) -> Vec<Event<T>> {
        let mut next: Objects<T> = objects.into_iter().collect();
        let mut index = self.pristine.clone();
        let mut events = Vec::new();

        // As there is one writer only, the state cannot change between this lock and the next; meanwhile others may read.
        let state = self.locked();
        for old in state.objects.iter() {
            if next.get(old.namespace(), old.name()).is_none() {
                events.push(Event::Deleted { object: old.clone(), tombstone: true });
            }
        }
        next.update_in_order(|new| {
            match state.objects.get(new.namespace(), new.name()) {
                Some(old) if same_state(&**old, &**new) => *new = old.clone(),
                Some(old) => events.push(Event::Updated { old: old.clone(), new: new.clone() }),
                None => events.push(Event::Added { object: new.clone(), initial: !state.populated }),
            }
            (self.update)(&mut index, None, Some(new));
        });
        drop(state);

        let resource_version = resource_version.into();
        let next = State { objects: next, index, resource_version, populated: true };
        let previous = mem::replace(&mut *self.locked_to_write(), next);
        // Freeing many objects takes a while; the lock is released by now.
        drop(previous);
        events
    }

    // A panic of an index function poisons the lock; the panic itself ends the process, through the task it ends.
    fn locked(&self) -> RwLockReadGuard<'_, State<T, X>> {
        self.state.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn locked_to_write(&self) -> RwLockWriteGuard<'_, State<T, X>> {
        self.state.write().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T, X> State<T, X> {
    fn note(&mut self, resource_version: ResourceVersion) {
        if !resource_version.is_empty() {
            self.resource_version = resource_version;
        }
    }
}

/// Versions are opaque, but equal ones of one object mean equal states. Without a version, nothing is known.
fn same_state<T: Object>(one: &T, other: &T) -> bool {
    let version = one.resource_version();
    !version.is_empty() && version == other.resource_version() && one.uid() == other.uid()
}
