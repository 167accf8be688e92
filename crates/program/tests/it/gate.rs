//! Writes outside of syncs.

use std::sync::Arc;

use k8s_openapi::api::{coordination::v1::Lease, core::v1::ConfigMap};
use kube_controller_client::{Error, WriteGate as _};
use kube_controller_program::Controller;
use kube_lease_election::LeaseName;
use serde_json::json;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use crate::server::{another_client, in_process};

fn lease(name: &str) -> Lease {
    serde_json::from_value(json!({"metadata": {"name": name, "namespace": "default"}})).unwrap()
}

/// A client of another cluster than that of the controller, in a task beside the syncs.
#[tokio::test(start_paused = true)]
async fn another_client_writes_only_while_the_controller_leads() {
    let (server, client) = in_process();
    let (other, _) = in_process();
    let controller = Controller::new("copy", client);
    // Taken before the election is set.
    let gate = controller.gate();
    assert!(gate.open_until().is_some() && gate.wait_until_open().await, "no leader election");
    let gated = another_client(&other).gated(Arc::new(gate.clone()));
    let controller = controller.with_leader_election(LeaseName::new("default", "copy"));
    assert_eq!(gate.open_until(), None);
    assert!(matches!(gated.create(&lease("before")).await, Err(Error::Gated { .. })));

    let config_maps = controller.informer::<ConfigMap>().build();
    let (written, mut write) = tokio::sync::mpsc::unbounded_channel();
    let (leads, writer) = (gate.clone(), gated.clone());
    let controller = controller.primary(&config_maps).task("report", async move |stop| {
        assert_eq!(stop.run_until_cancelled(leads.wait_until_open()).await, Some(true));
        let _ = written.send(writer.create(&lease("leading")).await.map(drop));
        stop.cancelled().await;
    });
    let (stop, mut tasks) = (CancellationToken::new(), JoinSet::new());
    tasks.spawn(controller.run(stop.clone(), (), async |_, _| Ok::<(), Error>(())));
    write.recv().await.unwrap().unwrap();
    stop.cancel();
    tasks.join_next().await.unwrap().unwrap().unwrap();
    assert!(!gate.wait_until_open().await, "the election has ended");
    assert!(matches!(gated.create(&lease("after")).await, Err(Error::Gated { .. })));
    let stored = other.objects("coordination.k8s.io", "leases");
    assert_eq!(stored.len(), 1, "{stored:?}");
    server.shutdown().await;
    other.shutdown().await;
}
