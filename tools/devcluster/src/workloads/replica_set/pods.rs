//! What a `ReplicaSet` reads of its Pods.

use k8s_openapi::{api::core::v1::Pod, jiff::Timestamp};

/// Returns the phase of a Pod.
pub(in crate::workloads) fn phase_of(pod: &Pod) -> &str {
    pod.status.as_ref().and_then(|status| status.phase.as_deref()).unwrap_or_default()
}

/// Returns the name of the Node of a Pod; empty if it has none.
pub(super) fn node_of(pod: &Pod) -> &str {
    pod.spec.as_ref().and_then(|spec| spec.node_name.as_deref()).unwrap_or_default()
}

/// Returns whether a Pod counts as a replica: it has not ended and is not being deleted (Go: `IsPodActive`).
pub(super) fn is_active(pod: &Pod) -> bool {
    !has_ended(pod) && pod.metadata.deletion_timestamp.is_none()
}

/// Returns whether a Pod is being deleted and has not ended.
pub(super) fn is_terminating(pod: &Pod) -> bool {
    !has_ended(pod) && pod.metadata.deletion_timestamp.is_some()
}

/// Returns whether all containers of a Pod have ended for good.
pub(in crate::workloads) fn has_ended(pod: &Pod) -> bool {
    matches!(phase_of(pod), "Succeeded" | "Failed")
}

/// Returns the time since which a Pod is ready; `None` if it is not.
pub(super) fn ready_since(pod: &Pod) -> Option<Timestamp> {
    let mut conditions = pod.status.iter().flat_map(|status| status.conditions.iter().flatten());
    let ready = conditions.find(|condition| condition.type_ == "Ready" && condition.status == "True")?;
    let since = ready.last_transition_time.as_ref().map(|time| time.0);
    Some(since.unwrap_or(Timestamp::UNIX_EPOCH))
}
