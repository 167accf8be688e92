//! Restoring the store from a snapshot.

use std::time::Duration;

use http::Method;
use kube_dev_apiserver::Config;
use serde_json::{Value, json};

use super::client::{CONFIG_MAPS, TestApi};

fn version(object: &Value) -> u64 {
    object["metadata"]["resourceVersion"].as_str().unwrap().parse().unwrap()
}

fn map(name: &str, value: &str) -> Value {
    json!({"metadata": {"name": name}, "data": {"key": value}})
}

#[tokio::test]
async fn restore_resets_objects_and_reuses_versions() {
    let api = TestApi::start(Config::default()).await;
    let kept = api.create(CONFIG_MAPS, map("kept", "1")).await;
    let snapshot = api.server.snapshot();
    let mut watch = api.watch(&format!("{CONFIG_MAPS}?watch=1&resourceVersion={}", version(&kept))).await;
    let (_, changed) = api.json(Method::PATCH, &format!("{CONFIG_MAPS}/kept"), &json!({"data": {"key": "2"}})).await;
    let first = api.create(CONFIG_MAPS, map("later", "1")).await;
    assert_eq!(watch.next_short().await, "MODIFIED kept");
    assert_eq!(watch.next_short().await, "ADDED later");

    api.server.restore(&snapshot);
    assert!(watch.try_next().await.is_err(), "a restore resets watches");
    api.reconnect().await;
    assert_eq!(api.get(&format!("{CONFIG_MAPS}/kept")).await.1, kept);
    assert_eq!(api.get(&format!("{CONFIG_MAPS}/later")).await.0, 404);

    let other = api.create(CONFIG_MAPS, map("other", "1")).await;
    assert_eq!(version(&other), version(&changed));
    let again = api.create(CONFIG_MAPS, map("later", "2")).await;
    assert_eq!(version(&again), version(&first));
    assert_ne!(again["metadata"]["uid"], first["metadata"]["uid"]);
}

#[tokio::test]
async fn future_version_rejects_lists_and_delays_watches() {
    let config = Config { bookmark_interval: Duration::from_millis(1), ..Config::default() };
    let api = TestApi::start(config).await;
    let snapshot = api.server.snapshot();
    api.create(CONFIG_MAPS, map("a", "1")).await;
    let future_version = version(&api.create(CONFIG_MAPS, map("b", "1")).await);
    api.server.restore(&snapshot);
    api.reconnect().await;

    let (code, refused) = api.get(&format!("{CONFIG_MAPS}?resourceVersion={future_version}")).await;
    assert_eq!((code, &refused["details"]["causes"][0]["reason"]), (504, &json!("ResourceVersionTooLarge")));
    let path = format!("{CONFIG_MAPS}?watch=1&allowWatchBookmarks=true&resourceVersion={future_version}");
    let mut watch = api.watch(&path).await;
    let silence = tokio::time::timeout(Duration::from_millis(50), watch.next()).await;
    assert!(silence.is_err(), "{silence:?}");
    for name in ["c", "d", "e"] {
        api.create(CONFIG_MAPS, map(name, "1")).await;
    }
    // Changes up to the requested version are not sent, and bookmarks start once that version is reached.
    let bookmark = format!("BOOKMARK {future_version}");
    loop {
        let event = watch.next_short().await;
        if event == "ADDED e" {
            break;
        }
        assert_eq!(event, bookmark);
    }
}
