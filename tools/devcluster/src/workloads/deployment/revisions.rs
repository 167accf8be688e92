//! Revisions: annotations of `ReplicaSet`s, the creation of the new one, and the history.

use std::collections::BTreeMap;

use k8s_openapi::{
    api::apps::v1::{Deployment, DeploymentSpec, ReplicaSet, ReplicaSetSpec},
    apimachinery::pkg::apis::meta::v1::ObjectMeta,
};

use super::{
    limits::Limits,
    sets::{actual, name_of, replicas},
};
use crate::workloads::{
    owner::reference_to,
    template::{HASH_LABEL, hash, with_hash},
};

/// Annotation with the revision, of Deployments and their `ReplicaSet`s.
pub(super) const REVISION: &str = "deployment.kubernetes.io/revision";
/// Annotation with the revisions that a `ReplicaSet` had before it was rolled back to.
const REVISION_HISTORY: &str = "deployment.kubernetes.io/revision-history";
/// Annotation with the number of replicas of the Deployment when the `ReplicaSet` was scaled last.
pub(super) const DESIRED_REPLICAS: &str = "deployment.kubernetes.io/desired-replicas";
/// Annotation with the maximum number of Pods of the Deployment at that time.
pub(super) const MAX_REPLICAS: &str = "deployment.kubernetes.io/max-replicas";
/// Annotations that a Deployment does not hand down to its `ReplicaSet`s.
const OWN: [&str; 6] = [
    "kubectl.kubernetes.io/last-applied-configuration",
    REVISION,
    REVISION_HISTORY,
    DESIRED_REPLICAS,
    MAX_REPLICAS,
    "deprecated.deployment.rollback.to",
];

/// Returns the revision of a set; 0 if it has none.
pub(super) fn revision_of(set: &ReplicaSet) -> i64 {
    number_in(set, REVISION).unwrap_or_default()
}

/// Returns the number in an annotation.
pub(super) fn number_in<T: std::str::FromStr>(set: &ReplicaSet, annotation: &str) -> Option<T> {
    set.metadata.annotations.as_ref()?.get(annotation)?.parse().ok()
}

/// Returns a new `ReplicaSet` for the template of a Deployment, without replicas.
pub(super) fn new_set(
    deployment: &Deployment,
    spec: &DeploymentSpec,
    old: &[ReplicaSet],
    limits: Limits,
) -> ReplicaSet {
    let collisions = deployment.status.as_ref().and_then(|status| status.collision_count).unwrap_or_default();
    let hash = hash(&spec.template, collisions);
    let mut selector = spec.selector.clone();
    selector.match_labels.get_or_insert_default().insert(HASH_LABEL.to_owned(), hash.clone());
    let template = with_hash(&spec.template, &hash);
    let owner = &deployment.metadata;
    let mut set = ReplicaSet {
        metadata: ObjectMeta {
            name: Some(format!("{}-{hash}", owner.name.as_deref().unwrap_or_default())),
            namespace: owner.namespace.clone(),
            labels: template.metadata.as_ref().and_then(|meta| meta.labels.clone()),
            owner_references: Some(vec![reference_to("apps/v1", "Deployment", owner)]),
            ..ObjectMeta::default()
        },
        spec: Some(ReplicaSetSpec {
            replicas: Some(0),
            min_ready_seconds: spec.min_ready_seconds,
            selector,
            template: Some(template),
        }),
        status: None,
    };
    update_new_set(&mut set, deployment, spec, old);
    annotate_size(&mut set, limits);
    set
}

/// Updates the annotations of the new set: those of the Deployment, and the revision, which is above that of all others (Go:
/// `SetNewReplicaSetAnnotations`).
pub(super) fn update_new_set(set: &mut ReplicaSet, deployment: &Deployment, spec: &DeploymentSpec, old: &[ReplicaSet]) {
    let current = revision_of(set);
    let annotations = set.metadata.annotations.get_or_insert_with(BTreeMap::new);
    let handed_down = deployment.metadata.annotations.iter().flatten().filter(|(key, _)| !OWN.contains(&key.as_str()));
    annotations.extend(handed_down.map(|(key, value)| (key.clone(), value.clone())));
    let next = old.iter().map(revision_of).max().unwrap_or_default() + 1;
    if current < next {
        annotations.insert(REVISION.to_owned(), next.to_string());
        if current > 0 {
            let before = annotations.get(REVISION_HISTORY).filter(|it| !it.is_empty());
            let history = before.map_or_else(|| current.to_string(), |before| format!("{before},{current}"));
            annotations.insert(REVISION_HISTORY.to_owned(), history);
        }
    }
    if let Some(set) = &mut set.spec {
        set.min_ready_seconds = spec.min_ready_seconds;
    }
}

/// Sets the number of replicas of a set, and records that of the Deployment, so that a later change of it is recognized.
pub(super) fn scale(set: &mut ReplicaSet, to: i32, limits: Limits) {
    if let Some(spec) = &mut set.spec {
        spec.replicas = Some(to);
    }
    annotate_size(set, limits);
}

fn annotate_size(set: &mut ReplicaSet, limits: Limits) {
    let annotations = set.metadata.annotations.get_or_insert_with(BTreeMap::new);
    annotations.insert(DESIRED_REPLICAS.to_owned(), limits.replicas.to_string());
    annotations.insert(MAX_REPLICAS.to_owned(), limits.most().to_string());
}

/// Returns the names of the old sets beyond `revisionHistoryLimit`, lowest revision first (Go: `cleanupDeployment`).
pub(super) fn beyond_history(spec: &DeploymentSpec, old: &[ReplicaSet]) -> Vec<String> {
    let limit = spec.revision_history_limit.and_then(|limit| usize::try_from(limit).ok()).unwrap_or(usize::MAX);
    let mut old: Vec<&ReplicaSet> = old.iter().filter(|set| set.metadata.deletion_timestamp.is_none()).collect();
    old.sort_by_key(|set| revision_of(set));
    let excess = old.len().saturating_sub(limit);
    let is_observed = |set: &ReplicaSet| {
        let observed = set.status.as_ref().and_then(|status| status.observed_generation).unwrap_or_default();
        observed >= set.metadata.generation.unwrap_or_default()
    };
    let unused = old.into_iter().take(excess).filter(|set| replicas(set) == 0 && actual(set) == 0 && is_observed(set));
    unused.map(|set| name_of(set).to_owned()).collect()
}
