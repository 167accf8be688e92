//! Streams of changes.

use std::{future, sync::Arc, task::Poll, time::Duration};

use futures::{FutureExt as _, StreamExt as _, poll, stream::BoxStream};
use k8s_openapi::api::core::v1::ConfigMap;
use kube::{
    ResourceExt as _,
    runtime::{WatchStreamExt as _, predicates, utils::PredicateConfig, watcher},
};
use kube_dev_apiserver::{Fault, History, On};
use kube_endpoints_testing::{LIMIT, eventually};
use serde_json::json;
use tokio::{
    task::JoinSet,
    time::{sleep, timeout},
};

use super::{World, names, next, reference, until_ready};

type Maps = BoxStream<'static, Arc<ConfigMap>>;

/// Returns the objects that are ready, in their order.
async fn ready(stream: &mut Maps) -> Vec<Arc<ConfigMap>> {
    let mut objects = Vec::new();
    while let Poll::Ready(Some(object)) = poll!(stream.next()) {
        objects.push(object);
    }
    objects
}

fn sorted_names(objects: &[Arc<ConfigMap>]) -> Vec<String> {
    let mut names: Vec<_> = objects.iter().map(|map| map.name_any()).collect();
    names.sort();
    names
}

// kube#1630: a subscriber of kube that begins late gets later events only.
#[tokio::test(start_paused = true)]
async fn a_late_subscriber_gets_what_is_stored_without_another_list() {
    let world = World::start();
    world.create(["a", "b"]);
    let [first, second] = [(); 2].map(|()| world.caches.of::<ConfigMap>());
    let early = first.applied_objects().boxed();
    until_ready(&first.store()).await;
    until_ready(&second.store()).await;
    let late = second.applied_objects().boxed();
    world.create(["c"]);
    for mut stream in [early, late] {
        let names = [next(&mut stream).await, next(&mut stream).await, next(&mut stream).await];
        assert_eq!(names.map(Option::unwrap), ["a", "b", "c"]);
    }
    assert_eq!(world.server.requests().all().len(), 1, "one streaming list");
}

// kube: reflect_applies_backpressure; here, a slow subscriber delays nothing.
#[tokio::test(start_paused = true)]
async fn a_slow_subscriber_gets_each_object_once_and_delays_no_other() {
    let world = World::start();
    world.create(["a", "b"]);
    let cache = world.caches.of::<ConfigMap>();
    let (mut slow, mut fast) = (cache.touched_objects().boxed(), cache.touched_objects().boxed());
    until_ready(&cache.store()).await;
    world.create(["c", "d"]);
    for name in ["a", "b", "c", "d"] {
        assert_eq!(next(&mut fast).await.as_deref(), Some(name));
    }
    for change in 0..500 {
        world.patch("b", &json!({"data": {"value": change.to_string()}}));
        assert_eq!(next(&mut fast).await.as_deref(), Some("b"), "at change {change}");
    }
    world.delete("c");
    assert_eq!(next(&mut fast).await.as_deref(), Some("c"));
    world.delete("d");
    world.create(["d"]);
    assert_eq!([next(&mut fast).await, next(&mut fast).await].map(Option::unwrap), ["d", "d"]);
    // The tasks of the cache are idle.
    sleep(Duration::from_secs(1)).await;
    let got = ready(&mut slow).await;
    let got: Vec<_> = got.iter().map(|map| (map.name_any(), map.data.as_ref().map(|data| &*data["value"]))).collect();
    // The deleted object, and the one that was created in its place.
    let newest = [("a", None), ("b", Some("499")), ("c", None), ("d", None), ("d", None)];
    assert_eq!(got, newest.map(|(name, value)| (name.to_owned(), value)));
}

// kube: reflector_restarted_should_clear_objects
/// A deletion that falls into a relist reaches the subscribers: the owners of both objects have to be reconciled.
#[tokio::test(start_paused = true)]
async fn deletions_that_a_list_shows_are_touched() {
    let world = World::start();
    let [_, _, _, replaced] = world.create(["a", "b", "c", "e"]);
    let cache = world.caches.of::<ConfigMap>();
    let (mut touched, mut applied) = (cache.touched_objects().boxed(), cache.applied_objects().boxed());
    let store = cache.store();
    until_ready(&store).await;
    assert_eq!(next(&mut touched).await.as_deref(), Some("a"));
    sleep(Duration::from_secs(1)).await;
    assert_eq!((ready(&mut touched).await.len(), ready(&mut applied).await.len()), (3, 4));

    world.server.faults().inject(Fault::reject(503).on(On::any().resource("configmaps")));
    world.server.restart(History::Lost);
    world.delete("b");
    world.delete("e");
    let [_, new] = world.create(["d", "e"]);
    sleep(Duration::from_secs(5)).await;
    world.server.faults().clear();
    eventually("names", &["a", "c", "d", "e"].map(str::to_owned).to_vec(), async || names(&store)).await;
    sleep(Duration::from_secs(1)).await;
    let touched = ready(&mut touched).await;
    assert_eq!(sorted_names(&touched), ["b", "d", "e", "e"], "unchanged objects are not touched");
    let uids: Vec<_> = touched.iter().filter(|map| map.name_any() == "e").map(|map| map.uid()).collect();
    assert_eq!(uids, [replaced.uid(), new.uid()]);
    assert_eq!(store.get(&reference("e")).and_then(|map| map.uid()), new.uid());
    assert_eq!(sorted_names(&ready(&mut applied).await), ["d", "e"]);
}

// kube: readers_yield_touched_objects, events_are_passed_through
#[tokio::test(start_paused = true)]
async fn each_subscriber_gets_each_change() {
    let world = World::start();
    let cache = world.caches.of::<ConfigMap>();
    let (mut one, mut other) = (cache.touched_objects().boxed(), cache.touched_objects().boxed());
    let mut applied = cache.applied_objects().boxed();
    for change in ["create", "update", "delete"] {
        match change {
            "create" => drop(world.create(["a"])),
            "update" => drop(world.patch("a", &json!({"data": {"value": "new"}}))),
            _ => world.delete("a"),
        }
        assert_eq!(next(&mut one).await.as_deref(), Some("a"));
        assert_eq!(next(&mut other).await.as_deref(), Some("a"));
        let is_applied = timeout(LIMIT, applied.next()).await.is_ok();
        assert_eq!(is_applied, change != "delete", "{change}");
        assert!(one.next().now_or_never().is_none(), "once");
    }
}

#[tokio::test(start_paused = true)]
async fn events_are_those_of_a_watcher() {
    let world = World::start();
    world.create(["a"]);
    let cache = world.caches.of::<ConfigMap>();
    let mut events = Box::pin(cache.events());
    let filtered = cache.events().applied_objects().predicate_filter(predicates::labels, PredicateConfig::default());
    let mut filtered = Box::pin(filtered);
    assert!(matches!(events.next().await, Some(Ok(watcher::Event::Apply(map))) if map.name_any() == "a"));
    assert_eq!(filtered.next().await.unwrap().unwrap().name_any(), "a");

    world.patch("a", &json!({"data": {"x": "y"}}));
    assert!(matches!(events.next().await, Some(Ok(watcher::Event::Apply(map))) if map.data.is_some()));
    world.patch("a", &json!({"metadata": {"labels": {"x": "y"}}}));
    let relabelled = filtered.next().await.unwrap().unwrap();
    assert!(relabelled.labels().contains_key("x"), "the change of the data was filtered");
    world.delete("a");
    let deleted = events.filter(|event| future::ready(matches!(event, Ok(watcher::Event::Delete(_))))).next().await;
    assert!(matches!(deleted, Some(Ok(watcher::Event::Delete(map))) if map.name_any() == "a"));
}

#[tokio::test(start_paused = true)]
async fn all_that_wait_for_the_first_list_are_woken() {
    let mut world = World::start();
    let cache = world.caches.of::<ConfigMap>();
    let mut waiting = JoinSet::new();
    for _ in 0..3 {
        let cache = cache.clone();
        waiting.spawn(async move { cache.ready().await });
    }
    assert_eq!(timeout(LIMIT, waiting.join_all()).await.expect("all are woken"), [true; 3]);
    world.tasks.shutdown().await;
    let late = world.caches.builder::<ConfigMap>().build();
    assert!(!timeout(LIMIT, late.ready()).await.expect("ends"), "added after the end");
}

// kube: readers_yield_when_tx_drops
#[tokio::test(start_paused = true)]
async fn streams_end_with_the_caches_after_their_last_objects_and_not_before() {
    let mut world = World::start();
    world.create(["a"]);
    let cache = world.caches.of::<ConfigMap>();
    let (mut touched, dropped) = (cache.touched_objects().boxed(), cache.touched_objects());
    assert_eq!(next(&mut touched).await.as_deref(), Some("a"));
    drop(dropped);
    world.create(["b", "c"]);
    eventually("objects", &3, async || cache.store().len()).await;
    world.tasks.shutdown().await;
    let rest = timeout(LIMIT, touched.collect::<Vec<_>>()).await.expect("the end");
    assert_eq!(sorted_names(&rest), ["b", "c"]);
    let late = [cache.touched_objects().boxed(), cache.applied_objects().boxed()];
    for mut late in late {
        assert_eq!(next(&mut late).await, None, "subscribed after the end");
    }
    assert_eq!(names(&cache.store()), ["a", "b", "c"], "the last state stays");
}
