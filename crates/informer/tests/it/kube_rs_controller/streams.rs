//! Streams of a cache.

use std::{collections::BTreeSet, time::Duration};

use futures::{FutureExt as _, StreamExt as _};
use k8s_openapi::api::core::v1::ConfigMap;
use kube::ResourceExt as _;
use kube_endpoints_testing::{LIMIT, eventually};
use tokio::time::{sleep, timeout};

use super::{Cluster, map_ref, names, next, ready_store};

// kube: reflector_restarted_should_clear_objects
#[tokio::test(start_paused = true)]
async fn a_relist_removes_what_was_deleted_before_it() {
    let cluster = Cluster::start();
    let cache = cluster.caches.of::<ConfigMap>();
    let (mut touched, store) = (cache.touched_objects().boxed(), ready_store(&cluster).await);
    cluster.create("a");
    assert_eq!(next(&mut touched).await.as_deref(), Some("a"));
    cluster.expire_watches();
    cluster.delete("a");
    cluster.create("b");
    let both = BTreeSet::from([next(&mut touched).await, next(&mut touched).await].map(Option::unwrap));
    assert_eq!(both, BTreeSet::from(["a", "b"].map(str::to_owned)), "a deletion reaches subscribers over a relist");
    assert_eq!(names(&store), BTreeSet::from(["b".to_owned()]));
}

/// The owners of both objects have to be reconciled.
#[tokio::test(start_paused = true)]
async fn an_object_that_replaces_another_over_a_relist_does_not_hide_its_deletion() {
    let cluster = Cluster::start();
    let cache = cluster.caches.of::<ConfigMap>();
    let (mut touched, store) = (cache.touched_objects().boxed(), ready_store(&cluster).await);
    let first = cluster.create("a");
    assert_eq!(touched.next().await.and_then(|it| it.uid()), first.uid());
    cluster.expire_watches();
    cluster.delete("a");
    let second = cluster.create("a");
    let uids = touched.take(2).map(|map| map.uid()).collect::<Vec<_>>();
    let uids = timeout(LIMIT, uids).await.expect("the deleted and the new object");
    assert_eq!(uids, [first.uid(), second.uid()]);
    assert_eq!(store.get(&map_ref("a")).and_then(|it| it.uid()), second.uid());
}

// kube: readers_yield_touched_objects, events_are_passed_through
#[tokio::test(start_paused = true)]
async fn each_subscriber_gets_each_change() {
    let cluster = Cluster::start();
    let cache = cluster.caches.of::<ConfigMap>();
    let (mut one, mut other) = (cache.touched_objects().boxed(), cache.touched_objects().boxed());
    let mut applied = cache.applied_objects().boxed();
    for change in ["create", "update", "delete"] {
        match change {
            "create" => drop(cluster.create("a")),
            "update" => cluster.change("a", "new"),
            _ => cluster.delete("a"),
        }
        assert_eq!(next(&mut one).await.as_deref(), Some("a"));
        assert_eq!(next(&mut other).await.as_deref(), Some("a"));
        let is_applied = timeout(LIMIT, applied.next()).await.is_ok();
        assert_eq!(is_applied, change != "delete", "{change}");
        assert!(one.next().now_or_never().is_none(), "once");
    }
}

// kube: readers_yield_when_tx_drops
#[tokio::test(start_paused = true)]
async fn streams_end_with_the_caches_after_their_last_objects() {
    let mut cluster = Cluster::start();
    let cache = cluster.caches.of::<ConfigMap>();
    let mut touched = cache.touched_objects().boxed();
    for name in ["a", "b"] {
        cluster.create(name);
    }
    eventually("objects", &2, async || cache.store().len()).await;
    cluster.running.shutdown().await;
    let objects = timeout(LIMIT, touched.by_ref().collect::<Vec<_>>()).await.expect("the end");
    assert_eq!(objects.iter().map(|map| map.name_any()).collect::<BTreeSet<_>>(), names(&cache.store()));
    assert_eq!(next(&mut cache.applied_objects().boxed()).await, None, "a subscriber that begins after the end");
}

// kube#1630: a subscriber of kube that begins late gets later events only.
#[tokio::test(start_paused = true)]
async fn a_late_subscriber_gets_the_stored_objects_first() {
    let cluster = Cluster::start();
    let cache = cluster.caches.of::<ConfigMap>();
    cluster.create("a");
    eventually("objects", &1, async || cache.store().len()).await;
    let mut late = cache.applied_objects().boxed();
    cluster.create("b");
    assert_eq!([next(&mut late).await, next(&mut late).await].map(Option::unwrap), ["a", "b"]);
}

// kube: reflect_applies_backpressure; here, a slow subscriber delays nothing.
#[tokio::test(start_paused = true)]
async fn a_slow_subscriber_gets_each_object_once_and_delays_nothing() {
    let cluster = Cluster::start();
    let cache = cluster.caches.of::<ConfigMap>();
    let (slow, mut fast) = (cache.touched_objects().boxed(), cache.touched_objects().boxed());
    for name in ["a", "b", "c"] {
        cluster.create(name);
        assert_eq!(next(&mut fast).await.as_deref(), Some(name));
    }
    for change in 0..500 {
        cluster.change("b", &change.to_string());
        assert_eq!(next(&mut fast).await.as_deref(), Some("b"), "at change {change}");
    }
    cluster.delete("c");
    assert_eq!(next(&mut fast).await.as_deref(), Some("c"));
    // The tasks of the cache are idle.
    sleep(Duration::from_secs(1)).await;
    let value = |map: &ConfigMap| map.data.as_ref().map(|data| data["value"].clone());
    let got: Vec<_> = slow.take(3).map(|map| (map.name_any(), value(&map))).collect().await;
    let newest = [("a", None), ("b", Some("499")), ("c", None)];
    assert_eq!(got, newest.map(|(name, value)| (name.to_owned(), value.map(str::to_owned))));
}
