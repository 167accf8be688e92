//! Bulk loading of objects, and traffic counters.

use kube_dev_apiserver::{Config, LoadError, Population, Server};
use serde_json::json;

use super::client::TestApi;

#[tokio::test]
async fn loaded_objects_keep_their_status() {
    let api = TestApi::start(Config::default()).await;
    let template = json!({
        "metadata": {"labels": {"tier": "front"}},
        "spec": {"containers": [{"name": "main", "image": "app:1"}]},
        "status": {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]},
    });
    let population = Population { pods: 250, services: 4, nodes: 5, services_of_a_namespace: 2 };
    assert_eq!(api.server.load(population.objects(&template)).unwrap(), 2 + 5 + 4 + 250);

    let name = population.pod_name(249);
    let (code, pod) = api.get(&format!("/api/v1/namespaces/team-1/pods/{name}")).await;
    assert_eq!(
        (code, pod["status"]["phase"].as_str(), pod["status"]["podIP"].as_str()),
        (200, Some("Running"), Some("10.0.0.249"))
    );
    assert_eq!(pod["metadata"]["labels"]["app"], "checkout-3");
    assert!(pod["metadata"]["uid"].is_string() && pod["metadata"]["creationTimestamp"].is_string());
    let (_, service) = api.get("/api/v1/namespaces/team-1/services/checkout-3").await;
    assert!(service["spec"]["clusterIP"].is_string(), "defaults and allocation apply: {service}");
}

#[tokio::test]
async fn load_errors_name_the_object() {
    let server = Server::start(Config::default()).await.unwrap();
    let unknown = server.load([json!({"apiVersion": "apps/v1", "kind": "StatefulSet"})]).unwrap_err();
    assert!(matches!(&unknown, LoadError::UnknownKind { kind, .. } if kind == "StatefulSet"), "{unknown}");
    let pod = json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a", "namespace": "nowhere"}});
    assert_eq!(server.load([pod]).unwrap_err().to_string(), "Pod nowhere/a");
}

#[tokio::test]
async fn traffic_is_counted_by_user_agent() {
    let api = TestApi::start(Config::default()).await;
    let (_, list) = api.get("/api/v1/nodes").await;
    let traffic = api.server.traffic();
    assert_eq!(traffic.iter().map(|it| it.user_agent.as_str()).collect::<Vec<_>>(), ["it/1 (test)"]);
    assert!(traffic[0].sent > list.to_string().len() as u64, "{traffic:?}");
    assert!(traffic[0].received > 100, "{traffic:?}");
    assert!(api.server.traffic()[0].sent >= traffic[0].sent);
}
