//! One step of a Deployment.

use std::sync::Arc;

use k8s_openapi::{
    api::{
        apps::v1::{Deployment, DeploymentSpec, DeploymentStatus, ReplicaSet},
        core::v1::Pod,
    },
    jiff::Timestamp,
};

use super::{
    limits::{Limits, is_rolling},
    revisions::{REVISION, beyond_history, new_set, revision_of, update_new_set},
    rolling,
    sets::{Sets, name_of, replicas, scale},
    status::{is_complete, status},
};
use crate::{cluster::has_ended, workloads::owner::controller_of};

/// Write of a `ReplicaSet`.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Change {
    Create(ReplicaSet),
    /// Replaces the stored set.
    Update {
        stored: Arc<ReplicaSet>,
        set: ReplicaSet,
    },
    Delete(Arc<ReplicaSet>),
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Plan {
    /// Writes, in this order.
    pub(super) changes: Vec<Change>,
    /// Status after the changes.
    pub(super) status: DeploymentStatus,
    /// Revision of the new set, if the Deployment has another one.
    pub(super) revision: Option<String>,
}

/// Returns the next step of a Deployment (Go: `syncDeployment`). `stored` are the `ReplicaSet`s that it owns, `pods` those of
/// its namespace.
pub(super) fn plan(deployment: &Deployment, stored: &[Arc<ReplicaSet>], pods: &[Arc<Pod>], now: Timestamp) -> Plan {
    let spec = deployment.spec.clone().unwrap_or_default();
    let limits = Limits::of(&spec);
    let mut sets = Sets::of(&spec, stored);
    if deployment.metadata.deletion_timestamp.is_some() {
        let status = status(deployment, &spec, &sets, limits, now);
        return Plan { changes: Vec::new(), status, revision: None };
    }
    if spec.paused == Some(true) {
        scale_paused(&mut sets, limits);
    } else {
        roll_out(deployment, &spec, &mut sets, pods, limits);
    }
    let status = status(deployment, &spec, &sets, limits, now);
    let deleted = if is_complete(&spec, &status) { beyond_history(&spec, &sets.old) } else { Vec::new() };
    let current = deployment.metadata.annotations.as_ref().and_then(|it| it.get(REVISION));
    let revision = sets.new.as_ref().map(|new| revision_of(new).to_string()).filter(|it| Some(it) != current);
    Plan { changes: changes(sets, stored, &deleted), status, revision }
}

/// While a rollout is paused, only the number of Pods follows the spec: the largest set gets the difference.
fn scale_paused(sets: &mut Sets, limits: Limits) {
    let current = sets.desired();
    let difference = current.clamp(limits.replicas, limits.most()) - current;
    if let Some(largest) = sets.all_mut().max_by_key(|set| replicas(set)).filter(|_| difference != 0) {
        scale(largest, (replicas(largest) + difference).max(0));
    }
}

/// Moves the sets one step towards the template of the Deployment.
fn roll_out(deployment: &Deployment, spec: &DeploymentSpec, sets: &mut Sets, pods: &[Arc<Pod>], limits: Limits) {
    if !is_rolling(spec) && !old_pods_are_gone(sets, pods) {
        return;
    }
    let Sets { new, old } = sets;
    let new = new.get_or_insert_with(|| new_set(deployment, spec));
    update_new_set(new, deployment, old);
    if !is_rolling(spec) {
        scale(new, limits.replicas);
    } else if !rolling::scale_new(sets, limits) {
        rolling::scale_old(sets, limits);
    }
}

/// Scales the old sets to zero, and returns whether all their Pods are gone (Go: `rolloutRecreate`).
fn old_pods_are_gone(sets: &mut Sets, pods: &[Arc<Pod>]) -> bool {
    let mut is_scaled = false;
    for set in sets.old.iter_mut().filter(|set| replicas(set) > 0) {
        scale(set, 0);
        is_scaled = true;
    }
    let is_old = |pod: &Pod| {
        let owner = controller_of(&pod.metadata).map(|owner| owner.uid.as_str());
        owner.is_some() && sets.old.iter().any(|set| set.metadata.uid.as_deref() == owner)
    };
    !is_scaled && !pods.iter().any(|pod| is_old(pod) && !has_ended(pod))
}

/// Returns the writes that lead from the stored sets to those of a plan.
fn changes(sets: Sets, before: &[Arc<ReplicaSet>], deleted: &[String]) -> Vec<Change> {
    let stored = |set: &ReplicaSet| before.iter().find(|it| it.metadata.uid == set.metadata.uid).cloned();
    let Sets { new, old } = sets;
    let written = new.into_iter().chain(old).filter_map(|set| match stored(&set) {
        None => Some(Change::Create(set)),
        Some(stored) if deleted.iter().any(|name| name == name_of(&set)) => Some(Change::Delete(stored)),
        Some(stored) if *stored == set => None,
        Some(stored) => Some(Change::Update { stored, set }),
    });
    written.collect()
}
