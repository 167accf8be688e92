//! The controllers of Deployments and `ReplicaSet`s, for `devcluster serve`.
//!
//! Both are programs on the crates of this workspace: informers, a queue and workers around a plan, which is a function
//! without I/O and clock. They do what upstream's controllers do, one object at a time.

mod adoption;
mod count;
mod deployment;
mod owner;
mod replica_set;
mod template;
mod write;

use anyhow::Context as _;
use k8s_openapi::api::{
    apps::v1::{Deployment, ReplicaSet},
    core::v1::Pod,
};
use kube_controller_client::Client;
use kube_controller_program::Controller;
use kube_informer::{Informer, Lister};
use kube_wire::{Object as _, ObjectKey};
use tokio_util::sync::CancellationToken;

use self::owner::{controller_of, matches};

/// Runs both controllers until `stop` is cancelled.
pub(crate) async fn run(client: Client, stop: CancellationToken) -> anyhow::Result<()> {
    let deployments = Informer::<Deployment>::builder(client.clone()).build();
    let sets = Informer::<ReplicaSet>::builder(client.clone()).build();
    let pods = Informer::<Pod>::builder(client.clone()).build();
    let sets_run = replica_sets(client.clone(), &sets, &pods, stop.clone());
    let deployments_run = self::deployments(client, &deployments, &sets, &pods, stop);
    tokio::try_join!(sets_run, deployments_run).map(drop)
}

/// Runs the controller of `ReplicaSet`s, and the informers of the sets and Pods.
async fn replica_sets(
    client: Client,
    sets: &Informer<ReplicaSet>,
    pods: &Informer<Pod>,
    stop: CancellationToken,
) -> anyhow::Result<()> {
    let owners = sets.lister();
    let mut controller = Controller::new("replicaset-controller", client)
        .primary(sets)
        .watches(pods, move |pod, ()| owners_of_pod(pod, &owners));
    let context = replica_set::Context {
        client: controller.client().clone(),
        sets: sets.lister(),
        pods: pods.lister(),
        written: pods.write_through(&pods.store_synced()),
        recorder: controller.recorder(),
        queue: controller.handlers().enqueuer(None),
    };
    controller.run(stop, context, replica_set::sync).await.context("controller of ReplicaSets")
}

/// Runs the controller of Deployments, and their informer.
async fn deployments(
    client: Client,
    deployments: &Informer<Deployment>,
    sets: &Informer<ReplicaSet>,
    pods: &Informer<Pod>,
    stop: CancellationToken,
) -> anyhow::Result<()> {
    let mut controller = Controller::new("deployment-controller", client).primary(deployments);
    let owners = deployments.lister();
    controller.handlers().watch(sets, "replicasets", move |event, queue| {
        let (before, after) = event.states();
        let owners = [before, after].into_iter().flatten().flat_map(|set| owners_of_set(set, &owners));
        owners.for_each(|key| queue.add(key));
    });
    // With the strategy `Recreate`, the new Pods wait until the old ones are gone.
    let sets_of_pods = sets.lister();
    controller.handlers().watch(pods, "pods", move |event, queue| {
        let pod = event.object();
        let owner = controller_of(&pod.metadata).and_then(|owner| sets_of_pods.get(pod.namespace(), &owner.name));
        let owner = owner.as_ref().and_then(|set| controller_of(&set.metadata));
        if let Some(owner) = owner {
            queue.add(ObjectKey::new(pod.namespace(), owner.name.as_str()));
        }
    });
    let context = deployment::Context {
        client: controller.client().clone(),
        deployments: deployments.lister(),
        sets: sets.lister(),
        pods: pods.lister(),
        recorder: controller.recorder(),
        queue: controller.handlers().enqueuer(None),
    };
    controller.run(stop, context, deployment::sync).await.context("controller of Deployments")
}

/// Returns the keys of the `ReplicaSet`s that a Pod concerns: that of its controller, or all that could adopt it.
fn owners_of_pod(pod: &Pod, sets: &Lister<ReplicaSet>) -> Vec<ObjectKey> {
    if let Some(owner) = controller_of(&pod.metadata) {
        let is_set = owner.kind == "ReplicaSet";
        return is_set.then(|| ObjectKey::new(pod.namespace(), owner.name.as_str())).into_iter().collect();
    }
    let selects =
        |set: &ReplicaSet| set.spec.as_ref().is_some_and(|spec| matches(&spec.selector, pod.metadata.labels.as_ref()));
    sets.list_namespace(pod.namespace()).iter().filter(|set| selects(set)).map(|set| set.key()).collect()
}

/// Returns the keys of the Deployments that a `ReplicaSet` concerns.
fn owners_of_set(set: &ReplicaSet, deployments: &Lister<Deployment>) -> Vec<ObjectKey> {
    if let Some(owner) = controller_of(&set.metadata) {
        let is_deployment = owner.kind == "Deployment";
        return is_deployment.then(|| ObjectKey::new(set.namespace(), owner.name.as_str())).into_iter().collect();
    }
    let selects = |deployment: &Deployment| {
        deployment.spec.as_ref().is_some_and(|spec| matches(&spec.selector, set.metadata.labels.as_ref()))
    };
    let deployments = deployments.list_namespace(set.namespace());
    deployments.iter().filter(|deployment| selects(deployment)).map(|deployment| deployment.key()).collect()
}
