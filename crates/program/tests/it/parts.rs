//! Parts that a controller has twice, or does not use.

use k8s_openapi::api::core::v1::ConfigMap;
use kube_controller_client::Error;
use kube_controller_program::Controller;
use kube_wire::{Object as _, ObjectKey};
use tokio::{sync::mpsc, task::JoinSet};
use tokio_util::sync::CancellationToken;

use crate::server::in_process;

/// Runs a controller until it has synced `expected` keys.
async fn syncs(controller: Controller, expected: &[&str]) {
    let (synced, mut keys) = mpsc::unbounded_channel();
    let (stop, mut tasks) = (CancellationToken::new(), JoinSet::new());
    tasks.spawn(controller.run(stop.clone(), synced, async |synced, key: ObjectKey| {
        let _ = synced.send(key.name);
        Ok::<_, Error>(())
    }));
    let mut seen = Vec::new();
    while seen.len() < expected.len()
        && let Some(key) = keys.recv().await
    {
        seen.push(key.to_string());
    }
    stop.cancel();
    tasks.join_next().await.unwrap().unwrap().unwrap();
    seen.sort();
    assert_eq!(seen, expected);
}

#[tokio::test(start_paused = true)]
async fn a_recorder_that_is_dropped_does_not_end_the_controller() {
    let (server, client) = in_process();
    let mut controller = Controller::new("parts", client);
    drop(controller.recorder());
    let config_maps = controller.informer::<ConfigMap>().build();
    syncs(controller.primary(&config_maps), &["a"]).await;
    server.shutdown().await;
}

#[tokio::test(start_paused = true)]
async fn an_informer_that_is_watched_twice_runs_once() {
    let (server, client) = in_process();
    let controller = Controller::new("parts", client);
    let config_maps = controller.informer::<ConfigMap>().build();
    let others = controller.informer::<ConfigMap>().build();
    let shadow_of = |object: &ConfigMap, (): &()| [ObjectKey::new(object.namespace(), "shadow")];
    let controller = controller.primary(&config_maps).watches(&config_maps, shadow_of).caches(&others);
    let readiness = controller.health().respond("/readyz", "verbose").expect("a probe").body;
    assert_eq!(readiness.matches("informer-configmaps").count(), 2, "one for each informer: {readiness}");
    syncs(controller, &["a", "shadow"]).await;
    server.shutdown().await;
}
