//! Status and conditions of a Deployment.

use k8s_openapi::{
    api::apps::v1::{Deployment, DeploymentCondition, DeploymentSpec, DeploymentStatus},
    apimachinery::pkg::apis::meta::v1::Time,
    jiff::Timestamp,
};

use super::{
    limits::Limits,
    sets::{Sets, actual, name_of},
};
use crate::workloads::write::non_zero;

const NEW_SET_AVAILABLE: &str = "NewReplicaSetAvailable";

/// Returns the status with the counts of the sets and the conditions (Go: `calculateStatus`, `syncRolloutStatus`). A rollout has
/// no deadline.
pub(super) fn status(
    deployment: &Deployment,
    spec: &DeploymentSpec,
    sets: &Sets,
    limits: Limits,
    now: Timestamp,
) -> DeploymentStatus {
    let current = deployment.status.clone().unwrap_or_default();
    let available = sets.available();
    let status = DeploymentStatus {
        observed_generation: deployment.metadata.generation,
        replicas: non_zero(sets.all().map(actual).sum()),
        updated_replicas: non_zero(sets.new.as_ref().map(actual).unwrap_or_default()),
        ready_replicas: non_zero(sets.all().filter_map(|set| set.status.as_ref()?.ready_replicas).sum()),
        available_replicas: non_zero(available),
        unavailable_replicas: non_zero((sets.desired() - available).max(0)),
        ..DeploymentStatus::default()
    };
    let conditions = Conditions { current: &current.conditions.unwrap_or_default(), now };
    let is_available = available >= limits.least_available();
    let availability = if is_available {
        ["True", "MinimumReplicasAvailable", "Deployment has minimum availability."]
    } else {
        ["False", "MinimumReplicasUnavailable", "Deployment does not have minimum availability."]
    };
    let name = sets.new.as_ref().map(name_of).unwrap_or_default();
    let progressed = format!("ReplicaSet \"{name}\" has successfully progressed.");
    let progresses = format!("ReplicaSet \"{name}\" is progressing.");
    let has_arrived = status.replicas == status.updated_replicas && conditions.has_reason(NEW_SET_AVAILABLE);
    let progress = if spec.paused == Some(true) {
        ["Unknown", "DeploymentPaused", "Deployment is paused"]
    } else if is_complete(spec, &status) || has_arrived {
        ["True", NEW_SET_AVAILABLE, progressed.as_str()]
    } else {
        ["True", "ReplicaSetUpdated", progresses.as_str()]
    };
    let conditions = vec![conditions.next("Available", availability), conditions.next("Progressing", progress)];
    DeploymentStatus { conditions: Some(conditions), ..status }
}

/// Returns whether all Pods are those of the new set, and available.
pub(super) fn is_complete(spec: &DeploymentSpec, status: &DeploymentStatus) -> bool {
    let replicas = non_zero(spec.replicas.unwrap_or(1));
    [status.updated_replicas, status.replicas, status.available_replicas] == [replicas; 3]
}

/// Conditions before the step, and its time.
struct Conditions<'a> {
    current: &'a [DeploymentCondition],
    now: Timestamp,
}

impl Conditions<'_> {
    fn has_reason(&self, reason: &str) -> bool {
        self.current.iter().any(|condition| condition.reason.as_deref() == Some(reason))
    }

    /// Returns a condition with its status, reason and message. It is the current one if status and reason are the same (Go:
    /// `SetDeploymentCondition`).
    fn next(&self, type_: &str, [status, reason, message]: [&str; 3]) -> DeploymentCondition {
        let current = self.current.iter().find(|it| it.type_ == type_ && it.status == status);
        if let Some(current) = current.filter(|it| it.reason.as_deref() == Some(reason)) {
            return current.clone();
        }
        let since = current.and_then(|it| it.last_transition_time.clone());
        DeploymentCondition {
            type_: type_.to_owned(),
            status: status.to_owned(),
            reason: Some(reason.to_owned()),
            message: Some(message.to_owned()),
            last_transition_time: Some(since.unwrap_or(Time(self.now))),
            last_update_time: Some(Time(self.now)),
        }
    }
}
