//! The examples against the embedded API server: the first sync writes the expected slices, the second one nothing.

use kube_dev_apiserver::{Config, CustomKind};
use kube_endpointslice::Reconciler;
use serde_json::{Value, json};

use crate::cluster::{Cluster, once};
use crate::programs::{gateway, mirroring, resource_claims, secondary_network, service_import, service_pods};

#[tokio::test]
async fn service_and_pods() {
    let cluster = Cluster::start().await;
    cluster.node("n1", "a").await;
    cluster.service("web", json!({"app": "web"}), json!({})).await;
    cluster.pod("p1", "web", "n1", "10.1.0.1", json!({})).await;
    cluster.pod("p2", "other", "n1", "10.1.0.2", json!({})).await;
    let options = service_pods::options();
    let reconciler = Reconciler::builder(cluster.client.clone(), options.clone()).build();
    let sync = async || service_pods::sync(&cluster.client, &reconciler, "default", "web").await.expect("a sync");

    assert_eq!(sync().await.writes(), 1);
    assert!(sync().await.is_empty(), "settled");
    let slices = cluster.slices(&options.controller).await;
    assert_eq!(slices[0]["metadata"]["ownerReferences"][0]["kind"], "Service");
    assert_eq!(slices[0]["endpoints"][0]["zone"], "a");
    assert_eq!(slices[0]["ports"][0]["port"], 8080);

    cluster.pod("p3", "web", "n1", "10.1.0.3", json!({})).await;
    assert_eq!(sync().await.writes(), 1);
    assert_eq!(cluster.addresses(&options.controller).await, once(&["10.1.0.1 true", "10.1.0.3 true"]));
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
    let options = mirroring::options();
    let reconciler = Reconciler::builder(cluster.client.clone(), options.clone()).build();
    let sync = async || mirroring::sync(&cluster.client, &reconciler, "default", "database").await.expect("a sync");

    assert_eq!(sync().await.writes(), 2, "one for each family");
    assert!(sync().await.is_empty(), "settled");
    let expected = ["192.0.2.1 true", "192.0.2.2 false", "2001:db8::1 true"];
    assert_eq!(cluster.addresses(&options.controller).await, once(&expected));
    let slices = cluster.slices(&options.controller).await;
    assert!(slices.iter().all(|slice| slice["metadata"]["labels"]["team"] == "a"));
    assert!(slices.iter().all(|slice| slice["metadata"]["ownerReferences"][0]["kind"] == "Endpoints"));

    cluster.call("PATCH", &format!("{path}/database"), &json!({"subsets": []})).await;
    assert_eq!(sync().await.writes(), 2);
    assert!(cluster.slices(&options.controller).await.is_empty(), "no placeholders");
}

#[tokio::test]
async fn a_selector_without_a_service() {
    let cluster = Cluster::start().await;
    cluster.create("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", endpoint_selectors()).await;
    let path = "/apis/example.com/v1/namespaces/default/endpointselectors";
    let spec = json!({"selector": {"app": "edge"}, "port": 8443});
    let object =
        json!({"apiVersion": "example.com/v1", "kind": "EndpointSelector", "metadata": {"name": "edge"}, "spec": spec});
    let owner = cluster.create(path, object).await;
    cluster.pod("p1", "edge", "n1", "10.1.0.1", json!({})).await;
    let options = gateway::options();
    let reconciler = Reconciler::builder(cluster.client.clone(), options.clone()).build();
    let sync = async || gateway::sync(&cluster.client, &reconciler, "default", "edge").await.expect("a sync");

    assert_eq!(sync().await.writes(), 1);
    assert!(sync().await.is_empty(), "settled");
    let slices = cluster.slices(&options.controller).await;
    assert_eq!(slices[0]["metadata"]["ownerReferences"][0]["uid"], owner["metadata"]["uid"]);
    assert_eq!(slices[0]["ports"][0]["port"], 8443);
    assert_eq!(cluster.addresses(&options.controller).await, once(&["10.1.0.1 true"]));
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
        cluster.create("/apis/discovery.k8s.io/v1/namespaces/default/endpointslices", slice).await;
    }
    let import =
        json!({"apiVersion": "multicluster.x-k8s.io/v1alpha1", "kind": "ServiceImport", "metadata": {"name": "web"}});
    here.create("/apis/multicluster.x-k8s.io/v1alpha1/namespaces/default/serviceimports", import).await;
    let options = service_import::options();
    let reconciler = Reconciler::builder(here.client.clone(), options.clone()).build();
    let sources = [here.client.clone(), there.client.clone()];
    let sync =
        async || service_import::sync(&here.client, &sources, &reconciler, "default", "web").await.expect("a sync");

    assert_eq!(sync().await.writes(), 1);
    assert!(sync().await.is_empty(), "settled");
    assert_eq!(here.addresses(&options.controller).await, once(&["10.1.0.1 true", "10.2.0.1 true"]));
    let slices = here.slices(&options.controller).await;
    assert_eq!(slices[0]["metadata"]["labels"]["multicluster.kubernetes.io/service-name"], "web");
    assert_eq!(there.slices(&options.controller).await, Vec::<Value>::new(), "nothing is written to other clusters");

    there.call("DELETE", "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices/web-1", &json!({})).await;
    assert_eq!(sync().await.writes(), 1);
    assert_eq!(here.addresses(&options.controller).await, once(&["10.1.0.1 true"]));
}

#[tokio::test]
async fn addresses_from_an_annotation() {
    let cluster = Cluster::start().await;
    let annotations = json!({"example.com/network": "default/storage-net", "example.com/app": "storage"});
    cluster.service("storage", Value::Null, annotations).await;
    let networks = json!([
        {"name": "cni", "ips": ["10.1.0.1"]},
        {"name": "default/storage-net", "interface": "net1", "ips": ["192.168.7.1", "fd07::1"]},
    ]);
    let status = json!({"k8s.v1.cni.cncf.io/network-status": networks.to_string()});
    cluster.pod("p1", "storage", "n1", "10.1.0.1", status).await;
    cluster.pod("p2", "storage", "n1", "10.1.0.2", json!({})).await;
    let options = secondary_network::options();
    let reconciler = Reconciler::builder(cluster.client.clone(), options.clone()).build();
    let sync =
        async || secondary_network::sync(&cluster.client, &reconciler, "default", "storage").await.expect("a sync");

    assert_eq!(sync().await.writes(), 2, "one for each family");
    assert!(sync().await.is_empty(), "settled");
    assert_eq!(cluster.addresses(&options.controller).await, once(&["192.168.7.1 true", "fd07::1 true"]));
}

#[tokio::test]
async fn addresses_from_resource_claims() {
    let kinds = vec![CustomKind::new("resource.k8s.io", "v1", "ResourceClaim").with_status()];
    let cluster = Cluster::with(Config { kinds, ..Config::default() }).await;
    cluster.service("storage", Value::Null, json!({})).await;
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
    let options = resource_claims::options();
    let reconciler = Reconciler::builder(cluster.client.clone(), options.clone()).build();
    let sync =
        async || resource_claims::sync(&cluster.client, &reconciler, "default", "storage").await.expect("a sync");

    assert_eq!(sync().await.writes(), 2, "one for each family");
    assert!(sync().await.is_empty(), "settled");
    let expected = ["192.168.7.1 true", "192.168.7.2 false", "fd07::2 false"];
    assert_eq!(cluster.addresses(&options.controller).await, once(&expected));
    let slices = cluster.slices(&options.controller).await;
    let targets = slices.iter().flat_map(|slice| slice["endpoints"].as_array().into_iter().flatten());
    assert!(targets.clone().all(|endpoint| endpoint["targetRef"]["kind"] == "Pod"));
}
