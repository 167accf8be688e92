//! Status of a `ReplicaSet`.

use std::{sync::Arc, time::Duration};

use k8s_openapi::{
    api::{
        apps::v1::{ReplicaSet, ReplicaSetCondition, ReplicaSetStatus},
        core::v1::Pod,
    },
    apimachinery::pkg::apis::meta::v1::Time,
    jiff::Timestamp,
};

use super::pods::{is_active, is_terminating, ready_since};
use crate::workloads::count::{count, non_zero};

/// Condition of a `ReplicaSet` whose Pods cannot be created or deleted.
pub(in crate::workloads) const REPLICA_FAILURE: &str = "ReplicaFailure";

/// Failure of a sync to create or delete Pods.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Failure {
    /// `FailedCreate` or `FailedDelete`.
    pub(super) reason: &'static str,
    pub(super) message: String,
}

/// Returns the status (Go: `calculateStatus`), and the time after which it changes although no Pod does: a ready Pod becomes
/// available after `minReadySeconds`.
pub(super) fn status(
    set: &ReplicaSet,
    pods: &[Arc<Pod>],
    failure: Option<Failure>,
    now: Timestamp,
) -> (ReplicaSetStatus, Option<Duration>) {
    let spec = set.spec.clone().unwrap_or_default();
    let min_ready = Duration::from_secs(u64::try_from(spec.min_ready_seconds.unwrap_or_default()).unwrap_or_default());
    let template_labels = spec.template.and_then(|template| template.metadata?.labels).unwrap_or_default();
    let active: Vec<&Arc<Pod>> = pods.iter().filter(|pod| is_active(pod)).collect();
    let labels = |pod: &Pod| pod.metadata.labels.clone().unwrap_or_default();
    let has_all = |pod: &&&Arc<Pod>| template_labels.iter().all(|(key, value)| labels(pod).get(key) == Some(value));
    let ready: Vec<Timestamp> = active.iter().filter_map(|pod| ready_since(pod)).collect();
    let remaining = |since: &Timestamp| {
        let ready_for = Duration::try_from(now.duration_since(*since)).unwrap_or_default();
        min_ready.checked_sub(ready_for).filter(|it| !it.is_zero())
    };
    let available = ready.iter().filter(|since| remaining(since).is_none()).count();
    let status = ReplicaSetStatus {
        replicas: count(active.len()),
        fully_labeled_replicas: non_zero(count(active.iter().filter(has_all).count())),
        ready_replicas: non_zero(count(ready.len())),
        available_replicas: non_zero(count(available)),
        terminating_replicas: Some(count(pods.iter().filter(|pod| is_terminating(pod)).count())),
        observed_generation: set.metadata.generation,
        conditions: conditions(set, failure, now),
    };
    (status, ready.iter().filter_map(remaining).min())
}

fn conditions(set: &ReplicaSet, failure: Option<Failure>, now: Timestamp) -> Option<Vec<ReplicaSetCondition>> {
    let current = set.status.as_ref().and_then(|status| status.conditions.clone()).unwrap_or_default();
    let is_failure = |condition: &ReplicaSetCondition| condition.type_ == REPLICA_FAILURE;
    let conditions: Vec<_> = match (failure, current.iter().any(is_failure)) {
        (None, true) => current.into_iter().filter(|condition| !is_failure(condition)).collect(),
        (Some(Failure { reason, message }), false) => {
            let failed = ReplicaSetCondition {
                type_: REPLICA_FAILURE.to_owned(),
                status: "True".to_owned(),
                reason: Some(reason.to_owned()),
                message: Some(message),
                last_transition_time: Some(Time(now)),
            };
            current.into_iter().chain([failed]).collect()
        }
        _ => current,
    };
    Some(conditions).filter(|it| !it.is_empty())
}
