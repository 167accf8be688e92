//! Garbage collection: deletes objects none of whose owners exists, and owners in foreground deletion after their dependents.
//!
//! In a real cluster a controller does this some time after the write. Here it is part of the write that causes it,
//! and off by default, see [`Config::garbage_collection`](crate::Config::garbage_collection).

use std::sync::Arc;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::OwnerReference;
use serde::Deserialize;

use super::delete::set_finalizers;
use super::{Cluster, DeleteOptions, Stored, WriteOptions};
use crate::kinds::Kind;
use crate::status::StatusError;

/// Finalizer of an object that is deleted after its dependents.
pub(super) const FOREGROUND: &str = "foregroundDeletion";

impl Cluster {
    /// Records that an object was stored in place of `previous`, if its owners or its dependents are to be checked.
    pub(super) fn owners_changed(&mut self, object: &Stored, previous: Option<&Stored>) {
        let before = previous.map(|previous| &*previous.owners).unwrap_or_default();
        if *before != *object.owners || is_deleted_last(object) {
            self.unsettled.insert(object.uid.clone());
            self.unsettled.extend(before.iter().cloned());
        }
    }

    /// Records that an object was removed.
    pub(super) fn owner_removed(&mut self, object: &Stored) {
        self.unsettled.insert(object.uid.clone());
        self.unsettled.extend(object.owners.iter().cloned());
    }

    /// Checks the objects that recorded changes concern, and those that these checks change, until none is left. An
    /// object that cannot be deleted is kept.
    pub(crate) fn collect_garbage(&mut self, write: WriteOptions<'_>) {
        while !self.unsettled.is_empty() {
            let uids = std::mem::take(&mut self.unsettled);
            let concerns = |it: &Stored| uids.contains(&it.uid) || it.owners.iter().any(|uid| uids.contains(uid));
            for (kind, object) in self.objects_where(concerns) {
                if let Err(error) = self.check_owners(&kind, &object, write) {
                    tracing::warn!(%error, "garbage collection failed; an object without owner remains");
                }
            }
        }
    }

    fn objects_where(&self, condition: impl Fn(&Stored) -> bool) -> Vec<(Arc<Kind>, Arc<Stored>)> {
        let of_kind = |kind: &Arc<Kind>| {
            let all = self.collections[kind.index].iter_after(None, None).filter(|object| condition(object));
            all.map(|object| (Arc::clone(kind), Arc::clone(object))).collect::<Vec<_>>()
        };
        self.kinds.all().iter().flat_map(of_kind).collect()
    }

    pub(super) fn has_dependents(&self, uid: &str) -> bool {
        !self.objects_where(|object| object.owners.iter().any(|owner| **owner == *uid)).is_empty()
    }

    /// Deletes an object if it has owners and none of them exists.
    fn check_owners(&mut self, kind: &Kind, found: &Stored, write: WriteOptions<'_>) -> Result<(), StatusError> {
        let Some(stored) = self.find(kind, &found.namespace, &found.name) else { return Ok(()) };
        if is_deleted_last(&stored) {
            return if self.has_dependents(&stored.uid) {
                Ok(())
            } else {
                self.finish_foreground_deletion(kind, &stored, write)
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
        self.delete(kind, &stored.namespace, &stored.name, &DeleteOptions::default(), write).map(drop)
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
        let namespace = if kind.namespaced { &*dependent.namespace } else { "" };
        let is_owner = |found: &Stored| *found.uid == *reference.uid && !is_deleted_last(found);
        kind.namespaced && namespace.is_empty()
            || self.find(kind, namespace, &reference.name).is_some_and(|found| is_owner(&found))
    }
}

/// Returns whether an object is in foreground deletion.
fn is_deleted_last(object: &Stored) -> bool {
    let lifecycle = &object.lifecycle;
    lifecycle.deletion_timestamp.is_some() && lifecycle.finalizers.iter().any(|it| it == FOREGROUND)
}
