//! The `ReplicaSet`s of a Deployment.

use std::sync::Arc;

use k8s_openapi::api::apps::v1::{DeploymentSpec, ReplicaSet};

use crate::workloads::template::are_equal;

/// Copies of the `ReplicaSet`s of a Deployment, which a plan changes. Those that differ from the stored ones are written.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Sets {
    /// The set with the template of the Deployment.
    pub(super) new: Option<ReplicaSet>,
    /// The others, oldest first.
    pub(super) old: Vec<ReplicaSet>,
}

impl Sets {
    /// Splits the sets of a Deployment. If several have its template, the oldest is the new one (Go: `FindNewReplicaSet`).
    pub(super) fn of(deployment: &DeploymentSpec, sets: &[Arc<ReplicaSet>]) -> Self {
        let mut old: Vec<ReplicaSet> = sets.iter().map(|set| (**set).clone()).collect();
        let created = |set: &ReplicaSet| set.metadata.creation_timestamp.as_ref().map(|time| time.0);
        old.sort_by_key(|set| (created(set), name_of(set).to_owned()));
        let is_new = |set: &ReplicaSet| {
            let own = set.spec.as_ref().and_then(|spec| spec.template.as_ref());
            own.is_some_and(|own| are_equal(own, &deployment.template))
        };
        let new = old.iter().position(is_new).map(|at| old.remove(at));
        Self { new, old }
    }

    pub(super) fn all(&self) -> impl Iterator<Item = &ReplicaSet> + Clone {
        self.new.iter().chain(&self.old)
    }

    pub(super) fn all_mut(&mut self) -> impl Iterator<Item = &mut ReplicaSet> {
        self.new.iter_mut().chain(&mut self.old)
    }

    /// Returns the sum of the replicas that the sets have.
    pub(super) fn available(&self) -> i32 {
        self.all().map(available).sum()
    }

    /// Returns the sum of the replicas that the sets ask for.
    pub(super) fn desired(&self) -> i32 {
        self.all().map(replicas).sum()
    }
}

/// Returns the number of replicas that a set asks for.
pub(super) fn replicas(set: &ReplicaSet) -> i32 {
    set.spec.as_ref().and_then(|spec| spec.replicas).unwrap_or(1)
}

/// Returns the number of available Pods of a set.
pub(super) fn available(set: &ReplicaSet) -> i32 {
    set.status.as_ref().and_then(|status| status.available_replicas).unwrap_or_default()
}

/// Returns the number of Pods of a set.
pub(super) fn actual(set: &ReplicaSet) -> i32 {
    set.status.as_ref().map(|status| status.replicas).unwrap_or_default()
}

pub(super) fn name_of(set: &ReplicaSet) -> &str {
    set.metadata.name.as_deref().unwrap_or_default()
}

/// Sets the number of replicas that a set asks for.
pub(super) fn scale(set: &mut ReplicaSet, to: i32) {
    if let Some(spec) = &mut set.spec {
        spec.replicas = Some(to);
    }
}
