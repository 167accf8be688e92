//! Delete: immediate, with a grace period, or deferred until the finalizers are removed.

use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};
use serde_json::{Map, Value};

use super::admitted::AdmittedWrite;
use super::garbage::FOREGROUND;
use super::stored::Lifecycle;
use super::{Cluster, DeleteOptions, Stored, WriteOptions, WriteTarget};
use crate::admission::Operation;
use crate::kinds::Kind;
use crate::status::StatusError;

#[derive(Debug)]
pub(crate) struct Deleted {
    /// The removed object in its last state, or the object that is still stored.
    pub(crate) object: Arc<Stored>,
    /// Whether the object was removed, or would be but for the dry run.
    pub(crate) removed: bool,
}

#[derive(Debug, PartialEq, Eq)]
enum DeleteEffect {
    /// No effect: the object is already being deleted.
    Pending,
    Remove,
    /// Set `deletionTimestamp` to `at` and the grace period to `grace`; `first` if it was not set before.
    Mark {
        at: Timestamp,
        grace: i64,
        first: bool,
    },
}

impl Cluster {
    pub(crate) fn delete(
        &mut self,
        kind: &Kind,
        namespace: &str,
        name: &str,
        options: &DeleteOptions,
        write: WriteOptions<'_>,
    ) -> Result<Deleted, StatusError> {
        let stored = self.get(kind, namespace, name)?;
        check_preconditions(kind, &stored, options)?;
        if self.is_subject_to_admission(write) {
            let old = stored.value();
            let target = WriteTarget::object(kind, namespace, name);
            self.validate(AdmittedWrite { operation: Operation::Delete, target, old: Some(&old) }, None, write)?;
        }
        if self.is_namespaces(kind) {
            return self.delete_namespace(kind, &stored, write);
        }
        let mut lifecycle = stored.lifecycle.clone();
        let waits = options.foreground && self.config.garbage_collection && self.has_dependents(&stored.uid);
        if waits && !lifecycle.finalizers.iter().any(|it| it == FOREGROUND) {
            lifecycle.finalizers.push(FOREGROUND.to_owned());
        }
        let supported = kind.has_grace.then(|| grace_of(&stored.value(), options.grace_period_seconds));
        let effect = delete_effect(&lifecycle, supported, options.grace_period_seconds, write.now);
        self.apply_effect(kind, &stored, &lifecycle, &effect, write)
    }

    fn apply_effect(
        &mut self,
        kind: &Kind,
        stored: &Arc<Stored>,
        lifecycle: &Lifecycle,
        effect: &DeleteEffect,
        write: WriteOptions<'_>,
    ) -> Result<Deleted, StatusError> {
        match effect {
            DeleteEffect::Pending => Ok(Deleted { object: Arc::clone(stored), removed: false }),
            DeleteEffect::Remove => Ok(self.removed(kind, stored, write)),
            DeleteEffect::Mark { at, grace, first } => {
                let marked = self.rewrite(kind, stored, write, |object| {
                    mark(object, *at, *grace, first.then_some(lifecycle.generation).flatten());
                    set_finalizers(object, &lifecycle.finalizers);
                })?;
                // Watches get the update and then the deletion, as from a real server.
                if *grace == 0 && lifecycle.finalizers.is_empty() {
                    return Ok(self.removed(kind, &marked, write));
                }
                Ok(Deleted { object: marked, removed: false })
            }
        }
    }

    /// Removes an object, but for a dry run.
    fn removed(&mut self, kind: &Kind, object: &Arc<Stored>, write: WriteOptions<'_>) -> Deleted {
        let object = if write.dry_run { Arc::clone(object) } else { self.remove(kind, object) };
        Deleted { object, removed: true }
    }

    /// Deletes an object of a terminating namespace without a grace period; one with finalizers is only marked.
    pub(super) fn delete_without_grace(
        &mut self,
        kind: &Kind,
        stored: &Arc<Stored>,
        write: WriteOptions<'_>,
    ) -> Result<(), StatusError> {
        let lifecycle = &stored.lifecycle;
        let effect = match (lifecycle.finalizers.is_empty(), lifecycle.deletion_timestamp) {
            (true, _) => DeleteEffect::Remove,
            (false, None) => DeleteEffect::Mark { at: write.now, grace: 0, first: true },
            (false, Some(_)) => DeleteEffect::Pending,
        };
        self.apply_effect(kind, stored, lifecycle, &effect, write).map(drop)
    }

    /// Applies a change of the server itself to an object, without validation and admission.
    pub(crate) fn rewrite(
        &mut self,
        kind: &Kind,
        stored: &Stored,
        write: WriteOptions<'_>,
        change: impl FnOnce(&mut Map<String, Value>),
    ) -> Result<Arc<Stored>, StatusError> {
        let mut value = stored.value();
        if let Value::Object(object) = &mut value {
            change(object);
        }
        let mut prepared = kind.touch(value)?;
        Ok(self.store(kind, &mut prepared, Some(stored), write))
    }
}

fn delete_effect(
    lifecycle: &Lifecycle,
    supported: Option<i64>,
    requested: Option<i64>,
    now: Timestamp,
) -> DeleteEffect {
    let has_finalizers = !lifecycle.finalizers.is_empty();
    let Some(at) = lifecycle.deletion_timestamp else {
        return match supported {
            Some(grace) => DeleteEffect::Mark { at: add_seconds(now, grace), grace, first: true },
            None if has_finalizers => DeleteEffect::Mark { at: now, grace: 0, first: true },
            None => DeleteEffect::Remove,
        };
    };
    match (lifecycle.deletion_grace_period_seconds, requested) {
        (None, _) if has_finalizers => DeleteEffect::Pending,
        (None, _) => DeleteEffect::Remove,
        // The grace period of a pending deletion can only be shortened.
        (Some(pending), Some(requested)) if requested < pending => {
            DeleteEffect::Mark { at: add_seconds(at, requested - pending), grace: requested, first: false }
        }
        (Some(_), _) => DeleteEffect::Pending,
    }
}

/// Returns the grace period of a Pod in seconds; 0 if it has no Node, and so no kubelet, or has terminated.
fn grace_of(pod: &Value, requested: Option<i64>) -> i64 {
    let has_node = pod["spec"]["nodeName"].is_string();
    let has_ended = matches!(pod["status"]["phase"].as_str(), Some("Succeeded" | "Failed"));
    let period = requested.or_else(|| pod["spec"]["terminationGracePeriodSeconds"].as_i64()).unwrap_or_default();
    match period {
        _ if !has_node || has_ended => 0,
        ..0 => 1,
        period => period,
    }
}

fn add_seconds(time: Timestamp, seconds: i64) -> Timestamp {
    time.saturating_add(SignedDuration::from_secs(seconds)).unwrap_or(Timestamp::MAX)
}

fn mark(object: &mut Map<String, Value>, at: Timestamp, grace: i64, generation: Option<i64>) {
    let meta = &mut object["metadata"];
    meta["deletionTimestamp"] = at.to_string().into();
    meta["deletionGracePeriodSeconds"] = grace.into();
    // As in upstream's `rest.BeforeDelete`: controllers must observe the deletion as a new generation.
    if let Some(generation) = generation.filter(|it| *it > 0) {
        meta["generation"] = (generation + 1).into();
    }
}

pub(super) fn set_finalizers(object: &mut Map<String, Value>, finalizers: &[String]) {
    object["metadata"]["finalizers"] = finalizers.into();
}

fn check_preconditions(kind: &Kind, stored: &Stored, options: &DeleteOptions) -> Result<(), StatusError> {
    let name = &stored.name;
    if let Some(uid) = options.uid.as_deref().filter(|uid| *uid != &*stored.uid) {
        let why = format!(
            "the UID in the precondition ({uid}) does not match the UID in record ({}). \
             The object might have been deleted and then recreated",
            stored.uid
        );
        return Err(StatusError::conflict(kind, name, &why));
    }
    let found = stored.revision.to_string();
    if let Some(version) = options.resource_version.as_ref().filter(|version| **version != found) {
        let why = format!(
            "the ResourceVersion in the precondition ({version}) does not match the ResourceVersion in record \
             ({found}). The object might have been modified"
        );
        return Err(StatusError::conflict(kind, name, &why));
    }
    Ok(())
}
