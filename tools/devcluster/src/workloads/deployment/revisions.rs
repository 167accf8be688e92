//! Revisions: the creation of the new `ReplicaSet`, its annotations, and the history.

use k8s_openapi::{
    api::apps::v1::{Deployment, DeploymentSpec, ReplicaSet, ReplicaSetSpec},
    apimachinery::pkg::apis::meta::v1::ObjectMeta,
};

use super::sets::{actual, name_of, replicas};
use crate::workloads::{
    owner::reference_to,
    template::{HASH_LABEL, hash, with_hash},
};

/// Annotation with the revision, of Deployments and their `ReplicaSet`s.
pub(super) const REVISION: &str = "deployment.kubernetes.io/revision";
/// Annotations that a Deployment does not hand down to its `ReplicaSet`s.
const OWN: [&str; 2] = ["kubectl.kubernetes.io/last-applied-configuration", REVISION];

/// Returns the revision of a set; 0 if it has none.
pub(super) fn revision_of(set: &ReplicaSet) -> i64 {
    let revision = set.metadata.annotations.as_ref().and_then(|it| it.get(REVISION));
    revision.and_then(|it| it.parse().ok()).unwrap_or_default()
}

/// Returns a new `ReplicaSet` for the template of a Deployment, without replicas.
pub(super) fn new_set(deployment: &Deployment, spec: &DeploymentSpec) -> ReplicaSet {
    let hash = hash(&spec.template);
    let mut selector = spec.selector.clone();
    selector.match_labels.get_or_insert_default().insert(HASH_LABEL.to_owned(), hash.clone());
    let template = with_hash(&spec.template, &hash);
    let owner = &deployment.metadata;
    ReplicaSet {
        metadata: ObjectMeta {
            name: Some(format!("{}-{hash}", owner.name.as_deref().unwrap_or_default())),
            namespace: owner.namespace.clone(),
            labels: template.metadata.as_ref().and_then(|meta| meta.labels.clone()),
            owner_references: Some(vec![reference_to("Deployment", owner)]),
            ..ObjectMeta::default()
        },
        spec: Some(ReplicaSetSpec {
            replicas: Some(0),
            min_ready_seconds: spec.min_ready_seconds,
            selector,
            template: Some(template),
        }),
        status: None,
    }
}

/// Updates the annotations of the new set: those of the Deployment, and the revision, which is above that of all others (Go:
/// `SetNewReplicaSetAnnotations`).
pub(super) fn update_new_set(set: &mut ReplicaSet, deployment: &Deployment, old: &[ReplicaSet]) {
    let next = old.iter().map(revision_of).max().unwrap_or_default() + 1;
    let revision = next.max(revision_of(set));
    let annotations = set.metadata.annotations.get_or_insert_default();
    let handed_down = deployment.metadata.annotations.iter().flatten().filter(|(key, _)| !OWN.contains(&key.as_str()));
    annotations.extend(handed_down.map(|(key, value)| (key.clone(), value.clone())));
    annotations.insert(REVISION.to_owned(), revision.to_string());
}

/// Returns the names of the old sets beyond `revisionHistoryLimit`, lowest revision first (Go: `cleanupDeployment`).
pub(super) fn beyond_history(spec: &DeploymentSpec, old: &[ReplicaSet]) -> Vec<String> {
    let limit = spec.revision_history_limit.and_then(|limit| usize::try_from(limit).ok()).unwrap_or(usize::MAX);
    let mut old: Vec<&ReplicaSet> = old.iter().filter(|set| set.metadata.deletion_timestamp.is_none()).collect();
    old.sort_by_key(|set| revision_of(set));
    let excess = old.len().saturating_sub(limit);
    let unused = old.into_iter().take(excess).filter(|set| replicas(set) == 0 && actual(set) == 0);
    unused.map(|set| name_of(set).to_owned()).collect()
}
