//! Resyncs, on paused time.

use std::time::Duration;

use kube_informer::{HandlerOptions, Informer, ManualSource, wait_for_sync};
use rstest::rstest;
use tokio::{
    task::JoinSet,
    time::{Instant, advance, sleep, sleep_until},
};
use tokio_util::sync::CancellationToken;

use crate::{
    log::{Log, record, record_with, thing},
    server::client,
    thing::Thing,
};

const fn seconds(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

fn resyncing(period: Duration) -> (Informer<Thing>, ManualSource<Thing>) {
    Informer::builder(client("http://127.0.0.1:1")).resync(period).build_manual()
}

/// Runs an informer with two things and a handler, until the handler has synced.
async fn run(informer: &Informer<Thing>, source: &ManualSource<Thing>) -> (Log, JoinSet<()>) {
    let (log, handle) = record(informer);
    source.replace([thing("a", 1), thing("b", 2)], "2");
    let mut tasks = JoinSet::new();
    tasks.spawn(informer.run(CancellationToken::new()));
    wait_for_sync([&handle], seconds(1)).await.expect("synced");
    assert_eq!(log.take(), "Added(initial) shop/a@1, Added(initial) shop/b@2");
    // Time is now between two resyncs, so that the events of a resync have been delivered.
    sleep(Duration::from_millis(500)).await;
    (log, tasks)
}

const RESYNC: &str = "Updated shop/a@1, Updated shop/b@2";

// client-go: TestListenerResyncPeriods (tools/cache/shared_informer_test.go)
#[rstest]
#[case::of_the_informer(seconds(2), 2)]
#[case::minimum(Duration::from_millis(1), 1)]
#[tokio::test(start_paused = true)]
async fn handlers_resync_once_per_period(#[case] period: Duration, #[case] every: u64) {
    let (informer, source) = resyncing(period);
    let (log, _tasks) = run(&informer, &source).await;
    for second in 1..10 {
        sleep(seconds(1)).await;
        assert_eq!(log.take(), if second % every == 0 { RESYNC } else { "" }, "after {second} s");
    }
}

// client-go: TestListenerResyncPeriodsDelayed: after a jump of the clock there is one resync
#[tokio::test(start_paused = true)]
async fn missed_resyncs_are_not_made_up_for() {
    let (informer, source) = resyncing(seconds(4));
    let (log, _tasks) = run(&informer, &source).await;
    advance(seconds(20)).await;
    sleep(Duration::from_millis(100)).await;
    assert_eq!(log.take(), RESYNC);
}

// IN-44
#[tokio::test(start_paused = true)]
async fn no_resync_is_skipped_whenever_handlers_are_added() {
    let (informer, source) = resyncing(seconds(5));
    let (early, _tasks) = run(&informer, &source).await;
    let mut logs = vec![early];
    for _ in 0..4 {
        sleep(Duration::from_millis(1_100)).await;
        logs.push(record(&informer).0);
    }
    sleep(Duration::from_millis(10)).await;
    for log in &logs {
        log.take();
    }
    let started = Instant::now();
    for round in 1..50 {
        // The last of these handlers was added 4.9 s after the start.
        sleep_until(started + seconds(5) * round).await;
        for (number, log) in logs.iter().enumerate() {
            assert_eq!(log.take(), RESYNC, "handler {number} in period {round}");
        }
    }
}

// client-go: sharedIndexInformer.OnUpdate, sharedProcessor.distribute, TestSharedInformerWatchDisruption, IN-38
#[rstest]
#[case::of_an_informer_without_resyncs(Duration::ZERO)]
#[case::of_an_informer_with_resyncs(seconds(100))]
#[tokio::test(start_paused = true)]
async fn a_relist_repeats_unchanged_objects(#[case] period: Duration) {
    let (informer, source) = resyncing(period);
    let (log, _tasks) = run(&informer, &source).await;
    let options = HandlerOptions::named("second-writer").foreign_writes();
    let (foreign, _) = record_with(&informer, options);
    source.replace([thing("a", 1), thing("b", 4), thing("c", 3)], "4");
    sleep(Duration::from_millis(1)).await;
    assert_eq!(log.take(), "Updated shop/b@4, Added shop/c@3, Updated shop/a@1");
    assert_eq!(foreign.take(), "Updated shop/b@4, Added shop/c@3");
    sleep(seconds(50)).await;
    assert_eq!(log.take(), "");
}

// client-go: TestRealFIFO_Resync, TestRealFIFO_ResyncAtomic, TestDeltaFIFO_Resync, TestDeltaFIFO_ResyncNonExisting,
// TestDeltaFIFO_UpdateResyncRace
#[tokio::test(start_paused = true)]
async fn resync_delivers_current_objects_only() {
    let (informer, source) = resyncing(seconds(1));
    let (log, _tasks) = run(&informer, &source).await;
    source.apply(thing("a", 3));
    source.delete(thing("b", 4));
    sleep(seconds(1)).await;
    assert_eq!(log.take(), "Updated shop/a@3, Deleted shop/b@4, Updated shop/a@3");
}

#[tokio::test(start_paused = true)]
async fn no_resync_before_the_first_list() {
    let (informer, source) = resyncing(seconds(1));
    let (log, handle) = record(&informer);
    source.apply(thing("a", 1));
    let mut tasks = JoinSet::new();
    tasks.spawn(informer.run(CancellationToken::new()));
    sleep(seconds(10)).await;
    assert_eq!((log.take(), handle.has_synced()), ("Added shop/a@1".to_owned(), false));
}
