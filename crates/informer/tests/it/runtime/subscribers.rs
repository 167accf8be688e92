//! Streams of changes.

use std::time::Duration;

use futures::{Stream, StreamExt as _, poll};
use k8s_openapi::api::core::v1::ConfigMap;
use kube::{
    ResourceExt as _,
    runtime::{WatchStreamExt as _, predicates, utils::PredicateConfig, watcher},
};
use kube_dev_apiserver::{Fault, History, On};
use kube_endpoints_testing::{LIMIT, eventually};
use serde_json::json;

use super::{World, names};

/// Returns the names of the items that are ready.
async fn ready<K: kube::Resource>(stream: &mut (impl Stream<Item = std::sync::Arc<K>> + Unpin)) -> Vec<String> {
    let mut names = Vec::new();
    while let std::task::Poll::Ready(Some(object)) = poll!(stream.next()) {
        names.push(object.meta().name.clone().unwrap_or_default());
    }
    names.sort();
    names
}

#[tokio::test(start_paused = true)]
async fn a_late_subscriber_gets_what_is_stored() {
    let world = World::start();
    world.create(&["a", "b"]);
    let cache = world.caches.of::<ConfigMap>();
    let mut early = Box::pin(cache.applied_objects());
    cache.store().wait_until_ready().await.unwrap();
    let mut late = Box::pin(cache.applied_objects());
    for stream in [&mut early, &mut late] {
        let names = [stream.next().await.unwrap().name_any(), stream.next().await.unwrap().name_any()];
        assert_eq!(names, ["a", "b"]);
    }
    assert_eq!(world.server.requests().all().len(), 1, "one streaming list");
}

#[tokio::test(start_paused = true)]
async fn a_slow_subscriber_gets_each_object_once_and_delays_no_other() {
    let world = World::start();
    world.create(&["a", "b"]);
    let cache = world.caches.of::<ConfigMap>();
    let (mut slow, mut fast) = (Box::pin(cache.touched_objects()), Box::pin(cache.touched_objects()));
    cache.store().wait_until_ready().await.unwrap();
    let maps = world.server.typed::<ConfigMap>();
    let mut seen = 0;
    for step in 0..500 {
        maps.patch("a", &json!({"data": {"step": step.to_string()}})).unwrap();
        while fast.next().await.unwrap().data.as_ref().is_none_or(|data| data["step"] != step.to_string()) {}
        seen += 1;
    }
    maps.delete("b").unwrap();
    maps.create(&super::config_map("b")).unwrap();
    eventually("number of objects", &2, async || cache.store().len()).await;
    while fast.next().await.unwrap().name_any() != "b" {}
    assert_eq!(seen, 500);
    let first = slow.next().await.unwrap();
    assert_eq!(first.data.as_ref().unwrap()["step"], "499");
    // The deleted object, and the one that was created in its place.
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert_eq!(ready(&mut slow).await, ["b", "b"]);
}

/// A deletion that falls into a relist reaches those who watch for it.
#[tokio::test(start_paused = true)]
async fn deletions_that_a_list_shows_are_touched() {
    let world = World::start();
    world.create(&["a", "b", "c"]);
    let cache = world.caches.of::<ConfigMap>();
    let (mut touched, mut applied) = (Box::pin(cache.touched_objects()), Box::pin(cache.applied_objects()));
    cache.store().wait_until_ready().await.unwrap();
    assert_eq!(touched.next().await.unwrap().name_any(), "a");
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert_eq!((ready(&mut touched).await.len(), ready(&mut applied).await.len()), (2, 3));

    world.server.faults().inject(Fault::reject(503).on(On::any().resource("configmaps")));
    world.server.restart(History::Lost);
    world.server.typed::<ConfigMap>().delete("b").unwrap();
    world.create(&["d"]);
    tokio::time::sleep(Duration::from_secs(5)).await;
    world.server.faults().clear();
    eventually("names", &["a", "c", "d"].map(str::to_owned).to_vec(), async || names(&cache.store())).await;
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert_eq!(ready(&mut touched).await, ["b", "d"], "unchanged objects are not touched");
    assert_eq!(ready(&mut applied).await, ["d"]);
}

#[tokio::test(start_paused = true)]
async fn events_are_those_of_a_watcher() {
    let world = World::start();
    world.create(&["a"]);
    let cache = world.caches.of::<ConfigMap>();
    let mut events = Box::pin(cache.events());
    let filtered = cache.events().applied_objects().predicate_filter(predicates::labels, PredicateConfig::default());
    let mut filtered = Box::pin(filtered);
    assert!(matches!(events.next().await, Some(Ok(watcher::Event::Apply(map))) if map.name_any() == "a"));
    assert_eq!(filtered.next().await.unwrap().unwrap().name_any(), "a");

    let maps = world.server.typed::<ConfigMap>();
    maps.patch("a", &json!({"data": {"x": "y"}})).unwrap();
    assert!(matches!(events.next().await, Some(Ok(watcher::Event::Apply(map))) if map.data.is_some()));
    maps.patch("a", &json!({"metadata": {"labels": {"x": "y"}}})).unwrap();
    let relabelled = filtered.next().await.unwrap().unwrap();
    assert!(relabelled.labels().contains_key("x"), "the change of the data was filtered");
    maps.delete("a").unwrap();
    let deleted =
        events.filter(|event| std::future::ready(matches!(event, Ok(watcher::Event::Delete(_))))).next().await;
    assert!(matches!(deleted, Some(Ok(watcher::Event::Delete(map))) if map.name_any() == "a"));
}

#[tokio::test(start_paused = true)]
async fn all_that_wait_for_the_first_list_are_woken() {
    let mut world = World::start();
    let cache = world.caches.of::<ConfigMap>();
    let mut waiting = tokio::task::JoinSet::new();
    for _ in 0..3 {
        let cache = cache.clone();
        waiting.spawn(async move { cache.ready().await });
    }
    assert_eq!(tokio::time::timeout(LIMIT, waiting.join_all()).await.expect("all are woken"), [true; 3]);
    world.tasks.shutdown().await;
    let late = world.caches.builder::<ConfigMap>().build();
    assert!(!tokio::time::timeout(LIMIT, late.ready()).await.expect("ends"), "added after the end");
}

#[tokio::test(start_paused = true)]
async fn streams_end_with_the_caches_and_not_before() {
    let mut world = World::start();
    world.create(&["a"]);
    let cache = world.caches.of::<ConfigMap>();
    let (mut touched, dropped) = (Box::pin(cache.touched_objects()), cache.touched_objects());
    assert_eq!(touched.next().await.unwrap().name_any(), "a");
    drop(dropped);
    world.create(&["b"]);
    assert_eq!(touched.next().await.unwrap().name_any(), "b");
    world.tasks.shutdown().await;
    assert!(touched.next().await.is_none());
    assert!(cache.touched_objects().next().await.is_none(), "subscribed after the end");
    assert_eq!(names(&cache.store()), ["a", "b"], "the last state stays");
}
