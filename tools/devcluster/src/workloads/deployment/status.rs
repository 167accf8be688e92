//! Status and conditions of a Deployment.

use std::time::Duration;

use k8s_openapi::{
    api::apps::v1::{Deployment, DeploymentCondition, DeploymentSpec, DeploymentStatus},
    apimachinery::pkg::apis::meta::v1::Time,
    jiff::{SignedDuration, Timestamp},
};

use super::{
    limits::Limits,
    sets::{Sets, actual, name_of},
};
use crate::workloads::{count::non_zero, replica_set::REPLICA_FAILURE};

const AVAILABLE: &str = "Available";
const PROGRESSING: &str = "Progressing";
const NEW_SET_AVAILABLE: &str = "NewReplicaSetAvailable";
const TIMED_OUT: &str = "ProgressDeadlineExceeded";
const PAUSED: &str = "DeploymentPaused";
/// Value of `progressDeadlineSeconds` that means no deadline.
const NO_DEADLINE: i32 = i32::MAX;

/// Returns the status with the counts of the sets and the condition `Available` (Go: `calculateStatus`).
pub(super) fn counted(deployment: &Deployment, sets: &Sets, limits: Limits, now: Timestamp) -> DeploymentStatus {
    let current = deployment.status.clone().unwrap_or_default();
    let sum = |of: fn(&k8s_openapi::api::apps::v1::ReplicaSetStatus) -> Option<i32>| -> i32 {
        sets.all().filter_map(|set| of(set.status.as_ref()?)).sum()
    };
    let available = sets.available();
    let mut status = DeploymentStatus {
        observed_generation: deployment.metadata.generation,
        replicas: non_zero(sets.all().map(actual).sum()),
        updated_replicas: non_zero(sets.new.as_ref().map(actual).unwrap_or_default()),
        ready_replicas: non_zero(sum(|status| status.ready_replicas)),
        available_replicas: non_zero(available),
        unavailable_replicas: non_zero((sets.desired() - available).max(0)),
        terminating_replicas: Some(sum(|status| status.terminating_replicas)),
        collision_count: current.collision_count,
        conditions: current.conditions,
    };
    let condition = if available >= limits.least_available() {
        condition(AVAILABLE, "True", "MinimumReplicasAvailable", "Deployment has minimum availability.", now)
    } else {
        let message = "Deployment does not have minimum availability.";
        condition(AVAILABLE, "False", "MinimumReplicasUnavailable", message, now)
    };
    set(&mut status, condition);
    status
}

/// Sets the condition `Progressing`, and copies the failures of the sets (Go: `syncRolloutStatus`).
pub(super) fn report_progress(
    status: &mut DeploymentStatus,
    deployment: &Deployment,
    spec: &DeploymentSpec,
    sets: &Sets,
    now: Timestamp,
) {
    let deadline = spec.progress_deadline_seconds.filter(|seconds| *seconds != NO_DEADLINE);
    if deadline.is_none() {
        remove(status, PROGRESSING);
    }
    let current = get(status, PROGRESSING).cloned();
    let reason = current.as_ref().and_then(|condition| condition.reason.as_deref());
    let has_arrived = status.replicas == status.updated_replicas && reason == Some(NEW_SET_AVAILABLE);
    if deadline.is_some() && !has_arrived {
        let what = match &sets.new {
            Some(new) => format!("ReplicaSet \"{}\"", name_of(new)),
            None => format!("Deployment \"{}\"", deployment.metadata.name.as_deref().unwrap_or_default()),
        };
        if is_complete(spec, status) {
            let message = format!("{what} has successfully progressed.");
            set(status, condition(PROGRESSING, "True", NEW_SET_AVAILABLE, &message, now));
        } else if has_progressed(deployment, status) {
            let message = format!("{what} is progressing.");
            let mut progress = condition(PROGRESSING, "True", "ReplicaSetUpdated", &message, now);
            // Each step moves the deadline, which counts from `lastUpdateTime`.
            if let Some(current) = current.filter(|current| current.status == "True") {
                progress.last_transition_time = current.last_transition_time;
            }
            remove(status, PROGRESSING);
            set(status, progress);
        } else if until_timeout(status, spec, now).is_some_and(|left| left.is_zero()) {
            let message = format!("{what} has timed out progressing.");
            set(status, condition(PROGRESSING, "False", TIMED_OUT, &message, now));
        }
    }
    let failures = sets.all().flat_map(|set| set.status.iter().flat_map(|status| status.conditions.iter().flatten()));
    let failure = failures.filter(|condition| condition.type_ == REPLICA_FAILURE).last();
    remove(status, REPLICA_FAILURE);
    if let Some(failure) = failure {
        status.conditions.get_or_insert_default().push(DeploymentCondition {
            type_: failure.type_.clone(),
            status: failure.status.clone(),
            reason: failure.reason.clone(),
            message: failure.message.clone(),
            last_transition_time: failure.last_transition_time.clone(),
            last_update_time: failure.last_transition_time.clone(),
        });
    }
}

/// Reports that a rollout is paused or resumed (Go: `checkPausedConditions`).
pub(super) fn report_pause(status: &mut DeploymentStatus, spec: &DeploymentSpec, now: Timestamp) {
    let reason = get(status, PROGRESSING).and_then(|condition| condition.reason.as_deref());
    let is_paused = spec.paused == Some(true);
    if spec.progress_deadline_seconds.is_none() || reason == Some(TIMED_OUT) || is_paused == (reason == Some(PAUSED)) {
        return;
    }
    let changed = if is_paused {
        condition(PROGRESSING, "Unknown", PAUSED, "Deployment is paused", now)
    } else {
        condition(PROGRESSING, "Unknown", "DeploymentResumed", "Deployment is resumed", now)
    };
    set(status, changed);
}

/// Reports that the new set was created, or found.
pub(super) fn report_new_set(status: &mut DeploymentStatus, name: &str, is_created: bool, now: Timestamp) {
    if is_created {
        let message = format!("Created new replica set \"{name}\"");
        set(status, condition(PROGRESSING, "True", "NewReplicaSetCreated", &message, now));
    } else if get(status, PROGRESSING).is_none() {
        let message = format!("Found new replica set \"{name}\"");
        set(status, condition(PROGRESSING, "True", "FoundNewReplicaSet", &message, now));
    }
}

/// Returns whether all Pods are those of the new set, and available.
pub(super) fn is_complete(spec: &DeploymentSpec, status: &DeploymentStatus) -> bool {
    let replicas = non_zero(spec.replicas.unwrap_or(1));
    [status.updated_replicas, status.replicas, status.available_replicas] == [replicas; 3]
}

/// Returns the time until the rollout has timed out; `None` if it cannot.
pub(super) fn until_timeout(status: &DeploymentStatus, spec: &DeploymentSpec, now: Timestamp) -> Option<Duration> {
    let deadline = spec.progress_deadline_seconds.filter(|seconds| *seconds != NO_DEADLINE)?;
    let progress = get(status, PROGRESSING)?;
    if [Some(NEW_SET_AVAILABLE), Some(TIMED_OUT)].contains(&progress.reason.as_deref()) {
        return None;
    }
    let at = progress.last_update_time.as_ref()?.0 + SignedDuration::from_secs(deadline.into());
    Some(Duration::try_from(at.duration_since(now)).unwrap_or_default())
}

/// Returns whether the counts are nearer to those of a complete rollout than before.
fn has_progressed(deployment: &Deployment, status: &DeploymentStatus) -> bool {
    let before = deployment.status.clone().unwrap_or_default();
    let old =
        |status: &DeploymentStatus| status.replicas.unwrap_or_default() - status.updated_replicas.unwrap_or_default();
    status.updated_replicas > before.updated_replicas
        || old(status) < old(&before)
        || status.ready_replicas > before.ready_replicas
        || status.available_replicas > before.available_replicas
}

fn condition(type_: &str, status: &str, reason: &str, message: &str, now: Timestamp) -> DeploymentCondition {
    DeploymentCondition {
        type_: type_.to_owned(),
        status: status.to_owned(),
        reason: Some(reason.to_owned()),
        message: Some(message.to_owned()),
        last_transition_time: Some(Time(now)),
        last_update_time: Some(Time(now)),
    }
}

fn get<'a>(status: &'a DeploymentStatus, type_: &str) -> Option<&'a DeploymentCondition> {
    status.conditions.iter().flatten().find(|condition| condition.type_ == type_)
}

fn remove(status: &mut DeploymentStatus, type_: &str) {
    status.conditions.get_or_insert_default().retain(|condition| condition.type_ != type_);
}

/// Sets a condition, unless it has this status and reason already (Go: `SetDeploymentCondition`).
fn set(status: &mut DeploymentStatus, mut condition: DeploymentCondition) {
    if let Some(current) = get(status, &condition.type_).filter(|current| current.status == condition.status) {
        if current.reason == condition.reason {
            return;
        }
        condition.last_transition_time.clone_from(&current.last_transition_time);
    }
    remove(status, &condition.type_.clone());
    status.conditions.get_or_insert_default().push(condition);
}
