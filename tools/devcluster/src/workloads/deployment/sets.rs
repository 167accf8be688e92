//! The `ReplicaSet`s of a Deployment.

use std::sync::Arc;

use k8s_openapi::{
    api::apps::v1::{Deployment, ReplicaSet},
    jiff::Timestamp,
};

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
    pub(super) fn of(deployment: &Deployment, sets: &[Arc<ReplicaSet>]) -> Self {
        let mut old: Vec<ReplicaSet> = sets.iter().map(|set| (**set).clone()).collect();
        old.sort_by(|a, b| (created(a), name_of(a)).cmp(&(created(b), name_of(b))));
        let template = deployment.spec.as_ref().map(|spec| &spec.template);
        let is_new = |set: &ReplicaSet| {
            let own = set.spec.as_ref().and_then(|spec| spec.template.as_ref());
            own.zip(template).is_some_and(|(own, template)| are_equal(own, template))
        };
        let new = old.iter().position(is_new).map(|at| old.remove(at));
        Self { new, old }
    }

    /// Returns all sets.
    pub(super) fn all(&self) -> impl Iterator<Item = &ReplicaSet> + Clone {
        self.new.iter().chain(&self.old)
    }

    /// Returns all sets.
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

/// Returns the name of a set.
pub(super) fn name_of(set: &ReplicaSet) -> &str {
    set.metadata.name.as_deref().unwrap_or_default()
}

/// Returns the time at which a set was created; `None` for one that is about to be.
pub(super) fn created(set: &ReplicaSet) -> Option<Timestamp> {
    set.metadata.creation_timestamp.as_ref().map(|time| time.0)
}
