//! Garbage collection: deletes objects none of whose owners exists, and owners in foreground deletion after their dependents.
//!
//! In a real cluster a controller does this some time after the write. Here it is part of the write that causes it,
//! and off by default, see [`Config::garbage_collection`](crate::Config::garbage_collection).

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::OwnerReference;
use serde::Deserialize;

use super::delete::set_finalizers;
use super::stored::Key;
use super::{Cluster, DeleteOptions, Stored, WriteOptions};
use crate::kinds::Kind;
use crate::status::StatusError;

/// Finalizer of an object that is deleted after its dependents.
pub(super) const FOREGROUND: &str = "foregroundDeletion";

/// Reference to an object: index of its kind, and its key.
type ObjectRef = (usize, Key);

/// Graph of owner references, and the objects whose owners are to be looked up.
#[derive(Debug, Clone, Default)]
pub(super) struct Dependencies {
    /// Dependents by the uid of the owner.
    dependents: BTreeMap<Box<str>, BTreeSet<ObjectRef>>,
    /// Owners in foreground deletion, by uid.
    waiting: BTreeMap<Box<str>, ObjectRef>,
    to_check: BTreeSet<ObjectRef>,
}

impl Dependencies {
    /// Records that an object was stored in place of `previous`.
    pub(super) fn stored(&mut self, index: usize, object: &Stored, previous: Option<&Stored>) {
        let before = previous.map(|previous| &*previous.owners).unwrap_or_default();
        if *before == *object.owners {
            return;
        }
        let object_ref = (index, object.key());
        self.forget(&object_ref, before);
        for uid in &object.owners {
            self.dependents.entry(uid.clone()).or_default().insert(object_ref.clone());
        }
        self.to_check.insert(object_ref);
    }

    pub(super) fn removed(&mut self, index: usize, object: &Stored) {
        self.forget(&(index, object.key()), &object.owners);
        self.waiting.remove(&object.uid);
        self.check_dependents_of(&object.uid);
    }

    /// Records that an owner is deleted after its dependents.
    pub(super) fn waits(&mut self, index: usize, owner: &Stored) {
        self.waiting.insert(owner.uid.clone(), (index, owner.key()));
        self.check_dependents_of(&owner.uid);
    }

    pub(super) fn has_dependents(&self, uid: &str) -> bool {
        self.dependents.contains_key(uid)
    }

    fn check_dependents_of(&mut self, uid: &str) {
        self.to_check.extend(self.dependents.get(uid).into_iter().flatten().cloned());
    }

    fn forget(&mut self, object_ref: &ObjectRef, owners: &[Box<str>]) {
        for uid in owners {
            if let Some(dependents) = self.dependents.get_mut(uid) {
                dependents.remove(object_ref);
                if dependents.is_empty() {
                    self.dependents.remove(uid);
                    self.to_check.extend(self.waiting.get(uid).cloned());
                }
            }
        }
    }
}

impl Cluster {
    /// Checks the objects whose owners have changed, and those that these checks change, until none is left. An object that
    /// cannot be deleted is kept.
    pub(crate) fn collect_garbage(&mut self, write: WriteOptions<'_>) {
        while let Some(object_ref) = self.dependencies.to_check.pop_first() {
            if let Err(error) = self.check_owners(&object_ref, write) {
                tracing::warn!(%error, "garbage collection failed; an object without owner remains");
            }
        }
    }

    /// Deletes an object if it has owners and none of them exists.
    fn check_owners(&mut self, (index, key): &ObjectRef, write: WriteOptions<'_>) -> Result<(), StatusError> {
        let Some(kind) = self.kinds.all().iter().find(|kind| kind.index == *index).cloned() else { return Ok(()) };
        let Some(stored) = self.find(&kind, &key.0, &key.1) else { return Ok(()) };
        if self.dependencies.waiting.contains_key(&stored.uid) {
            return if self.dependencies.has_dependents(&stored.uid) {
                Ok(())
            } else {
                self.finish_foreground_deletion(&kind, &stored, write)
            };
        }
        // As upstream, events are never collected.
        let is_event = kind.name == "Event" && !kind.is_custom();
        if stored.owners.is_empty() || is_event || stored.lifecycle.deletion_timestamp.is_some() {
            return Ok(());
        }
        let owners = Vec::<OwnerReference>::deserialize(&stored.value()["metadata"]["ownerReferences"])
            .map_err(|error| StatusError::internal(error.to_string()))?;
        if owners.iter().any(|owner| self.may_exist(&stored, owner)) {
            return Ok(());
        }
        self.delete(&kind, &stored.namespace, &stored.name, &DeleteOptions::default(), write).map(drop)
    }

    /// Removes an object whose dependents are gone, or at least its finalizer.
    fn finish_foreground_deletion(
        &mut self,
        kind: &Kind,
        owner: &Stored,
        write: WriteOptions<'_>,
    ) -> Result<(), StatusError> {
        let mut finalizers = owner.lifecycle.finalizers.clone();
        finalizers.retain(|finalizer| finalizer != FOREGROUND);
        if finalizers.is_empty() {
            self.remove(kind, owner);
            return Ok(());
        }
        self.rewrite(kind, owner, write, |object| set_finalizers(object, &finalizers)).map(drop)
    }

    /// Returns whether an owner exists and stays, or cannot be looked up.
    fn may_exist(&self, dependent: &Stored, reference: &OwnerReference) -> bool {
        let names = |kind: &&Arc<Kind>| kind.name == reference.kind && kind.api_version() == reference.api_version;
        let Some(kind) = self.kinds.all().iter().find(names) else { return true };
        if self.dependencies.waiting.contains_key(reference.uid.as_str()) {
            return false;
        }
        let namespace = if kind.namespaced { &*dependent.namespace } else { "" };
        kind.namespaced && namespace.is_empty()
            || self.find(kind, namespace, &reference.name).is_some_and(|owner| *owner.uid == *reference.uid)
    }
}
