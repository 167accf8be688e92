//! A backup is restored while the controllers run.

use http::{Method, StatusCode};
use kube_endpoints_testing::eventually;
use serde_json::{Value, json};

use crate::cluster::Cluster;
use crate::process::{start_controllers, stop};

const ENDPOINTS: &str = "/api/v1/namespaces/default/endpoints";
const SLICES: &str = "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices";

/// EP-H5: in the usual order, Endpoints are restored first. They have the labels and annotations of the time of the
/// backup.
#[tokio::test]
async fn endpoints_that_are_restored_before_their_service_are_kept_and_mirrored() {
    let cluster = Cluster::start().await;
    let child = start_controllers(&cluster, &[]);
    let exists = async |name: &str| cluster.document(&format!("{ENDPOINTS}/{name}")).await.is_some();
    cluster.service("default", "first").await;
    eventually("Endpoints of the first Service", &true, async || exists("first").await).await;

    let leader = json!({"control-plane.alpha.kubernetes.io/leader": "{}"});
    for (name, annotations) in [("own", json!({})), ("lock", leader)] {
        let labels = json!({"endpoints.kubernetes.io/managed-by": "endpoint-controller"});
        let subset = json!({"addresses": [{"ip": "192.0.2.3"}], "ports": [{"name": "a", "port": 80}]});
        let metadata = json!({"name": name, "labels": labels, "annotations": annotations});
        let object = json!({"metadata": metadata, "subsets": [subset]});
        assert_eq!(cluster.try_call(Method::POST, ENDPOINTS, &object).await, StatusCode::CREATED);
    }
    // The controller has seen them before the Endpoints that it creates for the next Service.
    cluster.service("default", "second").await;
    eventually("Endpoints of the second Service", &true, async || exists("second").await).await;
    for name in ["own", "lock"] {
        let service = json!({"metadata": {"name": name}, "spec": {"ports": [{"name": "a", "port": 80}]}});
        let path = "/api/v1/namespaces/default/services";
        assert_eq!(cluster.try_call(Method::POST, path, &service).await, StatusCode::CREATED);
    }
    let mirrored = async || {
        let slices = cluster.document(SLICES).await.unwrap_or_default();
        let of = |it: &&Value| it["metadata"]["labels"]["kubernetes.io/service-name"] == "own";
        let slice = slices["items"].as_array().into_iter().flatten().find(of);
        slice.map(|it| it["endpoints"][0]["addresses"][0].clone())
    };
    eventually("a mirrored slice", &Some(json!("192.0.2.3")), mirrored).await;
    assert!(exists("own").await && exists("lock").await);
    stop(child).await;
    cluster.server.shutdown().await;
}
