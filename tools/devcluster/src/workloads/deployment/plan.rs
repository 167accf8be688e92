//! One step of a Deployment.

use std::{sync::Arc, time::Duration};

use k8s_openapi::{
    api::{
        apps::v1::{Deployment, DeploymentSpec, DeploymentStatus, ReplicaSet},
        core::v1::Pod,
    },
    jiff::Timestamp,
};

use super::{
    limits::{Limits, is_rolling},
    revisions::{REVISION, beyond_history, new_set, revision_of, scale, update_new_set},
    rolling, scaling,
    sets::{Sets, name_of, replicas},
    status,
};
use crate::workloads::{owner::controller_of, replica_set::has_ended};

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

/// Result of [`plan`].
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Plan {
    /// Writes, in this order.
    pub(super) changes: Vec<Change>,
    /// Status after the changes.
    pub(super) status: DeploymentStatus,
    /// Revision of the new set.
    pub(super) revision: Option<String>,
    /// Time of the next plan if nothing changes before: the rollout times out.
    pub(super) wake: Option<Duration>,
}

/// Returns the next step of a Deployment (Go: `syncDeployment`). `sets` are the `ReplicaSet`s that it owns, `pods` those of
/// its namespace.
pub(super) fn plan(deployment: &Deployment, sets: &[Arc<ReplicaSet>], pods: &[Arc<Pod>], now: Timestamp) -> Plan {
    let spec = deployment.spec.clone().unwrap_or_default();
    let limits = Limits::of(deployment);
    let sets_before = sets;
    let mut deployment = deployment.clone();
    let mut sets = Sets::of(&deployment, sets);
    let mut deleted = Vec::new();
    if deployment.metadata.deletion_timestamp.is_some() {
        let status = status::counted(&deployment, &sets, limits, now);
        return Plan { changes: Vec::new(), status, revision: None, wake: None };
    }
    let before = deployment.status.get_or_insert_default();
    status::report_pause(before, &spec, now);
    let is_paused = spec.paused == Some(true);
    let is_steady = is_paused || scaling::is_scaled(&sets, limits);
    if is_steady {
        if let Some(new) = &mut sets.new {
            update_new_set(new, &deployment, &spec, &sets.old);
        }
        scaling::spread(&deployment, &spec, &mut sets, limits);
    } else {
        deployment.status = Some(roll_out(&deployment, &spec, &mut sets, pods, limits, now));
    }
    let mut status = status::counted(&deployment, &sets, limits, now);
    if !is_steady {
        status::report_progress(&mut status, &deployment, &spec, &sets, now);
    }
    if is_paused || status::is_complete(&spec, &status) {
        deleted = beyond_history(&spec, &sets.old);
    }
    let wake = status::until_timeout(&status, &spec, now).filter(|left| !left.is_zero());
    let revision = sets.new.as_ref().map(revision_of).filter(|it| *it > 0).map(|it| it.to_string());
    let is_current =
        |revision: &String| deployment.metadata.annotations.as_ref().and_then(|it| it.get(REVISION)) == Some(revision);
    Plan {
        changes: changes(sets, sets_before, &deleted),
        status,
        revision: revision.filter(|it| !is_current(it)),
        wake,
    }
}

/// Moves the sets one step towards the template of the Deployment. Returns its status with the conditions of the new set.
fn roll_out(
    deployment: &Deployment,
    spec: &DeploymentSpec,
    sets: &mut Sets,
    pods: &[Arc<Pod>],
    limits: Limits,
    now: Timestamp,
) -> DeploymentStatus {
    let mut status = deployment.status.clone().unwrap_or_default();
    if !is_rolling(spec) && !old_pods_are_gone(sets, pods, limits) {
        return status;
    }
    let is_created = sets.new.is_none();
    let Sets { new, old } = sets;
    let new = new.get_or_insert_with(|| new_set(deployment, spec, old, limits));
    update_new_set(new, deployment, spec, old);
    status::report_new_set(&mut status, name_of(new), is_created, now);
    if is_rolling(spec) {
        if !rolling::scale_new(sets, limits) {
            rolling::scale_old(sets, limits);
        }
    } else if replicas(new) != limits.replicas {
        scale(new, limits.replicas, limits);
    }
    status
}

/// Scales the old sets to zero, and returns whether all their Pods are gone (Go: `rolloutRecreate`).
fn old_pods_are_gone(sets: &mut Sets, pods: &[Arc<Pod>], limits: Limits) -> bool {
    let mut is_scaled = false;
    for set in sets.old.iter_mut().filter(|set| replicas(set) > 0) {
        scale(set, 0, limits);
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
