//! Events of a handler, and when it is synced.

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use kube_endpoints_testing::LIMIT;
use kube_informer::{ManualSource, wait_for_sync};
use rstest::rstest;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use crate::{
    log::{record, thing},
    thing::Thing,
};

#[test]
fn delivers_each_change_once_in_order() {
    let (informer, source) = ManualSource::new();
    let (log, handle) = record(&informer);
    source.replace([thing("a", 1), thing("b", 2)], "2");
    assert!(!handle.has_synced() && informer.store_synced().has_synced());
    assert_eq!(source.deliver(), 2);
    assert!(handle.has_synced());
    assert_eq!(log.take(), "Added(initial) shop/a@1, Added(initial) shop/b@2");

    source.apply(thing("c", 3));
    source.apply(thing("a", 4));
    source.apply(thing("a", 4));
    source.delete(thing("b", 5));
    source.delete(thing("b", 5));
    source.deliver();
    assert_eq!(log.take(), "Added shop/c@3, Updated shop/a@4, Deleted shop/b@5");
    assert_eq!(informer.lister().last_resource_version(), "5");
}

// client-go: TestReplaceMakesDeletions (tools/cache/delta_fifo_test.go), TestRealFIFO_ReplaceMakesDeletions
#[test]
fn relist_delivers_differences_then_unchanged() {
    let (informer, source) = ManualSource::new();
    source.replace([thing("a", 1), thing("b", 2), thing("c", 3)], "3");
    let (log, _) = record(&informer);
    source.deliver();
    log.take();
    source.replace([thing("a", 1), thing("b", 5), thing("d", 6)], "6");
    source.deliver();
    // As upstream, an update for the object that the relist did not change.
    assert_eq!(log.take(), "Deleted(tombstone) shop/c@3, Updated shop/b@5, Added shop/d@6, Updated shop/a@1");
}

#[test]
fn a_recreated_object_is_an_update_with_another_uid() {
    let (informer, source) = ManualSource::new();
    source.replace([thing("a", 1)], "1");
    let uids = Arc::new(Mutex::new(Vec::new()));
    let seen = uids.clone();
    informer.add_handler(move |event| {
        if let kube_informer::Event::Updated { old, new, .. } = event {
            seen.lock().expect("not poisoned").extend([old.metadata.uid.clone(), new.metadata.uid.clone()]);
        }
    });
    let mut again = thing("a", 1);
    again.metadata.uid = "other".into();
    source.replace([again], "4");
    source.deliver();
    assert_eq!(*uids.lock().unwrap(), ["uid-a", "other"]);
}

// client-go: TestSharedInformerInitializationRace, TestAddWhileActive, TestStateSharedInformer, IN-42
#[test]
fn late_handler_first_gets_the_stored_objects() {
    let (informer, source) = ManualSource::new();
    source.replace([thing("a", 1)], "1");
    source.apply(thing("b", 2));
    let (log, handle) = record(&informer);
    source.apply(thing("a", 3));
    source.deliver();
    assert_eq!(log.take(), "Added(initial) shop/a@1, Added(initial) shop/b@2, Updated shop/a@3");
    assert!(handle.has_synced());
}

#[test]
fn an_empty_list_syncs_too() {
    let (informer, source) = ManualSource::new();
    let (_, handle) = record(&informer);
    source.replace([], "1");
    assert_eq!(source.deliver(), 0);
    assert!(handle.has_synced());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 3)]
async fn slow_handler_delays_no_other_handler() {
    let (informer, source) = ManualSource::new();
    let (release, stuck) = std::sync::mpsc::channel::<()>();
    let slow = informer.add_handler(move |_| {
        let _ = stuck.recv();
    });
    let (log, quick) = record(&informer);
    let stop = CancellationToken::new();
    let mut tasks = JoinSet::new();
    tasks.spawn(informer.run(stop.clone()));

    source.replace([thing("a", 1)], "1");
    source.apply(thing("a", 2));
    wait_for_sync([&quick], LIMIT).await.unwrap();
    let (late, handle) = record(&informer);
    wait_for_sync([&handle], LIMIT).await.unwrap();
    assert_eq!(late.take(), "Added(initial) shop/a@2");
    assert!(log.take().starts_with("Added(initial) shop/a@1"));
    assert!(!slow.has_synced(), "it blocks in its first event");

    drop(release);
    wait_for_sync([&slow], LIMIT).await.unwrap();
    stop.cancel();
    tasks.join_all().await;
}

#[tokio::test(start_paused = true)]
async fn wait_for_sync_names_unsynced_handlers() {
    let (ready, source) = ManualSource::<Thing>::new();
    let (waiting, _kept) = ManualSource::<Thing>::new();
    source.replace([], "1");
    let handles = [ready.store_synced().named("ready"), waiting.store_synced().named("waiting")];
    let error = wait_for_sync(&handles, Duration::from_secs(3)).await.unwrap_err();
    assert_eq!(error.to_string(), "not synced within 3s: manual source (waiting)");
}

#[rstest]
#[case::once(1)]
#[case::twice(2)]
#[tokio::test(start_paused = true)]
async fn runs_once_and_stops_on_cancellation(#[case] runs: usize) {
    let (informer, _source) = ManualSource::<Thing>::new();
    let stop = CancellationToken::new();
    let mut tasks = JoinSet::new();
    for _ in 0..runs {
        tasks.spawn(informer.run(stop.clone()));
    }
    stop.cancel();
    tokio::time::timeout(Duration::from_secs(5), tasks.join_all()).await.expect("the informer stops");
    let (_, late) = record(&informer);
    assert!(!late.synced().await, "a handler of a stopped informer never syncs");
}

#[tokio::test(start_paused = true)]
#[should_panic(expected = "handler broke")]
async fn handler_panic_is_propagated() {
    let (informer, source) = ManualSource::new();
    informer.add_handler(|_| panic!("handler broke"));
    source.replace([thing("a", 1)], "1");
    informer.run(CancellationToken::new()).await;
}

#[test]
fn slow_handler_gets_intermediate_events() {
    let (informer, source) = ManualSource::new();
    let (slow, handle) = record(&informer);
    source.replace([thing("a", 1), thing("b", 2)], "2");
    source.delete(thing("a", 3));
    source.replace([thing("c", 4)], "4");
    source.delete(thing("c", 5));
    source.replace([thing("c", 6)], "6");
    let (late, _) = record(&informer);
    source.replace([], "7");
    source.deliver();
    assert_eq!(
        slow.take(),
        "Added(initial) shop/a@1, Added(initial) shop/b@2, Deleted shop/a@3, Deleted(tombstone) shop/b@2, Added shop/c@4, \
         Deleted shop/c@5, Added shop/c@6, Deleted(tombstone) shop/c@6"
    );
    assert_eq!(late.take(), "Added(initial) shop/c@6, Deleted(tombstone) shop/c@6");
    assert!(handle.has_synced());
}

// A list is one change of the store (IN-34).
#[test]
fn store_has_the_whole_list_when_its_events_are_delivered() {
    let (informer, source) = ManualSource::<Thing>::new();
    let lister = informer.lister();
    informer.add_handler(move |event| {
        let names: Vec<_> = lister.list().iter().map(|thing| thing.text()).collect();
        assert_eq!(names, ["b@2", "c@3"], "at {event:?}");
    });
    source.replace([thing("b", 2), thing("c", 3)], "3");
    source.deliver();
}

// A relist keeps the stored objects that it does not change, instead of holding second copies.
#[test]
fn relist_keeps_the_stored_unchanged_objects() {
    let (informer, source) = ManualSource::new();
    source.replace([thing("a", 1), thing("b", 2)], "2");
    let before = informer.lister().list();
    source.replace([thing("a", 1), thing("b", 3)], "3");
    let after = informer.lister().list();
    assert!(Arc::ptr_eq(&before[0], &after[0]) && !Arc::ptr_eq(&before[1], &after[1]));
}
