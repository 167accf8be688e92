//! How many Pods a `ReplicaSet` creates, and which ones it deletes.

use std::{cmp::Reverse, collections::BTreeMap, sync::Arc};

use k8s_openapi::{
    api::{apps::v1::ReplicaSet, core::v1::Pod},
    jiff::Timestamp,
};

use super::pods::{is_active, node_of, phase_of, ready_since};

/// Annotation with the cost of deleting a Pod, compared with that of the other Pods of its `ReplicaSet`.
const DELETION_COST: &str = "controller.kubernetes.io/pod-deletion-cost";
/// Maximum number of Pods that one sync creates or deletes (Go: `BurstReplicas`).
const BURST: usize = 500;

/// Pods that a sync creates or deletes.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Plan {
    pub(super) create: usize,
    pub(super) delete: Vec<Arc<Pod>>,
}

/// Returns the changes that lead to the number of Pods in the spec (Go: `manageReplicas`). `pods` are those that the set
/// owns.
pub(super) fn plan(set: &ReplicaSet, pods: &[Arc<Pod>]) -> Plan {
    if set.metadata.deletion_timestamp.is_some() {
        return Plan::default();
    }
    let mut active: Vec<Arc<Pod>> = pods.iter().filter(|pod| is_active(pod)).cloned().collect();
    let replicas = set.spec.as_ref().and_then(|spec| spec.replicas).unwrap_or(1);
    let desired = usize::try_from(replicas).unwrap_or_default();
    if active.len() <= desired {
        return Plan { create: (desired - active.len()).min(BURST), delete: Vec::new() };
    }
    let mut on_node: BTreeMap<String, usize> = BTreeMap::new();
    for pod in &active {
        *on_node.entry(node_of(pod).to_owned()).or_default() += 1;
    }
    let neighbours = |pod: &Pod| on_node.get(node_of(pod)).copied().unwrap_or_default();
    active.sort_by_cached_key(|pod| rank(pod, neighbours(pod)));
    active.truncate((active.len() - desired).min(BURST));
    Plan { create: 0, delete: active }
}

/// Order of deletion (Go: `ActivePodsWithRanks`): Pods without a Node, pending, not ready, cheap, on a crowded Node, ready
/// for a short time, restarted often, and young ones first.
type Rank =
    (bool, u8, bool, i32, Reverse<usize>, Reverse<Option<Timestamp>>, Reverse<i32>, Reverse<Option<Timestamp>>, String);

fn rank(pod: &Pod, neighbours: usize) -> Rank {
    let phase = match phase_of(pod) {
        "Pending" => 0,
        "Running" => 2,
        _ => 1,
    };
    let since = ready_since(pod);
    let cost = pod.metadata.annotations.as_ref().and_then(|it| it.get(DELETION_COST)?.parse().ok()).unwrap_or_default();
    let statuses = pod.status.iter().flat_map(|status| status.container_statuses.iter().flatten());
    let restarts = statuses.map(|status| status.restart_count).max().unwrap_or_default();
    let created = pod.metadata.creation_timestamp.as_ref().map(|time| time.0);
    (
        !node_of(pod).is_empty(),
        phase,
        since.is_some(),
        cost,
        Reverse(neighbours),
        Reverse(since),
        Reverse(restarts),
        Reverse(created),
        pod.metadata.name.clone().unwrap_or_default(),
    )
}
