//! What a handler is told, and when it counts as synced.

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use kube_informer::{Informer, ManualSource, wait_for_sync};
use rstest::rstest;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use crate::thing::Thing;

type Log = Arc<Mutex<Vec<String>>>;

fn listen(informer: &Informer<Thing>) -> (Log, kube_informer::HandlerHandle) {
    let log = Log::default();
    let lines = log.clone();
    let handle = informer.add_handler(move |event| lines.lock().expect("no panic before").push(format!("{event:?}")));
    (log, handle)
}

fn told(log: &Log) -> String {
    log.lock().expect("no panic before").drain(..).collect::<Vec<_>>().join(", ")
}

fn thing(name: &str, version: u64) -> Thing {
    Thing::new(name, version, "x")
}

#[test]
fn is_told_each_change_once_and_in_order() {
    let (informer, source) = ManualSource::new();
    let (log, handle) = listen(&informer);
    source.replace([thing("a", 1), thing("b", 2)], "2");
    assert!(!handle.has_synced() && informer.store_synced().has_synced());
    assert_eq!(source.deliver(), 2);
    assert!(handle.has_synced());
    assert_eq!(told(&log), "Added(initial) shop/a@1, Added(initial) shop/b@2");

    source.apply(thing("c", 3));
    source.apply(thing("a", 4));
    source.apply(thing("a", 4));
    source.delete(thing("b", 5));
    source.delete(thing("b", 5));
    source.deliver();
    assert_eq!(told(&log), "Added shop/c@3, Updated shop/a@4, Deleted shop/b@5");
    assert_eq!(informer.lister().last_resource_version(), "5");
}

// client-go: TestReplaceMakesDeletions (tools/cache/delta_fifo_test.go), TestRealFIFO_ReplaceMakesDeletions
#[test]
fn a_relist_tells_the_differences_only() {
    let (informer, source) = ManualSource::new();
    source.replace([thing("a", 1), thing("b", 2), thing("c", 3)], "3");
    let (log, _) = listen(&informer);
    source.deliver();
    told(&log);
    source.replace([thing("a", 1), thing("b", 5), thing("d", 6)], "6");
    source.deliver();
    assert_eq!(told(&log), "Deleted(tombstone) shop/c@3, Updated shop/b@5, Added shop/d@6");
}

#[test]
fn a_recreated_object_is_an_update_with_another_uid() {
    let (informer, source) = ManualSource::new();
    source.replace([thing("a", 1)], "1");
    let uids = Arc::new(Mutex::new(Vec::new()));
    let seen = uids.clone();
    informer.add_handler(move |event| {
        if let kube_informer::Event::Updated { old, new } = event {
            seen.lock().expect("no panic before").extend([old.metadata.uid.clone(), new.metadata.uid.clone()]);
        }
    });
    let mut again = thing("a", 1);
    again.metadata.uid = "other".into();
    source.replace([again], "4");
    source.deliver();
    assert_eq!(*uids.lock().unwrap(), ["uid-a", "other"]);
}

// client-go: TestSharedInformerInitializationRace, TestListenerAddedLate...
#[test]
fn a_late_handler_first_hears_of_what_is_there() {
    let (informer, source) = ManualSource::new();
    source.replace([thing("a", 1)], "1");
    source.apply(thing("b", 2));
    let (log, handle) = listen(&informer);
    source.apply(thing("a", 3));
    source.deliver();
    assert_eq!(told(&log), "Added(initial) shop/a@1, Added(initial) shop/b@2, Updated shop/a@3");
    assert!(handle.has_synced());
}

#[test]
fn an_empty_list_syncs_too() {
    let (informer, source) = ManualSource::new();
    let (_, handle) = listen(&informer);
    source.replace([], "1");
    assert_eq!(source.deliver(), 0);
    assert!(handle.has_synced());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 3)]
async fn a_slow_handler_delays_nobody_else() {
    let (informer, source) = ManualSource::new();
    let (release, stuck) = std::sync::mpsc::channel::<()>();
    let slow = informer.add_handler(move |_| {
        let _ = stuck.recv();
    });
    let (log, quick) = listen(&informer);
    let stop = CancellationToken::new();
    let mut tasks = JoinSet::new();
    tasks.spawn(informer.run(stop.clone()));

    source.replace([thing("a", 1)], "1");
    source.apply(thing("a", 2));
    wait_for_sync([&quick], Duration::from_secs(30)).await.unwrap();
    let (late, handle) = listen(&informer);
    wait_for_sync([&handle], Duration::from_secs(30)).await.unwrap();
    assert_eq!(told(&late), "Added(initial) shop/a@2");
    assert!(told(&log).starts_with("Added(initial) shop/a@1"));
    assert!(!slow.has_synced(), "its first event still has it");

    drop(release);
    wait_for_sync([&slow], Duration::from_secs(30)).await.unwrap();
    stop.cancel();
    tasks.join_all().await;
}

#[tokio::test(start_paused = true)]
async fn waiting_names_what_is_missing() {
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
async fn runs_once_and_stops_when_told(#[case] runs: usize) {
    let (informer, _source) = ManualSource::<Thing>::new();
    let stop = CancellationToken::new();
    let mut tasks = JoinSet::new();
    for _ in 0..runs {
        tasks.spawn(informer.run(stop.clone()));
    }
    stop.cancel();
    tokio::time::timeout(Duration::from_secs(5), tasks.join_all()).await.expect("stops");
    let (_, late) = listen(&informer);
    assert!(!late.synced().await, "a handler of a stopped informer never syncs");
}

#[tokio::test(start_paused = true)]
#[should_panic(expected = "handler broke")]
async fn a_panic_of_a_handler_is_passed_on() {
    let (informer, source) = ManualSource::new();
    informer.add_handler(|_| panic!("handler broke"));
    source.replace([thing("a", 1)], "1");
    informer.run(CancellationToken::new()).await;
}
