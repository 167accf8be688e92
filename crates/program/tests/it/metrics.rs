//! Metrics of a controller on a registry.

use k8s_openapi::api::core::v1::ConfigMap;
use kube_controller_client::{Client, ClientOptions, Config, Error};
use kube_controller_program::Controller;
use kube_dev_apiserver::Server;
use kube_lease_election::LeaseName;
use prometheus::{Registry, TextEncoder};
use serde_json::json;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

#[tokio::test]
async fn all_parts_are_measured_if_a_registry_is_given() {
    let server = Server::start(kube_dev_apiserver::Config::default()).await.unwrap();
    let object = serde_json::from_value(json!({"metadata": {"name": "a"}})).unwrap();
    server.typed::<ConfigMap>().create(&object).unwrap();
    let config = Config::from_kubeconfig_text(&server.kubeconfig()).unwrap();
    let (client, registry) = (Client::new(&config, ClientOptions::default()).unwrap(), Registry::new());
    let controller = Controller::with_metrics("pools", client.clone(), &registry).unwrap();
    let config_maps = controller.informer::<ConfigMap>().build();
    let (synced, mut keys) = tokio::sync::mpsc::unbounded_channel();
    let (stop, mut tasks) = (CancellationToken::new(), JoinSet::new());
    let controller = controller.primary(&config_maps).with_leader_election(LeaseName::new("default", "pools"));
    tasks.spawn(controller.run(stop.clone(), synced, async |synced, key| {
        let _ = synced.send(key);
        Ok::<(), Error>(())
    }));
    keys.recv().await.unwrap();
    let text = TextEncoder::new().encode_to_string(&registry.gather()).unwrap();
    for line in [
        r#"workqueue_adds_total{name="pools"} 1"#,
        r#"endpoint_controllers_retries_exhausted_total{controller="pools"} 0"#,
        r#"kube_informer_store_objects{group="",name="pools",resource="configmaps",version="v1"} 1"#,
        r#"leader_election_master_status{name="pools"} 1"#,
    ] {
        assert!(text.contains(line), "{line} is not in {text}");
    }
    stop.cancel();
    tasks.join_next().await.unwrap().unwrap().unwrap();
    assert!(Controller::with_metrics("other", client, &registry).is_err(), "the metrics are registered already");
    server.shutdown().await;
}
