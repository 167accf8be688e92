//! The controller of Deployments: a rolling update is planned as a function of the Deployment and its `ReplicaSet`s.

mod limits;
mod plan;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use kube_controller_client::{Client, Error, Preconditions};
use kube_informer::Lister;
use kube_wire::{Object as _, ObjectKey};
use serde_json::json;

use self::plan::{Change, Plan, plan};
use super::{
    objects::{Deployment, ReplicaSet},
    owner::is_owned,
    write::patch_status,
};

/// What the syncs of Deployments share.
pub(super) struct Context {
    pub(super) client: Client,
    pub(super) deployments: Lister<Deployment>,
    pub(super) sets: Lister<ReplicaSet>,
}

/// Moves a Deployment one step towards its spec, and writes its status. The events of the changed `ReplicaSet`s cause the next
/// step.
pub(super) async fn sync(context: Arc<Context>, key: ObjectKey) -> Result<(), Error> {
    let Some(deployment) = context.deployments.get(&key.namespace, &key.name) else { return Ok(()) };
    let mut sets = context.sets.list_namespace(&key.namespace);
    sets.retain(|set| is_owned(&deployment.metadata, &deployment.spec.selector, &set.metadata));
    let Plan { changes, status } = plan(&deployment, &sets);
    for change in changes {
        match context.write(change).await {
            // The caches are behind the server; the events that follow queue the Deployment again.
            Err(error) if is_outdated(&error) => return Ok(()),
            result => result?,
        }
    }
    if deployment.status.as_ref() != Some(&status) {
        patch_status(&context.client, &*deployment, &status).await?;
    }
    Ok(())
}

/// Returns whether the server has another state than the plan was made for.
fn is_outdated(error: &Error) -> bool {
    error.is_already_exists() || error.is_conflict() || error.is_not_found() || error.is_namespace_terminating()
}

impl Context {
    async fn write(&self, change: Change) -> Result<(), Error> {
        match change {
            Change::Create(set) => self.client.create(&set).await.map(drop),
            Change::Scale(set) => {
                let version = &set.metadata.resource_version;
                let patch = json!({"metadata": {"resourceVersion": version}, "spec": {"replicas": set.spec.replicas}});
                self.client.merge_patch::<ReplicaSet>(set.namespace(), set.name(), None, &patch).await
            }
            Change::Delete(set) => {
                let preconditions = Preconditions::unchanged(&set.uid(), &set.resource_version());
                self.client.delete::<ReplicaSet>(set.namespace(), set.name(), Some(preconditions)).await.map(drop)
            }
        }
    }
}
