//! Objects by namespace and name.

use std::{collections::BTreeMap, sync::Arc};

use kube_wire::{Object, ObjectKey};

/// Objects, ordered by namespace and name.
///
/// Two levels, so that a namespace is found without a scan and a look-up needs no owned key; ordered, so that no hash order
/// can reach the API server.
#[derive(Debug)]
pub struct Objects<T> {
    namespaces: BTreeMap<Arc<str>, BTreeMap<Arc<str>, Arc<T>>>,
    len: usize,
}

impl<T> Objects<T> {
    /// The object, if there is one. The namespace is empty for cluster-scoped objects.
    pub fn get(&self, namespace: &str, name: &str) -> Option<&Arc<T>> {
        self.namespaces.get(namespace)?.get(name)
    }

    /// All objects.
    pub fn iter(&self) -> impl Iterator<Item = &Arc<T>> {
        self.namespaces.values().flat_map(BTreeMap::values)
    }

    /// The objects of one namespace.
    pub fn namespace(&self, namespace: &str) -> impl Iterator<Item = &Arc<T>> {
        self.namespaces.get(namespace).into_iter().flat_map(BTreeMap::values)
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    pub(crate) fn insert(&mut self, key: ObjectKey, object: Arc<T>) -> Option<Arc<T>> {
        let replaced = self.namespaces.entry(key.namespace).or_default().insert(key.name, object);
        self.len += usize::from(replaced.is_none());
        replaced
    }

    pub(crate) fn remove(&mut self, namespace: &str, name: &str) -> Option<Arc<T>> {
        let objects = self.namespaces.get_mut(namespace)?;
        let removed = objects.remove(name)?;
        if objects.is_empty() {
            self.namespaces.remove(namespace);
        }
        self.len -= 1;
        Some(removed)
    }

    /// All objects, for replacement in place.
    pub(crate) fn iter_mut(&mut self) -> impl Iterator<Item = &mut Arc<T>> {
        self.namespaces.values_mut().flat_map(BTreeMap::values_mut)
    }
}

impl<T> Default for Objects<T> {
    fn default() -> Self {
        Self { namespaces: BTreeMap::new(), len: 0 }
    }
}

/// The last of several objects of one name wins.
impl<T: Object> FromIterator<Arc<T>> for Objects<T> {
    fn from_iter<I: IntoIterator<Item = Arc<T>>>(from: I) -> Self {
        let mut objects = Self::default();
        for object in from {
            objects.insert(object.key(), object);
        }
        objects
    }
}
