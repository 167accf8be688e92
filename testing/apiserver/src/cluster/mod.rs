//! The store: all objects, the revision counter, and the history that watches read.
//!
//! It is synchronous and reads no clock: the time of a write is an argument. Readers get immutable reference-counted
//! objects, so that encoding and filtering happen outside of the lock.

mod admitted;
mod apply;
mod collection;
mod create;
mod definitions;
mod delete;
mod events;
mod field_validation;
mod garbage;
mod namespaces;
mod options;
mod ownership;
mod page;
mod patch;
mod restore;
mod stored;
mod target;
mod update;
mod write;

use std::collections::BTreeSet;
use std::sync::{Arc, OnceLock};

use rand::rngs::StdRng;

pub(crate) use apply::Applier;
use collection::Collection;
pub(crate) use collection::{Change, ChangeKind};
pub(crate) use delete::Deleted;
pub(crate) use field_validation::FieldValidation;
pub(crate) use options::{DeleteOptions, MAX_MANAGER_LENGTH, WriteOptions};
pub(crate) use page::{Page, PageRequest, TooOld};
pub(crate) use patch::Patch;
pub(crate) use restore::StoreState;
pub(crate) use stored::{Key, Stored};
pub(crate) use target::WriteTarget;
pub(crate) use write::Written;

use crate::admission::AdmissionRules;
use crate::authorization::{self, Policy};
use crate::config::{Authorization, Config};
use crate::kinds::{Kind, KindTable};
use crate::service_addresses::ServiceAddresses;
use crate::status::StatusError;

/// Objects, revisions, history and admission rules of a server.
pub(crate) struct Cluster {
    kinds: KindTable,
    /// Objects and history of each kind, by [`Kind::index`].
    collections: Vec<Collection>,
    revision: u64,
    addresses: ServiceAddresses,
    rng: StdRng,
    config: Config,
    /// Uids of the owners and dependents that garbage collection has to check.
    unsettled: BTreeSet<Box<str>>,
    admission: AdmissionRules,
    /// Derived from the stored roles and bindings when it is needed.
    policy: OnceLock<Policy>,
    /// Uids of the terminating namespaces whose content has been deleted.
    emptied_namespaces: BTreeSet<Box<str>>,
    /// Indexes of the kinds changed since the last call to [`take_touched`](Self::take_touched).
    touched: BTreeSet<usize>,
}

/// Changes for a watch.
pub(crate) struct Batch {
    pub(crate) changes: Vec<Arc<Change>>,
    /// Revision up to which a watch is complete once it has delivered the changes.
    pub(crate) revision: u64,
}

impl Cluster {
    /// Creates a cluster with the initial namespaces, roles and custom kinds.
    pub(crate) fn new(config: Config, rng: StdRng) -> Result<Self, StatusError> {
        let kinds = KindTable::builtin();
        let now = config.clock.now();
        let mut cluster = Self {
            collections: kinds.all().iter().map(|_| Collection::default()).collect(),
            kinds,
            revision: 0,
            addresses: ServiceAddresses::default(),
            rng,
            config,
            unsettled: BTreeSet::new(),
            admission: AdmissionRules::default(),
            policy: OnceLock::new(),
            emptied_namespaces: BTreeSet::new(),
            touched: BTreeSet::new(),
        };
        cluster.create_initial_namespaces(now)?;
        for kind in cluster.config.kinds.clone() {
            cluster.define(&kind);
        }
        if cluster.config.authorization == Authorization::Rbac {
            cluster.create_default_roles(now)?;
        }
        Ok(cluster)
    }

    pub(crate) fn kinds(&self) -> &KindTable {
        &self.kinds
    }

    /// Returns the number of kinds ever served; every [`Kind::index`] is less.
    pub(crate) fn kind_count(&self) -> usize {
        self.collections.len()
    }

    /// Returns the revision of the last write.
    pub(crate) fn revision(&self) -> u64 {
        self.revision
    }

    /// Returns the indexes of the kinds changed since the last call, whose watches are to be woken.
    pub(crate) fn take_touched(&mut self) -> BTreeSet<usize> {
        std::mem::take(&mut self.touched)
    }

    pub(crate) fn get(&self, kind: &Kind, namespace: &str, name: &str) -> Result<Arc<Stored>, StatusError> {
        self.find(kind, namespace, name).ok_or_else(|| StatusError::not_found(kind, name))
    }

    fn find(&self, kind: &Kind, namespace: &str, name: &str) -> Option<Arc<Stored>> {
        self.collections[kind.index].get(namespace, name).cloned()
    }

    /// Returns the current objects of a namespace or of all, in order of namespace and name.
    pub(crate) fn list(&self, kind: &Kind, namespace: Option<&str>) -> Vec<Arc<Stored>> {
        self.collections[kind.index].iter_after(namespace, None).cloned().collect()
    }

    /// Returns up to `max` changes of a kind after `revision`, oldest first. Fails with 410 `Expired` if the history
    /// does not reach back to `revision`.
    pub(crate) fn changes_after(&self, kind: &Kind, revision: u64, max: usize) -> Result<Batch, StatusError> {
        let changes = self.collections[kind.index]
            .changes_after(revision, max)
            .map_err(|oldest| StatusError::expired(revision, oldest))?;
        let revision = match changes.last() {
            Some(last) if changes.len() == max => last.object.revision,
            _ => self.revision.max(revision),
        };
        Ok(Batch { changes, revision })
    }

    /// Drops the history of all kinds: watches and lists at earlier revisions get 410.
    pub(crate) fn compact(&mut self) {
        for collection in &mut self.collections {
            collection.compact(self.revision);
        }
    }

    /// Returns the permissions that the stored roles and bindings grant.
    pub(crate) fn policy(&self) -> &Policy {
        self.policy.get_or_init(|| authorization::policy_of(self))
    }

    /// Records a change of a kind.
    fn touch(&mut self, kind: &Kind) {
        self.touched.insert(kind.index);
        if kind.group == authorization::GROUP {
            self.policy.take();
        }
    }

    fn next_revision(&mut self) -> u64 {
        self.revision += 1;
        self.revision
    }

    /// Stores an object, replacing the one with the same key if there is one.
    fn put(&mut self, kind: &Kind, object: Stored) -> Arc<Stored> {
        let previous = self.find(kind, &object.namespace, &object.name);
        self.addresses.replace(previous.as_ref().map_or(&[], |previous| &previous.allocations), &object.allocations);
        let object = Arc::new(object);
        if self.config.garbage_collection {
            self.owners_changed(&object, previous.as_deref());
        }
        self.collections[kind.index].put(Arc::clone(&object), self.config.watch_history);
        self.touch(kind);
        self.put_copy(kind, &object);
        if kind.is_definition() {
            self.definition_changed(&object);
        }
        object
    }

    /// Removes an object, and its namespace if that is terminating and this was its last object.
    fn remove(&mut self, kind: &Kind, object: &Stored) -> Arc<Stored> {
        let last = Arc::new(object.at_revision(kind, self.next_revision()));
        self.addresses.replace(&last.allocations, &[]);
        self.collections[kind.index].remove(Arc::clone(&last), self.config.watch_history);
        self.touch(kind);
        self.remove_copy(kind, &last);
        if self.config.garbage_collection {
            self.owner_removed(&last);
        }
        if kind.namespaced {
            self.finish_namespace(&last.namespace);
        }
        if kind.is_definition() {
            self.definition_removed(&last);
        }
        last
    }
}

#[cfg(test)]
mod tests;
