//! Syncs after a delay that a sync chose.

use std::time::Duration;

use k8s_openapi::api::core::v1::ConfigMap;
use kube_controller_client::Error;
use kube_controller_program::{Action, Controller};
use tokio::{
    task::JoinSet,
    time::{Instant, timeout},
};
use tokio_util::sync::CancellationToken;

use crate::server::in_process;

/// The object never changes.
#[tokio::test(start_paused = true)]
async fn a_sync_chooses_when_its_key_is_synced_again() {
    let (server, client) = in_process();
    let controller = Controller::new("checks", client);
    let config_maps = controller.informer::<ConfigMap>().build();
    let (synced, mut times) = tokio::sync::mpsc::unbounded_channel();
    let (stop, mut tasks) = (CancellationToken::new(), JoinSet::new());
    tasks.spawn(controller.primary(&config_maps).run(stop.clone(), synced, async |synced, _| {
        let _ = synced.send(Instant::now());
        Ok::<_, Error>(Action::requeue(Duration::from_secs(30)))
    }));
    let mut last = times.recv().await.unwrap();
    for _ in 0..10 {
        let next = timeout(Duration::from_secs(60), times.recv()).await.expect("no further sync").unwrap();
        assert_eq!((next - last).as_secs(), 30);
        last = next;
    }
    stop.cancel();
    tasks.join_next().await.unwrap().unwrap().unwrap();
    server.shutdown().await;
}
