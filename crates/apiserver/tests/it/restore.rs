//! Restoring the store from a snapshot.

use std::time::Duration;

use http::Method;
use kube_dev_apiserver::Config;
use serde_json::{Value, json};

use super::client::{CONFIG_MAPS, World};

fn version(object: &Value) -> u64 {
    object["metadata"]["resourceVersion"].as_str().unwrap().parse().unwrap()
}

/// Retries until the client has replaced its reset connections.
async fn reconnect(world: &World) {
    while world.try_send(Method::GET, "/version", "", String::new()).await.is_err() {}
}

fn map(name: &str, value: &str) -> Value {
    json!({"metadata": {"name": name}, "data": {"key": value}})
}

#[tokio::test]
async fn objects_and_versions_go_back_and_versions_are_used_again() {
    let world = World::start(Config::default()).await;
    let kept = world.create(CONFIG_MAPS, map("kept", "1")).await;
    let snapshot = world.server.snapshot();
    let mut watch = world.watch(&format!("{CONFIG_MAPS}?watch=1&resourceVersion={}", version(&kept))).await;
    let (_, changed) = world.json(Method::PATCH, &format!("{CONFIG_MAPS}/kept"), &json!({"data": {"key": "2"}})).await;
    let first = world.create(CONFIG_MAPS, map("later", "1")).await;
    assert_eq!(watch.next_short().await, "MODIFIED kept");
    assert_eq!(watch.next_short().await, "ADDED later");

    world.server.restore(&snapshot);
    assert!(watch.try_next().await.is_err(), "a restore resets watches");
    reconnect(&world).await;
    assert_eq!(world.get(&format!("{CONFIG_MAPS}/kept")).await.1, kept);
    assert_eq!(world.get(&format!("{CONFIG_MAPS}/later")).await.0, 404);

    let other = world.create(CONFIG_MAPS, map("other", "1")).await;
    assert_eq!(version(&other), version(&changed));
    let again = world.create(CONFIG_MAPS, map("later", "2")).await;
    assert_eq!(version(&again), version(&first));
    assert_ne!(again["metadata"]["uid"], first["metadata"]["uid"]);
}

#[tokio::test]
async fn a_version_that_is_yet_to_come_refuses_lists_and_silences_watches() {
    let config = Config { bookmark_interval: Duration::from_millis(1), ..Config::default() };
    let world = World::start(config).await;
    let snapshot = world.server.snapshot();
    world.create(CONFIG_MAPS, map("a", "1")).await;
    let known = version(&world.create(CONFIG_MAPS, map("b", "1")).await);
    world.server.restore(&snapshot);
    reconnect(&world).await;

    let (code, refused) = world.get(&format!("{CONFIG_MAPS}?resourceVersion={known}")).await;
    assert_eq!((code, &refused["details"]["causes"][0]["reason"]), (504, &json!("ResourceVersionTooLarge")));
    let path = format!("{CONFIG_MAPS}?watch=1&allowWatchBookmarks=true&resourceVersion={known}");
    let mut watch = world.watch(&path).await;
    let silence = tokio::time::timeout(Duration::from_millis(50), watch.next()).await;
    assert!(silence.is_err(), "{silence:?}");
    for name in ["c", "d", "e"] {
        world.create(CONFIG_MAPS, map(name, "1")).await;
    }
    // Changes up to the requested version are not sent, and bookmarks start once that version is reached.
    let bookmark = format!("BOOKMARK {known}");
    loop {
        let event = watch.next_short().await;
        if event == "ADDED e" {
            break;
        }
        assert_eq!(event, bookmark);
    }
}
