//! Deletion of namespaces as seen by clients.

use std::time::Duration;

use http::Method;
use kube_dev_apiserver::Config;
use serde_json::{Value, json};

use super::client::TestApi;

const SHOP: &str = "/api/v1/namespaces/shop";

async fn api(namespace_grace: Duration) -> TestApi {
    let api = TestApi::start(Config { namespace_grace, ..Config::default() }).await;
    api.create("/api/v1/namespaces", json!({"metadata": {"name": "shop"}})).await;
    api.create(&format!("{SHOP}/configmaps"), json!({"metadata": {"name": "a"}})).await;
    api
}

#[tokio::test]
async fn watches_get_terminating_then_content_then_namespace_deletions() {
    let api = api(Duration::MAX).await;
    let version = api.get("/api/v1/namespaces").await.1["metadata"]["resourceVersion"].as_str().unwrap().to_owned();
    let mut namespaces = api.watch(&format!("/api/v1/namespaces?watch=true&resourceVersion={version}")).await;
    let mut content = api.watch(&format!("{SHOP}/configmaps?watch=true&resourceVersion={version}")).await;

    let (code, answer) = api.json(Method::DELETE, SHOP, &Value::Null).await;
    assert_eq!((code, &answer["kind"], &answer["status"]["phase"]), (200, &json!("Namespace"), &json!("Terminating")));
    assert!(answer["metadata"]["deletionTimestamp"].is_string());
    let event = namespaces.next().await.unwrap();
    assert_eq!((&event["type"], &event["object"]), (&json!("MODIFIED"), &answer));

    let (code, refused) =
        api.json(Method::POST, &format!("{SHOP}/configmaps"), &json!({"metadata": {"name": "b"}})).await;
    assert_eq!((code, &refused["reason"]), (403, &json!("Forbidden")));
    let cause = json!({
        "reason": "NamespaceTerminating", "message": "namespace shop is being terminated", "field": "metadata.namespace"
    });
    assert_eq!(refused["details"]["causes"], json!([cause]));
    // Existing content can still be read and deleted.
    assert_eq!(api.get(&format!("{SHOP}/configmaps/a")).await.0, 200);

    api.server.empty_namespaces();
    let deleted = content.next().await.unwrap();
    let last = namespaces.next().await.unwrap();
    assert_eq!((&deleted["type"], &last["type"]), (&json!("DELETED"), &json!("DELETED")));
    let version =
        |event: &Value| event["object"]["metadata"]["resourceVersion"].as_str().unwrap().parse::<u64>().unwrap();
    assert!(version(&deleted) < version(&last));
    assert_eq!(api.get(SHOP).await.0, 404);
}

#[tokio::test]
async fn namespace_is_emptied_after_the_grace_period() {
    let api = api(Duration::ZERO).await;
    let version = api.get("/api/v1/namespaces").await.1["metadata"]["resourceVersion"].as_str().unwrap().to_owned();
    let mut namespaces = api.watch(&format!("/api/v1/namespaces?watch=true&resourceVersion={version}")).await;
    let (_, answer) = api.json(Method::DELETE, SHOP, &Value::Null).await;
    assert_eq!(answer["status"]["phase"], "Terminating");
    assert_eq!(namespaces.next_short().await, "MODIFIED shop");
    assert_eq!(namespaces.next_short().await, "DELETED shop");
    // The name can be used again.
    api.create("/api/v1/namespaces", json!({"metadata": {"name": "shop"}})).await;
}
