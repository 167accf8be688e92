//! Read access to a store.

use std::{
    fmt,
    sync::{Arc, RwLock, RwLockReadGuard},
};

use educe::Educe;
use kube_wire::{Object, ObjectKey, ResourceVersion};

use crate::{
    NamedIndexes, Objects,
    state::{State, StoreHead, read_lock, same_state},
};

/// Read access to the store of an informer. Clones read the same store.
#[derive(Educe)]
#[educe(Clone(bound(false)))]
pub struct Lister<T, X = ()> {
    state: Arc<RwLock<State<T, X>>>,
}

impl<T: Object, X> Lister<T, X> {
    pub(crate) fn new(state: Arc<RwLock<State<T, X>>>) -> Self {
        Self { state }
    }

    /// Returns the object of this namespace and name; `None` if it is not stored. The namespace is empty for
    /// cluster-scoped objects.
    pub fn get(&self, namespace: &str, name: &str) -> Option<Arc<T>> {
        self.read(|objects, _| objects.get(namespace, name).cloned())
    }

    /// Returns all objects, ordered by namespace and name.
    pub fn list(&self) -> Vec<Arc<T>> {
        self.read(|objects, _| objects.iter().cloned().collect())
    }

    /// Returns the objects of one namespace, ordered by name.
    pub fn list_namespace(&self, namespace: &str) -> Vec<Arc<T>> {
        self.read(|objects, _| objects.namespace(namespace).cloned().collect())
    }

    /// Calls `f` with the objects and the index of one moment, and returns its result.
    ///
    /// `f` runs under the read lock of the store, on which the informer waits: it must not block, nor read the store
    /// through a lister.
    pub fn read<R>(&self, f: impl FnOnce(&Objects<T>, &X) -> R) -> R {
        let state = self.state();
        f(&state.objects, &state.index)
    }

    /// Returns the number of stored objects.
    pub fn len(&self) -> usize {
        self.read(|objects, _| objects.len())
    }

    /// Returns whether the store is empty, which it also is before the first list.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the resource version of the last list, event or bookmark that was applied to the store; empty before the
    /// first list.
    pub fn last_resource_version(&self) -> ResourceVersion {
        self.state().resource_version.clone()
    }

    /// Returns whether an object is withheld: it is not stored, others refer to it, and the lists that lack it also lack objects
    /// that exist. See [`Guard`](crate::Guard).
    ///
    /// A controller keeps what it has built for such an object, and syncs its key again after
    /// [`WITHHELD_INTERVAL`](crate::WITHHELD_INTERVAL): no event shows that a withheld object does not exist after all.
    pub fn is_withheld(&self, namespace: &str, name: &str) -> bool {
        let state = self.state();
        !state.withheld.is_empty() && state.withheld.contains_key(&ObjectKey::new(namespace, name))
    }

    /// Returns whether objects are [withheld](Self::is_withheld).
    pub fn withholds_any(&self) -> bool {
        !self.state().withheld.is_empty()
    }

    pub(crate) fn is_populated(&self) -> bool {
        self.state().populated
    }

    pub(crate) fn head(&self) -> StoreHead {
        let state = self.state();
        let (version, populated, lists) = (state.resource_version.clone(), state.populated, state.lists);
        StoreHead { version, populated, awaits_deletes: state.own.awaits_deletes(), lists }
    }

    pub(crate) fn state(&self) -> RwLockReadGuard<'_, State<T, X>> {
        read_lock(&self.state)
    }

    /// Returns the stored object if it is in the same state.
    pub(crate) fn find_same(&self, object: &T) -> Option<Arc<T>> {
        let state = self.state();
        state.objects.get(object.namespace(), object.name()).filter(|old| same_state(&***old, object)).cloned()
    }
}

impl<T: Object> Lister<T, NamedIndexes<T>> {
    /// Returns the objects with the value `name` in `index` at one moment, ordered by namespace and name. Empty if
    /// there is no such index.
    pub fn by_index(&self, index: &str, name: &str) -> Vec<Arc<T>> {
        self.read(|_, indexes| indexes.bucket(index, name).cloned().collect())
    }
}

impl<T: Object, X> fmt::Debug for Lister<T, X> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Lister").field("len", &self.len()).finish_non_exhaustive()
    }
}
