//! Execution of the plans of Deployments.

use std::{sync::Arc, time::Duration};

use k8s_openapi::api::{
    apps::v1::{Deployment, DeploymentStatus, ReplicaSet},
    core::v1::Pod,
};
use kube_controller::Enqueuer;
use kube_controller_client::{
    Client, Error, Preconditions,
    events::{EventRecorder, EventType, ObjectReference},
};
use kube_informer::Lister;
use kube_wire::{Object as _, ObjectKey};

use super::{
    plan::{Change, Plan, plan},
    revisions::REVISION,
    sets::{name_of, replicas},
};
use crate::workloads::{
    adoption::adopt_and_release,
    owner::{Claim, claim, controller_of, reference_to},
    template::are_equal,
    write::{ignore_races, now, patch_status},
};

/// What the syncs of Deployments share.
pub(in crate::workloads) struct Context {
    pub(in crate::workloads) client: Client,
    pub(in crate::workloads) deployments: Lister<Deployment>,
    pub(in crate::workloads) sets: Lister<ReplicaSet>,
    pub(in crate::workloads) pods: Lister<Pod>,
    pub(in crate::workloads) recorder: EventRecorder,
    pub(in crate::workloads) queue: Enqueuer<ObjectKey>,
}

/// Moves a Deployment one step towards its spec, and writes its status. The events of the changed `ReplicaSet`s cause the next
/// step.
pub(in crate::workloads) async fn sync(context: Arc<Context>, key: ObjectKey) -> Result<(), Error> {
    let Some(deployment) = context.deployments.get(&key.namespace, &key.name) else { return Ok(()) };
    let Some(sets) = context.claim_sets(&deployment).await? else { return Ok(()) };
    let pods = context.pods.list_namespace(&key.namespace);
    let Plan { changes, status, revision, wake } = plan(&deployment, &sets, &pods, now());
    for change in &changes {
        if !context.write(&deployment, change).await? {
            // The caches are behind the server; the events that follow queue the Deployment again.
            return Ok(());
        }
    }
    if deployment.status.as_ref() != Some(&status) || revision.is_some() {
        let annotation = revision.as_deref().map(|revision| (REVISION, revision));
        let annotations: Vec<_> = annotation.into_iter().collect();
        patch_status(&context.client, &*deployment, deployment.status.as_ref(), &status, &annotations).await?;
    }
    if let Some(wake) = wake {
        context.queue.add_after(key, wake + Duration::from_secs(1));
    }
    Ok(())
}

impl Context {
    /// Returns the `ReplicaSet`s that a Deployment owns; `None` if it has taken over or let go of some, whose events queue it
    /// again.
    async fn claim_sets(&self, deployment: &Deployment) -> Result<Option<Vec<Arc<ReplicaSet>>>, Error> {
        let selector = deployment.spec.as_ref().map(|spec| spec.selector.clone()).unwrap_or_default();
        let owner = reference_to("apps/v1", "Deployment", &deployment.metadata);
        let sets = self.sets.list_namespace(deployment.namespace()).into_iter();
        let claimed: Vec<_> = sets.map(|set| (claim(&deployment.metadata, &selector, &set.metadata), set)).collect();
        if adopt_and_release(&self.client, deployment, &owner, &claimed).await? {
            return Ok(None);
        }
        Ok(Some(claimed.into_iter().filter(|(claim, _)| *claim == Claim::Owned).map(|(_, set)| set).collect()))
    }

    /// Writes a `ReplicaSet`. Returns `false` if the plan is based on an outdated state.
    async fn write(&self, deployment: &Deployment, change: &Change) -> Result<bool, Error> {
        match change {
            Change::Create(set) => match self.client.create(set).await {
                Ok(_) => self.record_scaling(deployment, set, 0),
                Err(error) if error.is_already_exists() => {
                    self.resolve_collision(deployment, set).await?;
                    return Ok(false);
                }
                Err(error) if error.is_namespace_terminating() => return Ok(false),
                Err(error) => return Err(error),
            },
            Change::Update { stored, set } => match self.client.update(set).await {
                Ok(_) => self.record_scaling(deployment, set, replicas(stored)),
                Err(error) if error.is_conflict() || error.is_not_found() => return Ok(false),
                Err(error) => return Err(error),
            },
            Change::Delete(set) => {
                let preconditions = Preconditions::unchanged(&set.uid(), &set.resource_version());
                let deleted = self.client.delete::<ReplicaSet>(set.namespace(), set.name(), Some(preconditions)).await;
                ignore_races(deleted)?;
            }
        }
        Ok(true)
    }

    /// Records another collision of hashes if the existing set is not that of the Deployment: the next plan has another name.
    /// An equal set without a controller is adopted when the cache has it.
    async fn resolve_collision(&self, deployment: &Deployment, set: &ReplicaSet) -> Result<(), Error> {
        let existing: ReplicaSet = match self.client.get(set.namespace(), set.name()).await {
            Err(error) if error.is_not_found() => return Ok(()),
            existing => existing?,
        };
        let owner = controller_of(&existing.metadata).map(|owner| &owner.uid);
        let is_owned = owner.is_none() || owner == deployment.metadata.uid.as_ref();
        let template = |set: &ReplicaSet| set.spec.as_ref().and_then(|spec| spec.template.clone()).unwrap_or_default();
        if is_owned && are_equal(&template(&existing), &template(set)) {
            return Ok(());
        }
        let status = deployment.status.clone().unwrap_or_default();
        let collisions = status.collision_count.unwrap_or_default() + 1;
        let status = DeploymentStatus { collision_count: Some(collisions), ..status };
        patch_status(&self.client, deployment, deployment.status.as_ref(), &status, &[]).await
    }

    fn record_scaling(&self, deployment: &Deployment, set: &ReplicaSet, before: i32) {
        let (name, after) = (name_of(set), replicas(set));
        let direction = match after.cmp(&before) {
            std::cmp::Ordering::Greater => "up",
            std::cmp::Ordering::Less => "down",
            std::cmp::Ordering::Equal => return,
        };
        let message = format!("Scaled {direction} replica set {name} from {before} to {after}");
        self.recorder.event(&ObjectReference::to(deployment), EventType::Normal, "ScalingReplicaSet", message);
    }
}
