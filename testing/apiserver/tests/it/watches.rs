//! Watch requests.

use std::time::Duration;

use http::Method;
use kube_dev_apiserver::Config;
use serde_json::{Value, json};

use super::client::{CONFIG_MAPS, TestApi};

fn config_map(name: &str, app: &str) -> Value {
    json!({"metadata": {"name": name, "labels": {"app": app}}})
}

async fn relabel(api: &TestApi, name: &str, app: &str) {
    let patch = json!({"metadata": {"labels": {"app": app}}});
    assert_eq!(api.json(Method::PATCH, &format!("{CONFIG_MAPS}/{name}"), &patch).await.0, 200);
}

async fn delete(api: &TestApi, name: &str) {
    assert_eq!(api.json(Method::DELETE, &format!("{CONFIG_MAPS}/{name}"), &Value::Null).await.0, 200);
}

#[tokio::test]
async fn watch_without_version_starts_with_existing_objects() {
    let api = TestApi::start(Config::default()).await;
    api.create(CONFIG_MAPS, config_map("a", "web")).await;
    for version in ["", "&resourceVersion=0"] {
        let mut events = api.watch(&format!("/api/v1/configmaps?watch=true{version}")).await;
        assert_eq!(events.next_short().await, "ADDED a");
    }
}

#[tokio::test]
async fn watch_from_a_version_continues_after_it() {
    let api = TestApi::start(Config::default()).await;
    let a = api.create(CONFIG_MAPS, config_map("a", "web")).await;
    api.create(CONFIG_MAPS, config_map("b", "web")).await;
    let version = a["metadata"]["resourceVersion"].as_str().unwrap();
    let mut events = api.watch(&format!("{CONFIG_MAPS}?watch=1&resourceVersion={version}")).await;
    assert_eq!(events.next_short().await, "ADDED b");
    relabel(&api, "a", "db").await;
    assert_eq!(events.next_short().await, "MODIFIED a");
    delete(&api, "b").await;
    assert_eq!(events.next_short().await, "DELETED b");
}

#[tokio::test]
async fn selector_turns_updates_into_added_and_deleted() {
    let api = TestApi::start(Config::default()).await;
    let mut events = api.watch(&format!("{CONFIG_MAPS}?watch=true&labelSelector=app%3Dweb")).await;
    api.create(CONFIG_MAPS, config_map("a", "db")).await;
    relabel(&api, "a", "web").await;
    assert_eq!(events.next_short().await, "ADDED a");
    relabel(&api, "a", "db").await;
    let deleted = events.next().await.unwrap();
    assert_eq!(deleted["type"], "DELETED");
    // The object in its last selected state, at the version of the change.
    assert_eq!(deleted["object"]["metadata"]["labels"]["app"], "web");
    assert_eq!(deleted["object"]["metadata"]["resourceVersion"], "7");
    delete(&api, "a").await;
    api.create(CONFIG_MAPS, config_map("b", "web")).await;
    assert_eq!(events.next_short().await, "ADDED b");
}

#[tokio::test]
async fn streaming_list_ends_with_its_bookmark() {
    let api = TestApi::start(Config::default()).await;
    api.create(CONFIG_MAPS, config_map("a", "web")).await;
    let query = "allowWatchBookmarks=true&resourceVersionMatch=NotOlderThan&sendInitialEvents=true&watch=true";
    let mut events = api.watch(&format!("{CONFIG_MAPS}?{query}&timeout=5m10s&timeoutSeconds=310")).await;
    assert_eq!(events.next_short().await, "ADDED a");
    let bookmark = events.next().await.unwrap();
    let expect = json!({"kind": "ConfigMap", "apiVersion": "v1", "metadata": {
        "resourceVersion": "5", "annotations": {"k8s.io/initial-events-end": "true"}
    }});
    assert_eq!((&bookmark["type"], &bookmark["object"]), (&json!("BOOKMARK"), &expect));
    api.create(CONFIG_MAPS, config_map("b", "web")).await;
    assert_eq!(events.next_short().await, "ADDED b");
}

#[tokio::test]
async fn bookmarks_have_the_reached_version() {
    let config = Config { bookmark_interval: Duration::from_millis(50), ..Config::default() };
    let api = TestApi::start(config).await;
    let mut events = api.watch(&format!("{CONFIG_MAPS}?watch=true&allowWatchBookmarks=true")).await;
    assert_eq!(events.next_short().await, "BOOKMARK 4");
    // A change of another kind advances the version.
    api.create("/api/v1/nodes", json!({"metadata": {"name": "n"}})).await;
    while events.next_short().await != "BOOKMARK 5" {}
}

#[tokio::test]
async fn expired_version_is_an_error_event() {
    let api = TestApi::start(Config { watch_history: 1, ..Config::default() }).await;
    api.create(CONFIG_MAPS, config_map("a", "web")).await;
    api.create(CONFIG_MAPS, config_map("b", "web")).await;
    let mut events = api.watch(&format!("{CONFIG_MAPS}?watch=true&resourceVersion=1")).await;
    let event = events.next().await.unwrap();
    assert_eq!((&event["type"], &event["object"]["code"]), (&json!("ERROR"), &json!(410)));
    assert_eq!(event["object"]["reason"], "Expired");
    assert_eq!(events.next().await, None);
}

#[tokio::test]
async fn watch_ends_at_its_timeout_and_with_the_server() {
    let api = TestApi::start(Config::default()).await;
    let mut short = api.watch(&format!("{CONFIG_MAPS}?watch=true&timeoutSeconds=1")).await;
    let mut long = api.watch(&format!("{CONFIG_MAPS}?watch=true")).await;
    assert_eq!(short.next_short().await, "END");
    api.server.shutdown().await;
    assert_eq!(long.next_short().await, "END");
}

/// A client that does not read blocks no writer, and its stream is closed when it falls behind the history.
#[tokio::test(flavor = "multi_thread")]
async fn slow_client_is_disconnected() {
    let api = TestApi::start(Config { watch_history: 10, ..Config::default() }).await;
    let mut slow = api.watch(&format!("{CONFIG_MAPS}?watch=true")).await;
    let mut object = config_map("a", "web");
    object["data"] = json!({"x": "x".repeat(250_000)});
    api.create(CONFIG_MAPS, object).await;
    // Far more than the socket buffers hold.
    for i in 0..100 {
        relabel(&api, "a", &i.to_string()).await;
    }
    let mut received = 0;
    while let Some(event) = slow.next().await {
        assert_ne!(event["type"], "ERROR");
        received += 1;
    }
    assert!(received < 101, "{received}");
}
