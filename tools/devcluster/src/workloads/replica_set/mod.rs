//! The controller of `ReplicaSet`s: it creates and deletes Pods. The plan and the status are functions of the set and its Pods.

mod plan;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube_controller_client::{Client, Deleted, Error, Preconditions};
use kube_informer::{Lister, WriteThrough};
use kube_wire::{Object as _, ObjectKey};
use serde_json::Value;

use self::plan::{Plan, plan, status};
use super::{
    objects::{Pod, ReplicaSet},
    owner::{is_owned, reference_to},
    template::generated_name,
    write::patch_status,
};

/// What the syncs of `ReplicaSet`s share.
pub(super) struct Context {
    pub(super) client: Client,
    pub(super) sets: Lister<ReplicaSet>,
    pub(super) pods: Lister<Pod>,
    /// Store of the Pods, which own writes reach at once: a Pod is not created twice.
    pub(super) written: WriteThrough<Pod>,
}

/// Creates or deletes Pods of a `ReplicaSet`, and writes its status.
pub(super) async fn sync(context: Arc<Context>, key: ObjectKey) -> Result<(), Error> {
    let Some(set) = context.sets.get(&key.namespace, &key.name) else { return Ok(()) };
    let Plan { create, delete } = plan(&set, &context.owned(&set));
    let result = match context.create(&set, create).await {
        Ok(()) => context.delete(&delete).await,
        failed => failed,
    };
    let status = status(&set, &context.owned(&set));
    if set.status.as_ref() != Some(&status) {
        patch_status(&context.client, &*set, &status).await?;
    }
    result.or_else(|error| if error.is_namespace_terminating() { Ok(()) } else { Err(error) })
}

impl Context {
    fn owned(&self, set: &ReplicaSet) -> Vec<Arc<Pod>> {
        let mut pods = self.pods.list_namespace(set.namespace());
        pods.retain(|pod| is_owned(&set.metadata, &set.spec.selector, &pod.metadata));
        pods
    }

    async fn create(&self, set: &ReplicaSet, count: usize) -> Result<(), Error> {
        let template = &set.spec.template;
        for _ in 0..count {
            let name = generated_name(set.name());
            let pod = Pod {
                metadata: ObjectMeta {
                    name: Some(name.clone()),
                    generate_name: Some(format!("{}-", set.name())),
                    namespace: Some(set.namespace().to_owned()),
                    labels: template.metadata.labels.clone(),
                    annotations: template.metadata.annotations.clone(),
                    finalizers: template.metadata.finalizers.clone(),
                    owner_references: Some(vec![reference_to("ReplicaSet", &set.metadata)]),
                    ..ObjectMeta::default()
                },
                spec: template.spec.clone(),
                status: Value::Null,
            };
            let write = self.written.begin(set.namespace(), &name);
            match self.client.create(&pod).await {
                Ok(pod) => write.written(pod),
                Err(error) => {
                    write.failed(error.may_have_been_applied());
                    return Err(error);
                }
            }
        }
        Ok(())
    }

    async fn delete(&self, pods: &[Arc<Pod>]) -> Result<(), Error> {
        for pod in pods {
            let preconditions = Preconditions { uid: Some(pod.uid()), resource_version: None };
            let write = self.written.begin(pod.namespace(), pod.name());
            match self.client.delete::<Pod>(pod.namespace(), pod.name(), Some(preconditions)).await {
                Ok(Deleted::Removed) => write.deleted(pod),
                Ok(Deleted::Pending(pod)) => write.written(pod),
                Err(error) => {
                    write.failed(error.may_have_been_applied());
                    // Another client was faster.
                    if error.is_not_found() || error.is_conflict() {
                        continue;
                    }
                    return Err(error);
                }
            }
        }
        Ok(())
    }
}
