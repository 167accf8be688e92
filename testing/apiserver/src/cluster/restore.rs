//! Snapshot and restore of the store.

use std::collections::BTreeSet;

use super::Cluster;
use super::collection::{Collection, Objects};
use crate::kinds::KindTable;
use crate::service_addresses::ServiceAddresses;

/// State of the store: the content of an etcd backup, and the indexes derived from it. Objects are shared, not copied.
#[derive(Debug, Clone)]
pub(crate) struct StoreState {
    kinds: KindTable,
    objects: Vec<Objects>,
    /// Revision from which a restored store continues.
    pub(crate) revision: u64,
    addresses: ServiceAddresses,
    emptied_namespaces: BTreeSet<Box<str>>,
}

impl Cluster {
    /// Returns the state at the current revision.
    pub(crate) fn state(&self) -> StoreState {
        StoreState {
            kinds: self.kinds.clone(),
            objects: self.collections.iter().map(|collection| collection.objects().clone()).collect(),
            revision: self.revision,
            addresses: self.addresses.clone(),
            emptied_namespaces: self.emptied_namespaces.clone(),
        }
    }

    /// Restores an earlier state. Later revisions are assigned a second time, and the history is empty, as in an API
    /// server that starts on a restored etcd.
    pub(crate) fn restore(&mut self, state: StoreState) {
        let StoreState { kinds, objects, revision, addresses, emptied_namespaces } = state;
        let kind_count = self.collections.len();
        self.collections = objects.into_iter().map(|objects| Collection::restored(objects, revision)).collect();
        // A kind defined since the snapshot keeps its index, so that no later kind gets the same one.
        while self.collections.len() < kind_count {
            self.collections.push(Collection::restored(Objects::default(), revision));
        }
        self.kinds = kinds;
        self.revision = revision;
        self.policy.take();
        self.addresses = addresses;
        self.emptied_namespaces = emptied_namespaces;
        self.touched = (0..self.collections.len()).collect();
    }
}
