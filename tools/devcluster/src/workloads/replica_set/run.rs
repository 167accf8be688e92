//! Execution of the plans of `ReplicaSet`s.

use std::{sync::Arc, time::Duration};

use k8s_openapi::{
    api::{apps::v1::ReplicaSet, core::v1::Pod},
    apimachinery::pkg::apis::meta::v1::{ObjectMeta, OwnerReference},
};
use kube_controller::Enqueuer;
use kube_controller_client::{
    Client, Deleted, Error, Preconditions,
    events::{EventRecorder, EventType, ObjectReference},
};
use kube_informer::{Lister, WriteThrough};
use kube_wire::{Object as _, ObjectKey};

use super::{
    plan::{Plan, plan},
    status::{Failure, status},
};
use crate::workloads::{
    adoption::adopt_and_release,
    owner::{Claim, claim, reference_to},
    template::generated_name,
    write::{now, patch_status},
};

/// What the syncs of `ReplicaSet`s share.
pub(in crate::workloads) struct Context {
    pub(in crate::workloads) client: Client,
    pub(in crate::workloads) sets: Lister<ReplicaSet>,
    pub(in crate::workloads) pods: Lister<Pod>,
    /// Store of the Pods, which own writes reach at once: a Pod is not created twice.
    pub(in crate::workloads) written: WriteThrough<Pod>,
    pub(in crate::workloads) recorder: EventRecorder,
    pub(in crate::workloads) queue: Enqueuer<ObjectKey>,
}

/// Creates or deletes Pods of a `ReplicaSet`, and writes its status.
pub(in crate::workloads) async fn sync(context: Arc<Context>, key: ObjectKey) -> Result<(), Error> {
    let Some(set) = context.sets.get(&key.namespace, &key.name) else { return Ok(()) };
    let owner = reference_to("apps/v1", "ReplicaSet", &set.metadata);
    let pods = context.pods.list_namespace(set.namespace()).into_iter();
    let claimed: Vec<_> = pods.map(|pod| (claim_of(&set, &pod), pod)).collect();
    if adopt_and_release(&context.client, &*set, &owner, &claimed).await? {
        // The changed Pods queue the set again.
        return Ok(());
    }
    let Plan { create, delete } = plan(&set, &context.owned(&set));
    let result = match context.create(&set, &owner, create).await {
        Ok(()) => context.delete(&set, &delete).await,
        failed => failed,
    };
    let failure = result.as_ref().err().map(|(failure, _)| failure.clone());
    let (status, wake) = status(&set, &context.owned(&set), failure, now());
    if set.status.as_ref() != Some(&status) {
        patch_status(&context.client, &*set, set.status.as_ref(), &status, &[]).await?;
    }
    if let Some(wake) = wake {
        context.queue.add_after(key, wake + Duration::from_secs(1));
    }
    match result {
        Err((_, error)) if !error.is_namespace_terminating() => Err(error),
        _ => Ok(()),
    }
}

impl Context {
    /// Returns the Pods that a set controls.
    fn owned(&self, set: &ReplicaSet) -> Vec<Arc<Pod>> {
        let mut pods = self.pods.list_namespace(set.namespace());
        pods.retain(|pod| claim_of(set, pod) == Claim::Owned);
        pods
    }

    async fn create(&self, set: &ReplicaSet, owner: &OwnerReference, count: usize) -> Result<(), (Failure, Error)> {
        let template = set.spec.clone().unwrap_or_default().template.unwrap_or_default();
        let meta = template.metadata.unwrap_or_default();
        for _ in 0..count {
            let name = generated_name(set.name());
            let pod = Pod {
                metadata: ObjectMeta {
                    name: Some(name.clone()),
                    generate_name: Some(format!("{}-", set.name())),
                    namespace: Some(set.namespace().to_owned()),
                    labels: meta.labels.clone(),
                    annotations: meta.annotations.clone(),
                    finalizers: meta.finalizers.clone(),
                    owner_references: Some(vec![owner.clone()]),
                    ..ObjectMeta::default()
                },
                spec: template.spec.clone(),
                status: None,
            };
            let write = self.written.begin(set.namespace(), &name);
            match self.client.create(&pod).await {
                Ok(pod) => write.written(pod),
                Err(error) => {
                    write.failed(&error);
                    let message = format!("Error creating: {}", message_of(&error));
                    self.record(set, EventType::Warning, "FailedCreate", &message);
                    return Err((Failure { reason: "FailedCreate", message: message_of(&error) }, error));
                }
            }
            self.record(set, EventType::Normal, "SuccessfulCreate", &format!("Created pod: {name}"));
        }
        Ok(())
    }

    async fn delete(&self, set: &ReplicaSet, pods: &[Arc<Pod>]) -> Result<(), (Failure, Error)> {
        for pod in pods {
            let preconditions = Preconditions { uid: Some(pod.uid()), resource_version: None };
            let write = self.written.begin(pod.namespace(), pod.name());
            match self.client.delete::<Pod>(pod.namespace(), pod.name(), Some(preconditions)).await {
                Ok(Deleted::Removed) => write.deleted(pod),
                Ok(Deleted::Pending(pod)) => write.written(pod),
                // Another client was faster.
                Err(error) if error.is_not_found() || error.is_conflict() => {
                    write.failed(&error);
                    continue;
                }
                Err(error) => {
                    write.failed(&error);
                    let message = format!("Error deleting: {}", message_of(&error));
                    self.record(set, EventType::Warning, "FailedDelete", &message);
                    return Err((Failure { reason: "FailedDelete", message: message_of(&error) }, error));
                }
            }
            self.record(set, EventType::Normal, "SuccessfulDelete", &format!("Deleted pod: {}", pod.name()));
        }
        Ok(())
    }

    fn record(&self, set: &ReplicaSet, event_type: EventType, reason: &str, message: &str) {
        self.recorder.event(&ObjectReference::to(set), event_type, reason, message);
    }
}

fn claim_of(set: &ReplicaSet, pod: &Pod) -> Claim {
    let selector = set.spec.as_ref().map(|spec| spec.selector.clone()).unwrap_or_default();
    claim(&set.metadata, &selector, &pod.metadata)
}

/// Returns the answer of the server, or else the failure of the request.
fn message_of(error: &Error) -> String {
    error.status().map_or_else(|| error.to_string(), |status| status.message.clone())
}
