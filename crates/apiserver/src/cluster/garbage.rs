//! Garbage collection: deletes, orphans or waits for the dependents of a deleted owner.
//!
//! In a real cluster a controller does this some time after the delete. Here it is part of the write that causes it,
//! and off by default, see [`Config::garbage_collection`](crate::Config::garbage_collection).

use std::sync::Arc;

use serde_json::{Map, Value};

use super::{Cluster, DeleteOptions, Propagation, Stored, WriteOptions};
use crate::kinds::Kind;
use crate::status::StatusError;

/// Finalizer that keeps an owner until no dependent blocks its deletion.
pub(super) const FOREGROUND: &str = "foregroundDeletion";

impl Cluster {
    /// Returns whether a delete adds the finalizer `foregroundDeletion`.
    pub(super) fn is_held_in_foreground(&self, propagation: Propagation, write: WriteOptions<'_>) -> bool {
        self.collects_garbage && !write.dry_run && propagation == Propagation::Foreground
    }

    /// Applies a propagation policy before the object itself is deleted: `Foreground` records that the object waits for
    /// its dependents, `Orphan` removes the references of its dependents.
    pub(super) fn prepare_propagation(
        &mut self,
        kind: &Kind,
        stored: &Stored,
        propagation: Propagation,
        write: WriteOptions<'_>,
    ) -> Result<(), StatusError> {
        if !self.collects_garbage || write.dry_run {
            return Ok(());
        }
        match propagation {
            Propagation::Background => {}
            Propagation::Orphan => {
                for (kind, dependent) in self.dependents_of(&stored.uid) {
                    self.remove_owner_reference(&kind, &dependent, &stored.uid, write)?;
                }
            }
            Propagation::Foreground => {
                self.dependencies.waiting.insert(stored.uid.clone(), (kind.index, stored.key()));
                self.dependencies.pending.insert(stored.uid.clone());
            }
        }
        Ok(())
    }

    /// Processes the pending owners: deletes the dependents of a removed owner, or only their references to it if they
    /// have another owner; deletes the dependents of an owner in foreground deletion, and removes the owner once
    /// nothing blocks it.
    pub(crate) fn collect_garbage(&mut self, write: WriteOptions<'_>) -> Result<(), StatusError> {
        while let Some(uid) = self.dependencies.pending.pop_first() {
            let waiting = self.dependencies.waiting.get(&uid).cloned();
            for (kind, dependent) in self.dependents_of(&uid) {
                if waiting.is_none() && self.has_other_owner(&dependent, &uid)? {
                    self.remove_owner_reference(&kind, &dependent, &uid, write)?;
                } else if dependent.lifecycle()?.deletion_timestamp.is_none() {
                    let (namespace, name) = dependent.key();
                    self.delete(&kind, &namespace, &name, &DeleteOptions::default(), write)?;
                }
            }
            if let Some((index, (namespace, name))) = waiting
                && !self.is_blocked(&uid)?
                && let Some(kind) = self.kinds.all().iter().find(|kind| kind.index == index && !kind.is_view()).cloned()
                && let Some(owner) = self.find(&kind, &namespace, &name)
            {
                self.dependencies.waiting.remove(&uid);
                self.drop_finalizer(&kind, &owner, write)?;
            }
        }
        Ok(())
    }

    fn dependents_of(&self, uid: &str) -> Vec<(Arc<Kind>, Arc<Stored>)> {
        let object_refs = self.dependencies.dependents.get(uid).into_iter().flatten();
        object_refs
            .filter_map(|(index, (namespace, name))| {
                let kind = self.kinds.all().iter().find(|kind| kind.index == *index && !kind.is_view())?;
                Some((Arc::clone(kind), self.find(kind, namespace, name)?))
            })
            .collect()
    }

    /// Returns whether the dependent has an existing owner other than `uid`.
    fn has_other_owner(&self, dependent: &Stored, uid: &str) -> Result<bool, StatusError> {
        let object = dependent.value()?;
        let references = object["metadata"]["ownerReferences"].as_array().map(Vec::as_slice).unwrap_or_default();
        Ok(references.iter().filter(|reference| reference["uid"] != uid).any(|reference| {
            let text = |field: &str| reference[field].as_str().unwrap_or_default();
            let kinds = self.kinds.all().iter();
            kinds
                .filter(|kind| kind.name == text("kind") && kind.api_version() == text("apiVersion"))
                .filter_map(|kind| {
                    let namespace = if kind.namespaced { &*dependent.namespace } else { "" };
                    self.find(kind, namespace, text("name"))
                })
                .any(|owner| &*owner.uid == text("uid"))
        }))
    }

    /// Returns whether a dependent with `blockOwnerDeletion` exists.
    fn is_blocked(&self, uid: &str) -> Result<bool, StatusError> {
        for (_, dependent) in self.dependents_of(uid) {
            let object = dependent.value()?;
            let mut references = object["metadata"]["ownerReferences"].as_array().into_iter().flatten();
            if references.any(|it| it["uid"] == uid && it["blockOwnerDeletion"] == true) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Removes the reference to an owner from a dependent.
    fn remove_owner_reference(
        &mut self,
        kind: &Kind,
        dependent: &Arc<Stored>,
        uid: &str,
        write: WriteOptions<'_>,
    ) -> Result<(), StatusError> {
        self.rewrite(kind, dependent, write, |object| {
            if let Some(Value::Array(references)) = meta_field(object, "ownerReferences") {
                references.retain(|reference| reference["uid"] != uid);
            }
        })
        .map(drop)
    }

    fn drop_finalizer(&mut self, kind: &Kind, owner: &Arc<Stored>, write: WriteOptions<'_>) -> Result<(), StatusError> {
        let lifecycle = owner.lifecycle()?;
        let is_last = lifecycle.finalizers.iter().all(|it| it == FOREGROUND);
        let waits_for_grace = lifecycle.deletion_grace_period_seconds.unwrap_or_default() > 0;
        if is_last && lifecycle.deletion_timestamp.is_some() && !waits_for_grace {
            return self.remove(kind, owner).map(drop);
        }
        self.rewrite(kind, owner, write, |object| {
            if let Some(Value::Array(finalizers)) = meta_field(object, "finalizers") {
                finalizers.retain(|finalizer| finalizer != FOREGROUND);
            }
        })
        .map(drop)
    }
}

fn meta_field<'a>(object: &'a mut Map<String, Value>, field: &str) -> Option<&'a mut Value> {
    object.get_mut("metadata")?.get_mut(field)
}
