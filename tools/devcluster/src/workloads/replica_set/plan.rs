//! How many Pods a `ReplicaSet` creates, which ones it deletes, and its status.

use std::{cmp::Reverse, sync::Arc};

use k8s_openapi::api::apps::v1::ReplicaSetStatus;

use crate::{
    cluster::{condition, has_ended},
    workloads::{
        objects::{Pod, ReplicaSet},
        write::count,
    },
};

/// Pods that a sync creates or deletes.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Plan {
    pub(super) create: usize,
    pub(super) delete: Vec<Arc<Pod>>,
}

/// Returns the changes that lead to the number of Pods in the spec (Go: `manageReplicas`). `pods` are those that the set
/// owns. Pods without a Node are deleted first, then those that are not ready, then young ones.
pub(super) fn plan(set: &ReplicaSet, pods: &[Arc<Pod>]) -> Plan {
    if set.metadata.deletion_timestamp.is_some() {
        return Plan::default();
    }
    let mut active: Vec<Arc<Pod>> = pods.iter().filter(|pod| is_active(pod)).cloned().collect();
    let desired = usize::try_from(set.spec.replicas.unwrap_or(1)).unwrap_or_default();
    if active.len() <= desired {
        return Plan { create: desired - active.len(), delete: Vec::new() };
    }
    active.sort_by_cached_key(|pod| {
        let has_node = pod.spec["nodeName"].is_string();
        let created = pod.metadata.creation_timestamp.as_ref().map(|time| time.0);
        (has_node, is_ready(pod), Reverse(created), pod.metadata.name.clone())
    });
    active.truncate(active.len() - desired);
    Plan { create: 0, delete: active }
}

/// Returns the status of a set that owns these Pods. A Pod that is ready counts as available.
pub(super) fn status(set: &ReplicaSet, pods: &[Arc<Pod>]) -> ReplicaSetStatus {
    let active = || pods.iter().filter(|pod| is_active(pod));
    let ready = Some(count(active().filter(|pod| is_ready(pod)).count()));
    ReplicaSetStatus {
        replicas: count(active().count()),
        ready_replicas: ready,
        available_replicas: ready,
        observed_generation: set.metadata.generation,
        ..ReplicaSetStatus::default()
    }
}

/// Returns whether a Pod counts as a replica: it has not ended and is not being deleted (Go: `IsPodActive`).
fn is_active(pod: &Pod) -> bool {
    !has_ended(&pod.status) && pod.metadata.deletion_timestamp.is_none()
}

fn is_ready(pod: &Pod) -> bool {
    condition(&pod.status, "Ready") == Some("True")
}
