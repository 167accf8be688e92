//! Garbage collection: deletes, orphans or waits for the dependents of a deleted owner.
//!
//! In a real cluster a controller does this some time after the write. Here it is part of the write that causes it,
//! and off by default, see [`Config::garbage_collection`](crate::Config::garbage_collection). The decisions are those
//! of upstream's `attemptToDeleteItem`, with look-ups in the store instead of the API server.

use std::sync::Arc;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::OwnerReference;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::dependencies::ObjectRef;
use super::stored::FOREGROUND;
use super::{Cluster, DeleteOptions, Propagation, Stored, WriteOptions};
use crate::kinds::Kind;
use crate::status::StatusError;

/// Finalizer of an object whose dependents are kept.
const ORPHAN: &str = "orphan";
/// Component in the events of upstream's garbage collector.
const COMPONENT: &str = "garbage-collector-controller";

/// State of the owner that a reference names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum OwnerState {
    Exists,
    /// It exists and is deleted after its dependents.
    WaitsForDependents,
    Absent,
    /// Its kind is not served, so that the owner cannot be looked up.
    UnknownKind,
    /// The owner is namespaced and the dependent is cluster-scoped, so that the reference has no namespace to look in.
    OutOfScope,
}

impl Cluster {
    /// Returns whether a delete adds the finalizer `foregroundDeletion`.
    pub(super) fn is_held_in_foreground(&self, propagation: Propagation, write: WriteOptions<'_>) -> bool {
        self.collects_garbage && !write.dry_run && propagation == Propagation::Foreground
    }

    /// Returns the propagation policy of a delete. As upstream, an object with the finalizer `orphan` keeps its dependents;
    /// since they are orphaned at once, the finalizer is removed.
    pub(super) fn propagation(&self, requested: Propagation, finalizers: &mut Vec<String>) -> Propagation {
        let count = finalizers.len();
        if self.collects_garbage {
            finalizers.retain(|finalizer| finalizer != ORPHAN);
        }
        if finalizers.len() < count { Propagation::Orphan } else { requested }
    }

    /// Removes the references of the dependents if a delete orphans them.
    pub(super) fn orphan_dependents(
        &mut self,
        stored: &Stored,
        propagation: Propagation,
        write: WriteOptions<'_>,
    ) -> Result<(), StatusError> {
        if !self.collects_garbage || write.dry_run || propagation != Propagation::Orphan {
            return Ok(());
        }
        for (_, kind, dependent) in self.dependents_of(&stored.uid) {
            self.remove_owner_references(&kind, &dependent, &[&stored.uid], write)?;
        }
        Ok(())
    }

    /// Checks the objects whose owners or dependents have changed, and those that these checks change, until none is left.
    /// An object that cannot be changed is kept.
    pub(crate) fn collect_garbage(&mut self, write: WriteOptions<'_>) {
        loop {
            if let Some((object_ref, uids)) = self.dependencies.pop_added_owners() {
                if let Err(error) = self.report_other_namespace(&object_ref, &uids, write) {
                    tracing::debug!(%error, "no event about an owner in another namespace");
                }
                continue;
            }
            let Some(object_ref) = self.dependencies.pop() else { return };
            if let Err(error) = self.check_owners(&object_ref, write) {
                tracing::warn!(%error, "garbage collection failed; an object without owner remains");
            }
        }
    }

    /// Deletes an object without existing owner, removes its references to absent ones, or finishes its foreground
    /// deletion.
    fn check_owners(&mut self, object_ref: &ObjectRef, write: WriteOptions<'_>) -> Result<(), StatusError> {
        let Some((kind, stored)) = self.resolve(object_ref) else { return Ok(()) };
        if stored.in_foreground_deletion {
            return self.finish_foreground_deletion(&kind, &stored, write);
        }
        // As upstream, events are never collected.
        let is_event = kind.name == "Event" && !kind.is_custom();
        if stored.owners.is_empty() || is_event || stored.lifecycle()?.deletion_timestamp.is_some() {
            return Ok(());
        }
        let mut gone = Vec::new();
        let (mut is_owned, mut waits) = (false, false);
        let references = owner_references(&stored)?;
        for reference in &references {
            match self.owner_state(&stored, reference) {
                OwnerState::Exists => is_owned = true,
                OwnerState::WaitsForDependents => {
                    waits = true;
                    gone.push(reference.uid.as_str());
                }
                OwnerState::Absent => gone.push(reference.uid.as_str()),
                OwnerState::UnknownKind => {
                    self.dependencies.unresolved(object_ref.clone());
                    return Ok(());
                }
                OwnerState::OutOfScope => return Ok(()),
            }
        }
        if is_owned {
            return if gone.is_empty() { Ok(()) } else { self.remove_owner_references(&kind, &stored, &gone, write) };
        }
        let dependents = self.dependents_of(&stored.uid);
        let propagation = if waits && !dependents.is_empty() {
            if dependents.iter().any(|(_, _, dependent)| dependent.in_foreground_deletion) {
                self.unblock_owners(&kind, &stored, write)?;
            }
            Propagation::Foreground
        } else {
            let finalizers = stored.lifecycle()?.finalizers;
            let is_foreground = finalizers.iter().any(|finalizer| finalizer == FOREGROUND);
            if is_foreground { Propagation::Foreground } else { Propagation::Background }
        };
        let options = DeleteOptions { propagation, ..DeleteOptions::default() };
        self.delete(&kind, &stored.namespace, &stored.name, &options, write).map(drop)
    }

    /// Removes an object in foreground deletion, or at least the finalizer, once no dependent blocks it. Checks its
    /// blocking dependents otherwise.
    fn finish_foreground_deletion(
        &mut self,
        kind: &Kind,
        owner: &Arc<Stored>,
        write: WriteOptions<'_>,
    ) -> Result<(), StatusError> {
        let mut dependents = self.dependents_of(&owner.uid);
        dependents.retain(|(_, _, dependent)| dependent.owners.iter().any(|it| it.uid == owner.uid && it.blocks));
        if dependents.is_empty() {
            return self.drop_finalizer(kind, owner, write);
        }
        for (object_ref, _, dependent) in dependents {
            if !dependent.in_foreground_deletion {
                self.dependencies.check(object_ref);
            }
        }
        Ok(())
    }

    fn owner_state(&self, dependent: &Stored, reference: &OwnerReference) -> OwnerState {
        let names = |kind: &&Arc<Kind>| kind.name == reference.kind && kind.api_version() == reference.api_version;
        let Some(kind) = self.kinds.all().iter().find(names) else {
            let is_removed = self.dependencies.is_removed(&reference.uid);
            return if is_removed { OwnerState::Absent } else { OwnerState::UnknownKind };
        };
        if kind.namespaced && dependent.namespace.is_empty() {
            return OwnerState::OutOfScope;
        }
        let namespace = if kind.namespaced { &*dependent.namespace } else { "" };
        match self.find(kind, namespace, &reference.name).filter(|owner| *owner.uid == *reference.uid) {
            None => OwnerState::Absent,
            Some(owner) if owner.in_foreground_deletion => OwnerState::WaitsForDependents,
            Some(_) => OwnerState::Exists,
        }
    }

    fn resolve(&self, (index, (namespace, name)): &ObjectRef) -> Option<(Arc<Kind>, Arc<Stored>)> {
        let kind = self.kinds.all().iter().find(|kind| kind.index == *index && !kind.is_view())?;
        Some((Arc::clone(kind), self.find(kind, namespace, name)?))
    }

    fn dependents_of(&self, uid: &str) -> Vec<(ObjectRef, Arc<Kind>, Arc<Stored>)> {
        let resolved = |object_ref: &ObjectRef| {
            let (kind, stored) = self.resolve(object_ref)?;
            Some((object_ref.clone(), kind, stored))
        };
        self.dependencies.dependents_of(uid).filter_map(resolved).collect()
    }

    /// Removes the references to the owners with these uids from a dependent.
    fn remove_owner_references(
        &mut self,
        kind: &Kind,
        dependent: &Stored,
        uids: &[&str],
        write: WriteOptions<'_>,
    ) -> Result<(), StatusError> {
        self.rewrite(kind, dependent, write, |object| {
            if let Some(Value::Array(references)) = meta_field(object, "ownerReferences") {
                references.retain(|it| !it["uid"].as_str().is_some_and(|uid| uids.contains(&uid)));
            }
        })
        .map(drop)
    }

    /// Lets the owners of an object be deleted before it, so that a cycle of owners does not wait for itself.
    fn unblock_owners(&mut self, kind: &Kind, stored: &Stored, write: WriteOptions<'_>) -> Result<(), StatusError> {
        self.rewrite(kind, stored, write, |object| {
            let references = meta_field(object, "ownerReferences").and_then(Value::as_array_mut);
            for reference in references.into_iter().flatten().filter(|it| it["blockOwnerDeletion"] == true) {
                reference["blockOwnerDeletion"] = json!(false);
            }
        })
        .map(drop)
    }

    fn drop_finalizer(&mut self, kind: &Kind, owner: &Arc<Stored>, write: WriteOptions<'_>) -> Result<(), StatusError> {
        let lifecycle = owner.lifecycle()?;
        let is_last = lifecycle.finalizers.iter().all(|it| it == FOREGROUND);
        let waits_for_grace = lifecycle.deletion_grace_period_seconds.unwrap_or_default() > 0;
        if is_last && !waits_for_grace {
            return self.remove(kind, owner).map(drop);
        }
        self.rewrite(kind, owner, write, |object| {
            if let Some(Value::Array(finalizers)) = meta_field(object, "finalizers") {
                finalizers.retain(|finalizer| finalizer != FOREGROUND);
            }
        })
        .map(drop)
    }

    /// Creates upstream's event about the first of `uids` that belongs to an object in another namespace.
    fn report_other_namespace(
        &mut self,
        object_ref: &ObjectRef,
        uids: &[Box<str>],
        write: WriteOptions<'_>,
    ) -> Result<(), StatusError> {
        let Some((kind, stored)) = self.resolve(object_ref) else { return Ok(()) };
        let references = owner_references(&stored)?;
        let is_elsewhere = |reference: &&OwnerReference| {
            uids.iter().any(|uid| **uid == *reference.uid) && self.is_in_other_namespace(&stored, reference)
        };
        let Some(owner) = references.iter().find(is_elsewhere) else { return Ok(()) };
        let Some(events) = self.kinds.find("", "v1", "events").cloned() else { return Ok(()) };
        let (namespace, name) = (&*stored.namespace, &*stored.name);
        let message = format!(
            "ownerRef [{}/{}, namespace: {namespace}, name: {}, uid: {}] does not exist in namespace {namespace:?}",
            owner.api_version, owner.kind, owner.name, owner.uid
        );
        // As upstream, events about cluster-scoped objects are in the namespace `default`.
        let event_namespace = if namespace.is_empty() { "default" } else { namespace };
        let mut involved =
            json!({"kind": kind.name, "apiVersion": kind.api_version(), "name": name, "uid": &*stored.uid});
        if !namespace.is_empty() {
            involved["namespace"] = json!(namespace);
        }
        let now = write.now.strftime("%FT%TZ").to_string();
        let event = json!({
            "metadata": {"name": format!("{name}.{:x}", write.now.as_nanosecond()), "namespace": event_namespace},
            "involvedObject": involved, "reason": "OwnerRefInvalidNamespace", "message": message, "type": "Warning",
            "source": {"component": COMPONENT}, "reportingComponent": COMPONENT,
            "firstTimestamp": now, "lastTimestamp": now, "count": 1
        });
        self.create(&events, event_namespace, event, write).map(drop)
    }

    /// Returns whether a reference names a namespaced object that is in another namespace than the dependent.
    fn is_in_other_namespace(&self, dependent: &Stored, reference: &OwnerReference) -> bool {
        let kinds = self.kinds.all().iter().filter(|kind| kind.namespaced && kind.name == reference.kind);
        kinds
            .flat_map(|kind| self.collections[kind.index].named(&reference.name))
            .any(|owner| *owner.uid == *reference.uid && owner.namespace != dependent.namespace)
    }
}

fn owner_references(stored: &Stored) -> Result<Vec<OwnerReference>, StatusError> {
    let references = &stored.value()?["metadata"]["ownerReferences"];
    if references.is_null() {
        return Ok(Vec::new());
    }
    Vec::deserialize(references).map_err(|error| StatusError::internal(error.to_string()))
}

fn meta_field<'a>(object: &'a mut Map<String, Value>, field: &str) -> Option<&'a mut Value> {
    object.get_mut("metadata")?.get_mut(field)
}
