//! Health checks of a controller.

use std::pin::pin;
use std::time::Duration;

use k8s_openapi::api::core::v1::ConfigMap;
use kube_controller_client::Error;
use kube_controller_program::{Controller, Health};
use kube_dev_apiserver::{Fault, On};
use kube_lease_election::LeaseName;
use tokio::time::{advance, sleep};
use tokio_util::sync::CancellationToken;

use crate::server::in_process;

fn readyz(health: &Health) -> String {
    health.respond("/readyz", "verbose").unwrap().body
}

fn livez(health: &Health) -> (u16, String) {
    let response = health.respond("/livez", "verbose").unwrap();
    (response.status(), response.body)
}

#[tokio::test(start_paused = true)]
async fn a_controller_is_ready_when_its_caches_are_filled_and_until_the_stop() {
    let (server, client) = in_process();
    let late = Duration::from_secs(5);
    server.faults().inject(Fault::delay_request(late, late).on(On::any().resource("configmaps")));
    let controller = Controller::new("copy", client);
    let health = controller.health();
    assert_eq!(readyz(&health), "[-]controller failed: not started\nreadyz check failed\n");
    let config_maps = controller.informer::<ConfigMap>().build();
    let controller = controller.primary(&config_maps);
    let stop = CancellationToken::new();
    let mut running = pin!(controller.run(stop.clone(), (), async |_, _| Ok::<(), Error>(())));
    let mut after = async |seconds| {
        tokio::select! {
            _ = running.as_mut() => panic!("the controller has ended"),
            () = sleep(Duration::from_secs(seconds)) => readyz(&health),
        }
    };
    let syncing = "[+]controller ok\n[-]informer-configmaps failed: no complete list in 4 s\nreadyz check failed\n";
    assert_eq!(after(4).await, syncing);
    assert_eq!(after(2).await, "[+]controller ok\n[+]informer-configmaps ok\nreadyz check passed\n");
    assert_eq!(livez(&health), (200, "[+]ping ok\nlivez check passed\n".to_owned()));
    stop.cancel();
    let stopping = "[-]controller failed: shutting down\n[+]informer-configmaps ok\nreadyz check failed\n";
    assert_eq!(readyz(&health), stopping);
    running.await.unwrap();
    server.shutdown().await;
}

/// The future is not polled for longer than the lease duration and 20 s, as in a process whose runtime is blocked.
#[tokio::test(start_paused = true)]
async fn a_leader_that_does_not_renew_its_lease_is_not_alive() {
    let (server, client) = in_process();
    let controller = Controller::new("copy", client);
    let config_maps = controller.informer::<ConfigMap>().build();
    let controller = controller.primary(&config_maps).with_leader_election(LeaseName::new("default", "copy"));
    let (health, gate) = (controller.health(), controller.gate());
    let stop = CancellationToken::new();
    {
        let mut running = pin!(controller.run(stop.clone(), (), async |_, _| Ok::<(), Error>(())));
        tokio::select! {
            _ = running.as_mut() => panic!("the controller has ended"),
            leads = gate.wait_until_open() => assert!(leads),
        }
        assert_eq!(livez(&health), (200, "[+]leaderElection ok\nlivez check passed\n".to_owned()));
        advance(Duration::from_secs(30)).await;
        assert_eq!(livez(&health).0, 200);
        advance(Duration::from_secs(6)).await;
        assert_eq!(livez(&health).0, 500);
        let one = health.respond("/livez/leaderElection", "").unwrap().body;
        assert_eq!(one, "internal server error: failed election to renew leadership on lease default/copy\n");
        stop.cancel();
    }
    server.shutdown().await;
}
