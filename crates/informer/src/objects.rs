//! Objects by namespace and name.

use std::{collections::BTreeMap, hash::BuildHasher, sync::Arc};

use educe::Educe;
use hashbrown::{
    DefaultHashBuilder,
    hash_table::{Entry, HashTable},
};
use kube_wire::{Object, Text};

/// Objects by namespace and name; iterators return them in that order.
///
/// There is one hash table per namespace, so that the objects of a namespace are found without a scan. Keys are read
/// from the objects: none are stored beside them, and a look-up needs no owned key. Iterators sort, so that no hash
/// order can reach the API server.
#[derive(Debug, Educe)]
#[educe(Clone(bound(false)), Default(bound(false)))]
pub struct Objects<T> {
    namespaces: BTreeMap<Text, HashTable<Arc<T>>>,
    len: usize,
    hasher: DefaultHashBuilder,
}

impl<T: Object> Objects<T> {
    /// Returns the object of this namespace and name; `None` if there is none. The namespace is empty for
    /// cluster-scoped objects.
    pub fn get(&self, namespace: &str, name: &str) -> Option<&Arc<T>> {
        self.namespaces.get(namespace)?.find(self.hasher.hash_one(name), |it| it.name() == name)
    }

    /// Iterates over all objects, ordered by namespace and name.
    pub fn iter(&self) -> impl Iterator<Item = &Arc<T>> {
        self.namespaces.values().flat_map(sorted)
    }

    /// Iterates over the objects of one namespace, ordered by name.
    pub fn namespace(&self, namespace: &str) -> impl Iterator<Item = &Arc<T>> {
        self.namespaces.get(namespace).into_iter().flat_map(sorted)
    }

    /// Returns the number of objects.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Returns whether there are no objects.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Stores an object in place of one of the same namespace and name.
    pub(crate) fn insert(&mut self, object: Arc<T>) {
        if !self.namespaces.contains_key(object.namespace()) {
            self.namespaces.insert(object.key().namespace, HashTable::new());
        }
        let Some(objects) = self.namespaces.get_mut(object.namespace()) else { return };
        let hash = self.hasher.hash_one(object.name());
        match objects.entry(hash, |it| it.name() == object.name(), |it| self.hasher.hash_one(it.name())) {
            Entry::Occupied(mut entry) => *entry.get_mut() = object,
            Entry::Vacant(entry) => {
                entry.insert(object);
                self.len += 1;
            }
        }
    }

    pub(crate) fn remove(&mut self, namespace: &str, name: &str) -> Option<Arc<T>> {
        let objects = self.namespaces.get_mut(namespace)?;
        let entry = objects.find_entry(self.hasher.hash_one(name), |it| it.name() == name).ok()?;
        let (removed, _) = entry.remove();
        if objects.is_empty() {
            self.namespaces.remove(namespace);
        } else if objects.len() < objects.capacity() / 4 {
            objects.shrink_to(objects.len() * 2, |it| self.hasher.hash_one(it.name()));
        }
        self.len -= 1;
        Some(removed)
    }
}

fn sorted<T: Object>(objects: &HashTable<Arc<T>>) -> impl Iterator<Item = &Arc<T>> {
    let mut objects: Vec<&Arc<T>> = objects.iter().collect();
    objects.sort_unstable_by(|a, b| a.name().cmp(b.name()));
    objects.into_iter()
}

/// Of several objects of one namespace and name, the last is kept.
impl<T: Object> FromIterator<Arc<T>> for Objects<T> {
    fn from_iter<I: IntoIterator<Item = Arc<T>>>(from: I) -> Self {
        let mut objects = Self::default();
        for object in from {
            objects.insert(object);
        }
        objects
    }
}
