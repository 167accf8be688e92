//! Setting the cluster back to an earlier state.

use std::collections::BTreeSet;

use super::Cluster;
use super::collection::{Collection, Objects};
use super::garbage::Dependencies;
use crate::kinds::KindTable;
use crate::service_addresses::ServiceAddresses;

/// All that a backup of etcd holds, and what is derived from it. Objects are shared, not copied.
#[derive(Debug, Clone)]
pub(crate) struct State {
    kinds: KindTable,
    objects: Vec<Objects>,
    revision: u64,
    addresses: ServiceAddresses,
    dependencies: Dependencies,
    emptied_namespaces: BTreeSet<Box<str>>,
}

impl State {
    /// Lets the revisions that follow be later than `revision`.
    pub(crate) fn set_revision(&mut self, revision: u64) {
        self.revision = revision;
    }
}

impl Cluster {
    /// The state at the current revision.
    pub(crate) fn state(&self) -> State {
        State {
            kinds: self.kinds.clone(),
            objects: self.collections.iter().map(|collection| collection.objects().clone()).collect(),
            revision: self.revision,
            addresses: self.addresses.clone(),
            dependencies: self.dependencies.clone(),
            emptied_namespaces: self.emptied_namespaces.clone(),
        }
    }

    /// Goes back to an earlier state. Later revisions are handed out a second time, and the history is empty, as it is
    /// in an API server that starts on a restored etcd.
    pub(crate) fn restore(&mut self, state: State) {
        let State { kinds, objects, revision, addresses, dependencies, emptied_namespaces } = state;
        let known = self.collections.len();
        // A garbage collector looks owners up, so that it makes no difference whether they were deleted or never restored.
        let lost = self.collections.iter().flat_map(Collection::uids).collect();
        self.collections = objects.into_iter().map(|objects| Collection::restored(objects, revision)).collect();
        // A kind that has been defined since keeps its index, so that no later kind gets the same one.
        while self.collections.len() < known {
            self.collections.push(Collection::restored(Objects::default(), revision));
        }
        self.kinds = kinds;
        self.revision = revision;
        self.addresses = addresses;
        let former = std::mem::replace(&mut self.dependencies, dependencies);
        let present = self.collections.iter().flat_map(Collection::uids).collect();
        self.dependencies.restored(&former, &lost, &present);
        self.emptied_namespaces = emptied_namespaces;
        self.touched = (0..self.collections.len()).collect();
    }
}
