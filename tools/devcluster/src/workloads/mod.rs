//! The controllers of Deployments and `ReplicaSet`s, for `devcluster serve`.
//!
//! Both are programs on the crates of this workspace: informers, a queue and workers around a plan, which is a function
//! without I/O and clock. They do what upstream's controllers do in the usual cases, one object at a time.

mod deployment;
mod objects;
mod owner;
mod replica_set;
mod template;
mod write;

use anyhow::Context as _;
use kube_controller_client::Client;
use kube_controller_program::Controller;
use kube_informer::Informer;
use tokio_util::sync::CancellationToken;

use self::{
    objects::{Deployment, Pod, ReplicaSet},
    owner::owner_of,
};

/// Runs both controllers until `stop` is cancelled.
pub(crate) async fn run(client: Client, stop: CancellationToken) -> anyhow::Result<()> {
    let deployments = Informer::<Deployment>::builder(client.clone()).build();
    let sets = Informer::<ReplicaSet>::builder(client.clone()).build();
    let pods = Informer::<Pod>::builder(client.clone()).build();
    let sets_run = replica_sets(client.clone(), &sets, &pods, stop.clone());
    let deployments_run = self::deployments(client, &deployments, &sets, stop);
    tokio::try_join!(sets_run, deployments_run).map(drop)
}

/// Runs the controller of `ReplicaSet`s, and the informers of the sets and Pods.
async fn replica_sets(
    client: Client,
    sets: &Informer<ReplicaSet>,
    pods: &Informer<Pod>,
    stop: CancellationToken,
) -> anyhow::Result<()> {
    let controller = Controller::new("replicaset-controller", client)
        .primary(sets)
        .watches(pods, |pod, ()| owner_of(&pod.metadata, "ReplicaSet"));
    let context = replica_set::Context {
        client: controller.client().clone(),
        sets: sets.lister(),
        pods: pods.lister(),
        written: pods.write_through(&pods.store_synced()),
    };
    controller.run(stop, context, replica_set::sync).await.context("controller of ReplicaSets")
}

/// Runs the controller of Deployments, and their informer.
async fn deployments(
    client: Client,
    deployments: &Informer<Deployment>,
    sets: &Informer<ReplicaSet>,
    stop: CancellationToken,
) -> anyhow::Result<()> {
    let mut controller = Controller::new("deployment-controller", client).primary(deployments);
    // The other controller runs the informer.
    controller.handlers().watch(sets, "replicasets", |event, queue| {
        if let Some(key) = owner_of(&event.object().metadata, "Deployment") {
            queue.add(key);
        }
    });
    let context = deployment::Context {
        client: controller.client().clone(),
        deployments: deployments.lister(),
        sets: sets.lister(),
    };
    controller.run(stop, context, deployment::sync).await.context("controller of Deployments")
}
