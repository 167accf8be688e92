//! Objects of the controllers, with the fields that they read. The specs of Pods stay JSON, since they are only copied.

use k8s_openapi::{
    api::apps::v1::{DeploymentStatus, DeploymentStrategy, ReplicaSetStatus},
    apimachinery::pkg::apis::meta::v1::{LabelSelector, ObjectMeta},
};
use kube_wire::Resource;
use serde::{Deserialize, Serialize, Serializer};
use serde_json::{Value, json};

#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
pub(super) struct Deployment {
    pub(super) metadata: ObjectMeta,
    pub(super) spec: DeploymentSpec,
    pub(super) status: Option<DeploymentStatus>,
}

#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
pub(super) struct DeploymentSpec {
    pub(super) replicas: Option<i32>,
    pub(super) selector: LabelSelector,
    pub(super) strategy: Option<DeploymentStrategy>,
    pub(super) template: PodTemplate,
}

#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
pub(super) struct ReplicaSet {
    pub(super) metadata: ObjectMeta,
    pub(super) spec: ReplicaSetSpec,
    pub(super) status: Option<ReplicaSetStatus>,
}

#[derive(Debug, Clone, Default, PartialEq, Deserialize, Serialize)]
pub(super) struct ReplicaSetSpec {
    pub(super) replicas: Option<i32>,
    pub(super) selector: LabelSelector,
    #[serde(default)]
    pub(super) template: PodTemplate,
}

#[derive(Debug, Clone, Default, PartialEq, Deserialize, Serialize)]
#[serde(default)]
pub(super) struct PodTemplate {
    pub(super) metadata: ObjectMeta,
    pub(super) spec: Value,
}

#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
pub(super) struct Pod {
    pub(super) metadata: ObjectMeta,
    pub(super) spec: Value,
    #[serde(default)]
    pub(super) status: Value,
}

kube_wire::object!(Deployment, Resource::namespaced("apps", "v1", "deployments", "Deployment"));
kube_wire::object!(ReplicaSet, Resource::namespaced("apps", "v1", "replicasets", "ReplicaSet"), write);
kube_wire::object!(Pod, Resource::namespaced("", "v1", "pods", "Pod"), write);

/// The form in which a set is created: without a status.
impl Serialize for ReplicaSet {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self { metadata, spec, .. } = self;
        json!({"apiVersion": "apps/v1", "kind": "ReplicaSet", "metadata": metadata, "spec": spec}).serialize(serializer)
    }
}

/// The form in which a Pod is created: without a status.
impl Serialize for Pod {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self { metadata, spec, .. } = self;
        json!({"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}).serialize(serializer)
    }
}
