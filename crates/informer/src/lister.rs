//! The reader's view of a store.

use std::{fmt, sync::Arc};

use kube_wire::{Object, ResourceVersion};

use crate::{LabelSelector, NamedIndexes, Objects, Store};

/// Looks at what an informer has stored. Clones look at the same store.
pub struct Lister<T, X = ()> {
    store: Arc<Store<T, X>>,
}

impl<T: Object, X: Clone> Lister<T, X> {
    pub(crate) fn new(store: Arc<Store<T, X>>) -> Self {
        Self { store }
    }

    /// The object, if it is stored. The namespace is empty for cluster-scoped objects.
    pub fn get(&self, namespace: &str, name: &str) -> Option<Arc<T>> {
        self.read(|objects, _| objects.get(namespace, name).cloned())
    }

    /// All objects, ordered by namespace and name.
    pub fn list(&self) -> Vec<Arc<T>> {
        self.read(|objects, _| objects.iter().cloned().collect())
    }

    /// The objects of one namespace, ordered by name.
    pub fn list_namespace(&self, namespace: &str) -> Vec<Arc<T>> {
        self.read(|objects, _| objects.namespace(namespace).cloned().collect())
    }

    /// The objects of one namespace, or of all (`None`), that a selector chooses, ordered by namespace and name.
    ///
    /// `label` finds a label of an object by its name. Every object of the namespaces is looked at: for what is asked often, an
    /// index is better.
    pub fn select(
        &self,
        namespace: Option<&str>,
        selector: &LabelSelector,
        label: impl for<'a> Fn(&'a T, &str) -> Option<&'a str>,
    ) -> Vec<Arc<T>> {
        if selector.is_nothing() {
            return Vec::new();
        }
        // Only pointers are copied while the informer waits.
        let mut objects = match namespace {
            Some(namespace) => self.list_namespace(namespace),
            None => self.list(),
        };
        objects.retain(|object| selector.matches(|name| label(object, name)));
        objects
    }

    /// Looks at objects and index as they are at one moment. The informer waits meanwhile: be quick, and do not wait in here.
    pub fn read<R>(&self, look: impl FnOnce(&Objects<T>, &X) -> R) -> R {
        self.store.read(look)
    }

    /// How many objects are stored.
    pub fn len(&self) -> usize {
        self.read(|objects, _| objects.len())
    }

    /// Whether no object is stored.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The version of the newest change in the store; empty before the first list.
    pub fn last_resource_version(&self) -> ResourceVersion {
        self.store.last_resource_version()
    }
}

impl<T: Object> Lister<T, NamedIndexes<T>> {
    /// The objects to which `index` gave `name`, as they were at one moment, ordered by namespace and name; none if there is no
    /// such index.
    pub fn by_index(&self, index: &str, name: &str) -> Vec<Arc<T>> {
        self.read(|_, indexes| indexes.bucket(index, name).cloned().collect())
    }
}

impl<T, X> Clone for Lister<T, X> {
    fn clone(&self) -> Self {
        Self { store: self.store.clone() }
    }
}

impl<T: Object, X: Clone> fmt::Debug for Lister<T, X> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Lister").field("len", &self.len()).finish_non_exhaustive()
    }
}
