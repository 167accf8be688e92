//! Metrics of a controller on a registry.

use k8s_openapi::api::core::v1::ConfigMap;
use kube_controller_client::{Client, ClientOptions, Config, Error};
use kube_controller_program::{Controller, PrometheusMetrics};
use kube_dev_apiserver::Server;
use kube_lease_election::LeaseName;
use prometheus::{Registry, TextEncoder};
use serde_json::json;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

/// All parts are measured. As with client-go, labels tell the controllers apart.
#[tokio::test]
async fn two_controllers_share_a_registry() {
    let server = Server::start(kube_dev_apiserver::Config::default()).await.unwrap();
    for name in ["a", "b"] {
        let object = serde_json::from_value(json!({"metadata": {"name": name}})).unwrap();
        server.typed::<ConfigMap>().create(&object).unwrap();
    }
    let config = Config::from_kubeconfig_text(&server.kubeconfig()).unwrap();
    let registry = Registry::new();
    let metrics = PrometheusMetrics::register(&registry).unwrap();
    assert!(PrometheusMetrics::register(&registry).is_err(), "the metrics are registered already");
    let client = Client::with_metrics(&config, ClientOptions::default(), &metrics).unwrap();
    let (stop, mut tasks) = (CancellationToken::new(), JoinSet::new());
    let (synced, mut keys) = tokio::sync::mpsc::unbounded_channel();
    for (name, selector) in [("pools", "metadata.name=a"), ("routes", "")] {
        let controller = Controller::with_metrics(name, client.clone(), &metrics);
        let config_maps = controller.informer::<ConfigMap>().field_selector(selector).build();
        let controller = controller.primary(&config_maps).with_leader_election(LeaseName::new("default", name));
        tasks.spawn(controller.run(stop.clone(), synced.clone(), async |synced, key| {
            let _ = synced.send(key);
            Ok::<(), Error>(())
        }));
    }
    for _ in 0..3 {
        keys.recv().await.unwrap();
    }
    let text = TextEncoder::new().encode_to_string(&registry.gather()).unwrap();
    for (name, objects) in [("pools", 1), ("routes", 2)] {
        for line in [
            format!(r#"workqueue_adds_total{{name="{name}"}} {objects}"#),
            format!(r#"kube_controller_retries_exhausted_total{{controller="{name}"}} 0"#),
            format!(
                r#"kube_informer_store_objects{{group="",name="{name}",resource="configmaps",version="v1"}} {objects}"#
            ),
            format!(r#"leader_election_master_status{{name="{name}"}} 1"#),
        ] {
            assert!(text.contains(&line), "{line} is not in {text}");
        }
    }
    assert!(text.contains("rest_client_requests_total{code=\"200\""), "{text}");
    stop.cancel();
    while let Some(ended) = tasks.join_next().await {
        ended.unwrap().unwrap();
    }
    server.shutdown().await;
}
