//! One step of a Deployment: the new `ReplicaSet` grows and the old ones shrink, within the limits.

use std::sync::Arc;

use k8s_openapi::{
    api::apps::v1::{DeploymentCondition, DeploymentStatus, ReplicaSetStatus},
    apimachinery::pkg::apis::meta::v1::ObjectMeta,
};

use super::limits::Limits;
use crate::workloads::{
    objects::{Deployment, ReplicaSet, ReplicaSetSpec},
    owner::reference_to,
    template::{HASH_LABEL, hash},
};

/// Write of a `ReplicaSet`.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Change {
    Create(ReplicaSet),
    /// Only the number of replicas differs.
    Scale(ReplicaSet),
    Delete(Arc<ReplicaSet>),
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Plan {
    /// Writes, in this order.
    pub(super) changes: Vec<Change>,
    /// Status before the changes are visible.
    pub(super) status: DeploymentStatus,
}

/// Returns the next step of a Deployment. `stored` are the `ReplicaSet`s that it owns.
pub(super) fn plan(deployment: &Deployment, stored: &[Arc<ReplicaSet>]) -> Plan {
    let limits = Limits::of(&deployment.spec);
    let mut sets = Sets::of(deployment, stored);
    let status = sets.status(deployment, limits);
    if deployment.metadata.deletion_timestamp.is_some() {
        return Plan { changes: Vec::new(), status };
    }
    sets.roll_out(limits);
    Plan { changes: sets.changes(stored), status }
}

/// Copies of the `ReplicaSet`s of a Deployment, which a plan changes. Those that differ from the stored ones are written.
struct Sets {
    /// The set with the template of the Deployment; one without replicas if none is stored.
    new: ReplicaSet,
    /// The others, oldest first.
    old: Vec<ReplicaSet>,
}

impl Sets {
    fn of(deployment: &Deployment, stored: &[Arc<ReplicaSet>]) -> Self {
        let mut new = new_set(deployment);
        let mut old: Vec<ReplicaSet> = stored.iter().map(|set| (**set).clone()).collect();
        old.sort_by_key(|set| (set.metadata.creation_timestamp.clone(), set.metadata.name.clone()));
        if let Some(at) = old.iter().position(|set| set.metadata.name == new.metadata.name) {
            new = old.remove(at);
        }
        Self { new, old }
    }

    fn sum(&self, number: impl FnMut(&ReplicaSet) -> i32) -> i32 {
        [&self.new].into_iter().chain(&self.old).map(number).sum()
    }

    /// Moves the sets one step towards the template of the Deployment. The old ones shrink only if the new one stays as it is.
    fn roll_out(&mut self, limits: Limits) {
        let to = self.size_of_new(limits);
        if replicas(&self.new) == to {
            self.shrink_old(limits);
        } else {
            scale(&mut self.new, to);
        }
    }

    /// Returns the next size of the new set (Go: `NewRSNewReplicas`).
    fn size_of_new(&self, limits: Limits) -> i32 {
        let current = replicas(&self.new);
        let room = (limits.most - self.sum(replicas)).max(0);
        limits.replicas.min(current + room)
    }

    /// Shrinks the old sets as far as enough Pods stay available: first by those of their Pods that are not available (Go:
    /// `reconcileOldReplicaSets`).
    fn shrink_old(&mut self, limits: Limits) {
        let removable = self.sum(replicas) - limits.least_available - (replicas(&self.new) - available(&self.new));
        if removable > 0 {
            shrink(&mut self.old, removable, |set| replicas(set) - available(set));
            let removable = self.sum(available) - limits.least_available;
            shrink(&mut self.old, removable, replicas);
        }
    }

    fn status(&self, deployment: &Deployment, limits: Limits) -> DeploymentStatus {
        let is_available = self.sum(available) >= limits.least_available;
        let available_condition = DeploymentCondition {
            type_: "Available".to_owned(),
            status: if is_available { "True" } else { "False" }.to_owned(),
            ..DeploymentCondition::default()
        };
        DeploymentStatus {
            observed_generation: deployment.metadata.generation,
            replicas: Some(self.sum(pods)),
            updated_replicas: Some(pods(&self.new)),
            ready_replicas: Some(self.sum(ready)),
            available_replicas: Some(self.sum(available)),
            conditions: Some(vec![available_condition]),
            ..DeploymentStatus::default()
        }
    }

    /// Returns the writes that lead from the stored sets to these. An old set without Pods is deleted.
    fn changes(self, stored: &[Arc<ReplicaSet>]) -> Vec<Change> {
        let before = |set: &ReplicaSet| stored.iter().find(|it| it.metadata.uid == set.metadata.uid);
        let new = match before(&self.new) {
            None => Some(Change::Create(self.new)),
            Some(stored) => (**stored != self.new).then_some(Change::Scale(self.new)),
        };
        let old = self.old.into_iter().filter_map(|set| match before(&set)? {
            stored if **stored != set => Some(Change::Scale(set)),
            stored => (replicas(&set) == 0 && pods(&set) == 0).then(|| Change::Delete(Arc::clone(stored))),
        });
        new.into_iter().chain(old).collect()
    }
}

/// Returns a new `ReplicaSet` for the template of a Deployment, without replicas.
fn new_set(deployment: &Deployment) -> ReplicaSet {
    let spec = &deployment.spec;
    let hash = hash(&spec.template);
    let mut selector = spec.selector.clone();
    selector.match_labels.get_or_insert_default().insert(HASH_LABEL.to_owned(), hash.clone());
    let mut template = spec.template.clone();
    let labels = template.metadata.labels.get_or_insert_default();
    labels.insert(HASH_LABEL.to_owned(), hash.clone());
    let owner = &deployment.metadata;
    ReplicaSet {
        metadata: ObjectMeta {
            name: Some(format!("{}-{hash}", owner.name.as_deref().unwrap_or_default())),
            namespace: owner.namespace.clone(),
            labels: Some(labels.clone()),
            owner_references: Some(vec![reference_to("Deployment", owner)]),
            ..ObjectMeta::default()
        },
        spec: ReplicaSetSpec { replicas: Some(0), selector, template },
        status: None,
    }
}

/// Takes as many replicas from sets as are removable, from each at most the number that `most` returns.
fn shrink(sets: &mut [ReplicaSet], mut removable: i32, most: impl Fn(&ReplicaSet) -> i32) {
    for set in sets {
        let removed = most(set).min(removable).max(0);
        removable -= removed;
        scale(set, replicas(set) - removed);
    }
}

fn scale(set: &mut ReplicaSet, to: i32) {
    set.spec.replicas = Some(to);
}

/// Returns the number of replicas that a set asks for.
pub(super) fn replicas(set: &ReplicaSet) -> i32 {
    set.spec.replicas.unwrap_or(1)
}

pub(super) fn available(set: &ReplicaSet) -> i32 {
    observed(set).available_replicas.unwrap_or_default()
}

fn ready(set: &ReplicaSet) -> i32 {
    observed(set).ready_replicas.unwrap_or_default()
}

/// Returns the number of Pods of a set.
fn pods(set: &ReplicaSet) -> i32 {
    observed(set).replicas
}

fn observed(set: &ReplicaSet) -> ReplicaSetStatus {
    set.status.clone().unwrap_or_default()
}
