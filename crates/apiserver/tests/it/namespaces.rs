//! Deletion of namespaces as seen by clients.

use std::time::Duration;

use http::Method;
use kube_dev_apiserver::Config;
use serde_json::{Value, json};

use super::client::World;

const SHOP: &str = "/api/v1/namespaces/shop";

async fn world(namespace_grace: Duration) -> World {
    let world = World::start(Config { namespace_grace, ..Config::default() }).await;
    world.create("/api/v1/namespaces", json!({"metadata": {"name": "shop"}})).await;
    world.create(&format!("{SHOP}/configmaps"), json!({"metadata": {"name": "a"}})).await;
    world
}

#[tokio::test]
async fn watches_see_it_end_then_its_content_go_then_itself() {
    let world = world(Duration::MAX).await;
    let version = world.get("/api/v1/namespaces").await.1["metadata"]["resourceVersion"].as_str().unwrap().to_owned();
    let mut namespaces = world.watch(&format!("/api/v1/namespaces?watch=true&resourceVersion={version}")).await;
    let mut content = world.watch(&format!("{SHOP}/configmaps?watch=true&resourceVersion={version}")).await;

    let (code, answer) = world.json(Method::DELETE, SHOP, &Value::Null).await;
    assert_eq!((code, &answer["kind"], &answer["status"]["phase"]), (200, &json!("Namespace"), &json!("Terminating")));
    assert!(answer["metadata"]["deletionTimestamp"].is_string());
    let event = namespaces.next().await.unwrap();
    assert_eq!((&event["type"], &event["object"]), (&json!("MODIFIED"), &answer));

    let (code, refused) =
        world.json(Method::POST, &format!("{SHOP}/configmaps"), &json!({"metadata": {"name": "b"}})).await;
    assert_eq!((code, &refused["reason"]), (403, &json!("Forbidden")));
    let cause = json!({
        "reason": "NamespaceTerminating", "message": "namespace shop is being terminated", "field": "metadata.namespace"
    });
    assert_eq!(refused["details"]["causes"], json!([cause]));
    // Existing content can still be read and deleted.
    assert_eq!(world.get(&format!("{SHOP}/configmaps/a")).await.0, 200);

    world.server.empty_namespaces();
    let gone = content.next().await.unwrap();
    let last = namespaces.next().await.unwrap();
    assert_eq!((&gone["type"], &last["type"]), (&json!("DELETED"), &json!("DELETED")));
    let version =
        |event: &Value| event["object"]["metadata"]["resourceVersion"].as_str().unwrap().parse::<u64>().unwrap();
    assert!(version(&gone) < version(&last));
    assert_eq!(world.get(SHOP).await.0, 404);
}

#[tokio::test]
async fn the_server_empties_it_by_itself() {
    let world = world(Duration::ZERO).await;
    let version = world.get("/api/v1/namespaces").await.1["metadata"]["resourceVersion"].as_str().unwrap().to_owned();
    let mut namespaces = world.watch(&format!("/api/v1/namespaces?watch=true&resourceVersion={version}")).await;
    let (_, answer) = world.json(Method::DELETE, SHOP, &Value::Null).await;
    assert_eq!(answer["status"]["phase"], "Terminating");
    assert_eq!(namespaces.next_short().await, "MODIFIED shop");
    assert_eq!(namespaces.next_short().await, "DELETED shop");
    // The name can be used again.
    world.create("/api/v1/namespaces", json!({"metadata": {"name": "shop"}})).await;
}
