//! The examples run against the embedded API server, and follow the changes of what they read.

use std::collections::BTreeMap;

use kube_controller_program::{Controller, PrometheusMetrics};
use kube_dev_apiserver::{Config, CustomKind};
use kube_endpoints_testing::eventually;
use kube_lease_election::LeaseName;
use prometheus::{Registry, TextEncoder};
use serde_json::{Value, json};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use crate::cluster::{Cluster, once};
use crate::controllers::{self, gateway, mirroring, resource_claims, secondary_network, service_import, service_pods};
use crate::inference_pool;

struct Running {
    stop: CancellationToken,
    tasks: JoinSet<controllers::Result<()>>,
}

impl Running {
    fn start(run: impl FnOnce(CancellationToken) -> Task) -> Running {
        let (stop, mut tasks) = (CancellationToken::new(), JoinSet::new());
        tasks.spawn(run(stop.clone()));
        Running { stop, tasks }
    }

    async fn stop(mut self) {
        self.stop.cancel();
        self.tasks.join_next().await.expect("a task").expect("no panic").expect("no error");
    }
}

type Task = std::pin::Pin<Box<dyn Future<Output = controllers::Result<()>> + Send>>;

impl Cluster {
    /// Waits until the slices of a controller have exactly these addresses, once each.
    async fn has(&self, controller: &str, addresses: &[&str]) {
        eventually("addresses", &once(addresses), || self.addresses(controller)).await;
    }

    async fn labels(&self, controller: &str) -> Vec<BTreeMap<String, String>> {
        let labels = |slice: &Value| serde_json::from_value(slice["metadata"]["labels"].clone()).expect("labels");
        self.slices(controller).await.iter().map(labels).collect()
    }

    async fn delete(&self, path: &str) {
        self.call("DELETE", path, &json!({})).await;
    }
}

const SERVICE_NAME: &str = "kubernetes.io/service-name";
const SLICES: &str = "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices";

#[tokio::test]
async fn service_and_pods() {
    let cluster = Cluster::start().await;
    cluster.node("n1", "a");
    cluster.service("web", json!({"app": "web"}), json!({}));
    cluster.pod("p1", "web", "n1", "10.1.0.1", json!({}));
    cluster.pod("p2", "other", "n1", "10.1.0.2", json!({}));
    let client = cluster.client.clone();
    let running = Running::start(|stop| Box::pin(service_pods::run(client, stop)));
    cluster.has(service_pods::NAME, &["10.1.0.1 true"]).await;
    let slices = cluster.slices(service_pods::NAME).await;
    assert_eq!(slices[0]["metadata"]["ownerReferences"][0]["kind"], "Service");
    assert_eq!((&slices[0]["endpoints"][0]["zone"], &slices[0]["ports"][0]["port"]), (&json!("a"), &json!(8080)));
    assert_eq!(cluster.labels(service_pods::NAME).await[0][SERVICE_NAME], "web");

    cluster.pod("p3", "web", "n1", "10.1.0.3", json!({}));
    cluster.has(service_pods::NAME, &["10.1.0.1 true", "10.1.0.3 true"]).await;
    let zone = json!({"metadata": {"labels": {"topology.kubernetes.io/zone": "b"}}});
    cluster.call("PATCH", "/api/v1/nodes/n1", &zone).await;
    eventually("zone", &json!("b"), async || {
        cluster.slices(service_pods::NAME).await[0]["endpoints"][0]["zone"].clone()
    })
    .await;
    running.stop().await;
}

#[tokio::test]
async fn mirrored_endpoints() {
    let cluster = Cluster::start().await;
    let subset = json!({
        "addresses": [{"ip": "192.0.2.1"}, {"ip": "2001:db8::1"}],
        "notReadyAddresses": [{"ip": "192.0.2.2"}],
        "ports": [{"name": "sql", "port": 5432, "protocol": "TCP"}],
    });
    let path = "/api/v1/namespaces/default/endpoints";
    let endpoints = json!({"metadata": {"name": "database", "labels": {"team": "a"}}, "subsets": [subset]});
    cluster.create(path, endpoints).await;
    let client = cluster.client.clone();
    let running = Running::start(|stop| Box::pin(mirroring::run(client, stop)));
    cluster.service("database", Value::Null, json!({}));
    cluster.has(mirroring::NAME, &["192.0.2.1 true", "192.0.2.2 false", "2001:db8::1 true"]).await;
    let slices = cluster.slices(mirroring::NAME).await;
    assert!(slices.iter().all(|slice| slice["metadata"]["ownerReferences"][0]["kind"] == "Endpoints"));
    let labels = cluster.labels(mirroring::NAME).await;
    assert!(labels.iter().all(|labels| labels["team"] == "a" && labels[SERVICE_NAME] == "database"));

    let selected = json!({"spec": {"selector": {"app": "database"}}});
    cluster.call("PATCH", "/api/v1/namespaces/default/services/database", &selected).await;
    cluster.has(mirroring::NAME, &[]).await;
    eventually("slices", &0, async || cluster.slices(mirroring::NAME).await.len()).await;
    running.stop().await;
}

#[tokio::test]
async fn a_selector_without_a_service() {
    let cluster = Cluster::start().await;
    cluster.create("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", endpoint_selectors()).await;
    let path = "/apis/example.com/v1/namespaces/default/endpointselectors";
    let spec = json!({"selector": {"app": "edge"}, "port": 8443});
    let object =
        json!({"apiVersion": "example.com/v1", "kind": "EndpointSelector", "metadata": {"name": "edge"}, "spec": spec});
    let client = cluster.client.clone();
    let running = Running::start(|stop| Box::pin(gateway::run(client, stop)));
    let owner = cluster.create(path, object).await;
    cluster.pod("p1", "edge", "n1", "10.1.0.1", json!({}));
    cluster.has(gateway::NAME, &["10.1.0.1 true"]).await;
    let slices = cluster.slices(gateway::NAME).await;
    assert_eq!(slices[0]["metadata"]["ownerReferences"][0]["uid"], owner["metadata"]["uid"]);
    assert_eq!(slices[0]["ports"][0]["port"], 8443);
    // A Service `edge` must not get these endpoints.
    let labels = &cluster.labels(gateway::NAME).await[0];
    assert!(!labels.contains_key(SERVICE_NAME), "{labels:?}");
    assert_eq!(labels["endpointselectors.example.com/owner"], "edge");

    let name = slices[0]["metadata"]["name"].as_str().expect("a name");
    cluster.delete(&format!("{SLICES}/{name}")).await;
    cluster.has(gateway::NAME, &["10.1.0.1 true"]).await;
    let selector = json!({"spec": {"selector": {"app": "other"}}});
    cluster.call("PATCH", &format!("{path}/edge"), &selector).await;
    cluster.has(gateway::NAME, &[]).await;
    running.stop().await;
}

fn endpoint_selectors() -> Value {
    let properties = json!({
        "selector": {"type": "object", "additionalProperties": {"type": "string"}},
        "port": {"type": "integer"},
    });
    let spec = json!({"type": "object", "properties": properties, "required": ["selector", "port"]});
    let schema = json!({"openAPIV3Schema": {"type": "object", "properties": {"spec": spec}}});
    json!({
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "endpointselectors.example.com"},
        "spec": {
            "group": "example.com",
            "scope": "Namespaced",
            "names": {"kind": "EndpointSelector", "plural": "endpointselectors", "singular": "endpointselector"},
            "versions": [{"name": "v1", "served": true, "storage": true, "schema": schema}],
        },
    })
}

#[tokio::test]
async fn a_pool_of_model_servers() {
    let kinds = vec![CustomKind::new("inference.networking.k8s.io", "v1", "InferencePool").with_status()];
    let cluster = Cluster::with(Config { kinds, ..Config::default() }).await;
    cluster.node("n1", "a");
    let path = "/apis/inference.networking.k8s.io/v1/namespaces/default/inferencepools";
    let pool = |name: &str, ports: Value| {
        let spec = json!({"selector": {"matchLabels": {"app": name}}, "targetPorts": ports});
        let api_version = "inference.networking.k8s.io/v1";
        json!({"apiVersion": api_version, "kind": "InferencePool", "metadata": {"name": name}, "spec": spec})
    };
    cluster.create(path, pool("broken", json!([{"number": "many"}]))).await;
    cluster.create(path, pool("llama", json!([{"number": 8000}]))).await;
    cluster.pod("p1", "llama", "n1", "10.1.0.1", json!({}));
    let registry = Registry::new();
    let metrics = PrometheusMetrics::register(&registry).expect("an empty registry");
    let controller = Controller::with_metrics("pools.example.com", cluster.client.clone(), &metrics);
    let lease = LeaseName::new("default", "pools");
    let running = Running::start(|stop| Box::pin(inference_pool::run(controller, lease, stop)));
    cluster.has("pools.example.com", &["10.1.0.1 true"]).await;
    let slices = cluster.slices("pools.example.com").await;
    assert_eq!((&slices[0]["endpoints"][0]["zone"], &slices[0]["ports"][0]["port"]), (&json!("a"), &json!(8000)));
    let labels = &cluster.labels("pools.example.com").await[0];
    assert_eq!(labels["inference.networking.k8s.io/pool"], "llama");
    assert!(!labels.contains_key(SERVICE_NAME), "{labels:?}");

    // The object that cannot be decoded does not stop the others.
    cluster.pod("p2", "llama", "n1", "10.1.0.2", json!({}));
    cluster.has("pools.example.com", &["10.1.0.1 true", "10.1.0.2 true"]).await;
    eventually("ready endpoints", &json!(2), async || {
        cluster.client.get_json(&format!("{path}/llama")).await.expect("the pool")["status"]["readyEndpoints"].clone()
    })
    .await;
    let metrics = TextEncoder::new().encode_to_string(&registry.gather()).expect("metrics");
    assert!(metrics.contains(r#"leader_election_master_status{name="pools"} 1"#), "{metrics}");
    running.stop().await;
}

#[tokio::test]
async fn a_service_of_two_clusters() {
    let kinds = vec![CustomKind::new("multicluster.x-k8s.io", "v1alpha1", "ServiceImport")];
    let here = Cluster::with(Config { kinds, ..Config::default() }).await;
    let there = Cluster::start().await;
    for (cluster, address) in [(&here, "10.1.0.1"), (&there, "10.2.0.1")] {
        let labels = json!({
            "kubernetes.io/service-name": "web",
            "endpointslice.kubernetes.io/managed-by": "endpointslice-controller.k8s.io",
        });
        // Both clusters have a Pod of the same name.
        let target = json!({"kind": "Pod", "namespace": "default", "name": "web-0"});
        let endpoint = json!({"addresses": [address], "conditions": {"ready": true}, "targetRef": target});
        let slice = json!({
            "metadata": {"name": "web-1", "labels": labels},
            "addressType": "IPv4",
            "endpoints": [endpoint],
            "ports": [{"name": "http", "port": 8080, "protocol": "TCP"}],
        });
        cluster.create(SLICES, slice).await;
    }
    let (client, others) = (here.client.clone(), vec![there.client.clone()]);
    let running = Running::start(|stop| Box::pin(service_import::run(client, others, stop)));
    let import =
        json!({"apiVersion": "multicluster.x-k8s.io/v1alpha1", "kind": "ServiceImport", "metadata": {"name": "web"}});
    here.create("/apis/multicluster.x-k8s.io/v1alpha1/namespaces/default/serviceimports", import).await;
    here.has(service_import::NAME, &["10.1.0.1 true", "10.2.0.1 true"]).await;
    let labels = &here.labels(service_import::NAME).await[0];
    assert_eq!(labels["multicluster.kubernetes.io/service-name"], "web");
    assert!(!labels.contains_key(SERVICE_NAME), "{labels:?}");
    assert_eq!(there.slices(service_import::NAME).await, Vec::<Value>::new(), "nothing is written to other clusters");

    there.delete(&format!("{SLICES}/web-1")).await;
    here.has(service_import::NAME, &["10.1.0.1 true"]).await;
    running.stop().await;
}

#[tokio::test]
async fn addresses_from_an_annotation() {
    let cluster = Cluster::start().await;
    let annotations = json!({"example.com/network": "default/storage-net", "example.com/app": "storage"});
    cluster.service("storage", Value::Null, annotations);
    let networks = json!([
        {"name": "cni", "ips": ["10.1.0.1"]},
        {"name": "default/storage-net", "interface": "net1", "ips": ["192.168.7.1", "fd07::1"]},
    ]);
    let status = json!({"k8s.v1.cni.cncf.io/network-status": networks.to_string()});
    cluster.pod("p1", "storage", "n1", "10.1.0.1", status);
    cluster.pod("p2", "storage", "n1", "10.1.0.2", json!({}));
    let client = cluster.client.clone();
    let running = Running::start(|stop| Box::pin(secondary_network::run(client, stop)));
    cluster.has(secondary_network::NAME, &["192.168.7.1 true", "fd07::1 true"]).await;

    // The network is attached later.
    let networks = json!([{"name": "default/storage-net", "ips": ["192.168.7.2", "127.0.0.1", "FD07:0:0::2"]}]);
    let status = json!({"metadata": {"annotations": {"k8s.v1.cni.cncf.io/network-status": networks.to_string()}}});
    cluster.call("PATCH", "/api/v1/namespaces/default/pods/p2", &status).await;
    // Addresses are written in canonical form, and one that the API server rejects does not stop the others.
    let expected = ["192.168.7.1 true", "192.168.7.2 true", "fd07::1 true", "fd07::2 true"];
    cluster.has(secondary_network::NAME, &expected).await;
    eventually("event", &json!("p2"), async || {
        let events = cluster.server.objects("", "events");
        let event = events.iter().find(|it| it["reason"] == "InvalidNetworkStatus");
        event.map_or(Value::Null, |it| {
            assert!(it["message"].as_str().is_some_and(|it| it.ends_with(": 127.0.0.1: a loopback address")), "{it}");
            it["involvedObject"]["name"].clone()
        })
    })
    .await;
    for labels in cluster.labels(secondary_network::NAME).await {
        assert!(!labels.contains_key(SERVICE_NAME), "{labels:?}");
        assert_eq!(labels["service.kubernetes.io/service-proxy-name"], secondary_network::NAME);
        assert_eq!(labels["networks.example.com/service"], "storage");
    }
    let other = json!({"metadata": {"annotations": {"example.com/network": "cni"}}});
    cluster.call("PATCH", "/api/v1/namespaces/default/services/storage", &other).await;
    cluster.has(secondary_network::NAME, &["10.1.0.1 true"]).await;
    running.stop().await;
}

#[tokio::test]
async fn addresses_from_resource_claims() {
    let kinds = vec![CustomKind::new("resource.k8s.io", "v1", "ResourceClaim").with_status()];
    let cluster = Cluster::with(Config { kinds, ..Config::default() }).await;
    let client = cluster.client.clone();
    let running = Running::start(|stop| Box::pin(resource_claims::run(client, stop)));
    cluster.service("storage", Value::Null, json!({}));
    let path = "/apis/resource.k8s.io/v1/namespaces/default/resourceclaims";
    for (name, ips, ready) in
        [("nic-1", json!(["192.168.7.1/24"]), "True"), ("nic-2", json!(["192.168.7.2/24", "fd07::2/64"]), "False")]
    {
        let metadata = json!({"name": name, "labels": {"example.com/service": "storage"}});
        let claim =
            json!({"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim", "metadata": metadata, "spec": {}});
        cluster.create(path, claim).await;
        let device = json!({
            "driver": "nics.example.com",
            "pool": "n1",
            "device": "eth1",
            "conditions": [{"type": "Ready", "status": ready, "reason": "Up", "message": "",
                            "lastTransitionTime": "2026-01-01T00:00:00Z"}],
            "networkData": {"interfaceName": "net1", "ips": ips},
        });
        let consumer = json!({"resource": "pods", "name": format!("pod-of-{name}"), "uid": name});
        let status = json!({"status": {"devices": [device], "reservedFor": [consumer]}});
        cluster.call("PATCH", &format!("{path}/{name}/status"), &status).await;
    }
    let expected = ["192.168.7.1 true", "192.168.7.2 false", "fd07::2 false"];
    cluster.has(resource_claims::NAME, &expected).await;
    let slices = cluster.slices(resource_claims::NAME).await;
    let targets = slices.iter().flat_map(|slice| slice["endpoints"].as_array().into_iter().flatten());
    assert!(targets.clone().all(|endpoint| endpoint["targetRef"]["kind"] == "Pod"));
    cluster.delete(&format!("{path}/nic-2")).await;
    cluster.has(resource_claims::NAME, &["192.168.7.1 true"]).await;
    running.stop().await;
}
