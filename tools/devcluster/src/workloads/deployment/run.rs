//! Execution of the plans of Deployments.

use std::{cmp::Ordering, sync::Arc};

use k8s_openapi::api::{
    apps::v1::{Deployment, ReplicaSet},
    core::v1::Pod,
};
use kube_controller_client::{
    Client, Error, Preconditions,
    events::{EventRecorder, EventType, ObjectReference},
};
use kube_informer::Lister;
use kube_wire::{Object as _, ObjectKey};

use super::{
    plan::{Change, Plan, plan},
    revisions::REVISION,
    sets::replicas,
};
use crate::workloads::{
    owner::is_owned,
    write::{now, patch_status},
};

/// What the syncs of Deployments share.
pub(in crate::workloads) struct Context {
    pub(in crate::workloads) client: Client,
    pub(in crate::workloads) deployments: Lister<Deployment>,
    pub(in crate::workloads) sets: Lister<ReplicaSet>,
    pub(in crate::workloads) pods: Lister<Pod>,
    pub(in crate::workloads) recorder: EventRecorder,
}

/// Moves a Deployment one step towards its spec, and writes its status. The events of the changed `ReplicaSet`s cause the next
/// step.
pub(in crate::workloads) async fn sync(context: Arc<Context>, key: ObjectKey) -> Result<(), Error> {
    let Some(deployment) = context.deployments.get(&key.namespace, &key.name) else { return Ok(()) };
    let selector = deployment.spec.as_ref().map(|spec| spec.selector.clone()).unwrap_or_default();
    let mut sets = context.sets.list_namespace(&key.namespace);
    sets.retain(|set| is_owned(&deployment.metadata, &selector, &set.metadata));
    let pods = context.pods.list_namespace(&key.namespace);
    let Plan { changes, status, revision } = plan(&deployment, &sets, &pods, now());
    for change in &changes {
        match context.write(&deployment, change).await {
            // The caches are behind the server; the events that follow queue the Deployment again.
            Err(error) if is_outdated(&error) => return Ok(()),
            result => result?,
        }
    }
    if deployment.status.as_ref() != Some(&status) || revision.is_some() {
        let annotations: Vec<_> = revision.iter().map(|revision| (REVISION, revision.as_str())).collect();
        patch_status(&context.client, &*deployment, deployment.status.as_ref(), &status, &annotations).await?;
    }
    Ok(())
}

/// Returns whether the server has another state than the plan was made for.
fn is_outdated(error: &Error) -> bool {
    error.is_already_exists() || error.is_conflict() || error.is_not_found() || error.is_namespace_terminating()
}

impl Context {
    async fn write(&self, deployment: &Deployment, change: &Change) -> Result<(), Error> {
        match change {
            Change::Create(set) => {
                self.client.create(set).await?;
                self.record_scaling(deployment, set, 0);
            }
            Change::Update { stored, set } => {
                self.client.update(set).await?;
                self.record_scaling(deployment, set, replicas(stored));
            }
            Change::Delete(set) => {
                let preconditions = Preconditions::unchanged(&set.uid(), &set.resource_version());
                self.client.delete::<ReplicaSet>(set.namespace(), set.name(), Some(preconditions)).await?;
            }
        }
        Ok(())
    }

    fn record_scaling(&self, deployment: &Deployment, set: &ReplicaSet, before: i32) {
        let (name, after) = (set.name(), replicas(set));
        let direction = match after.cmp(&before) {
            Ordering::Greater => "up",
            Ordering::Less => "down",
            Ordering::Equal => return,
        };
        let message = format!("Scaled {direction} replica set {name} from {before} to {after}");
        self.recorder.event(&ObjectReference::to(deployment), EventType::Normal, "ScalingReplicaSet", message);
    }
}
