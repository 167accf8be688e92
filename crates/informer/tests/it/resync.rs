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

fn every(period: u64) -> HandlerOptions {
    HandlerOptions::default().resync(seconds(period))
}

/// Returns an informer with this resync period, and its source.
fn resyncing(period: Duration) -> (Informer<Thing>, ManualSource<Thing>) {
    Informer::builder(client("http://127.0.0.1:1")).resync(period).build_manual()
}

/// Runs an informer with two things and one handler for each of these periods, until the handlers have synced.
async fn run(informer: &Informer<Thing>, source: &ManualSource<Thing>, periods: &[u64]) -> (Vec<Log>, JoinSet<()>) {
    let handlers: Vec<_> = periods.iter().map(|period| record_with(informer, every(*period))).collect();
    source.replace([thing("a", 1), thing("b", 2)], "2");
    let mut tasks = JoinSet::new();
    tasks.spawn(informer.run(CancellationToken::new()));
    wait_for_sync(handlers.iter().map(|(_, handle)| handle), seconds(1)).await.expect("synced");
    let logs: Vec<_> = handlers.into_iter().map(|(log, _)| log).collect();
    for log in &logs {
        assert_eq!(log.take(), "Added(initial) shop/a@1, Added(initial) shop/b@2");
    }
    // Time is now between two checks, so that the events of a check have been delivered.
    sleep(Duration::from_millis(500)).await;
    (logs, tasks)
}

const RESYNC: &str = "Updated shop/a@1, Updated shop/b@2";

// client-go: TestListenerResyncPeriods (tools/cache/shared_informer_test.go)
#[tokio::test(start_paused = true)]
async fn each_handler_has_its_own_period() {
    let (informer, source) = resyncing(seconds(1));
    let (logs, _tasks) = run(&informer, &source, &[0, 2, 3]).await;
    for expect in
        [["", "", ""], ["", RESYNC, ""], ["", "", RESYNC], ["", RESYNC, ""], ["", "", ""], ["", RESYNC, RESYNC]]
    {
        sleep(seconds(1)).await;
        assert_eq!(logs.iter().map(Log::take).collect::<Vec<_>>(), expect);
    }
}

// client-go: TestListenerResyncPeriodsDelayed: after a jump of the clock there is one resync
#[tokio::test(start_paused = true)]
async fn missed_resyncs_are_not_made_up_for() {
    let (informer, source) = resyncing(seconds(1));
    let (logs, _tasks) = run(&informer, &source, &[4]).await;
    advance(seconds(20)).await;
    sleep(Duration::from_millis(100)).await;
    assert_eq!(logs[0].take(), RESYNC);
}

// A handler that is added after the start cannot shorten the check period (IN-44).
#[rstest]
// The handler is added half a second after the start. The informer checks at 5, 10, ... or at 2, 4, ... seconds; the
// first resync is that of the last check within one period.
#[case::limited_by_the_check_period(5, 2, 5)]
#[case::as_requested(2, 6, 6)]
#[tokio::test(start_paused = true)]
async fn late_handler_cannot_shorten_the_check_period(
    #[case] check: u64,
    #[case] requested: u64,
    #[case] resync_at: u64,
) {
    let (informer, source) = resyncing(seconds(check));
    let (_, _tasks) = run(&informer, &source, &[0]).await;
    let (late, _) = record_with(&informer, every(requested));
    sleep(seconds(resync_at - 1)).await;
    assert_eq!(late.take(), "Added(initial) shop/a@1, Added(initial) shop/b@2");
    sleep(seconds(1)).await;
    assert_eq!(late.take(), RESYNC);
}

#[tokio::test(start_paused = true)]
async fn no_resync_is_skipped_whenever_handlers_are_added() {
    let (informer, source) = resyncing(seconds(5));
    let (early, _tasks) = run(&informer, &source, &[5]).await;
    let mut logs = early;
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

// client-go: sharedIndexInformer.OnUpdate, sharedProcessor.distribute, IN-38
#[rstest]
#[case::never_resyncs_before_any_resync(0, 0, &["Updated shop/b@4", "Updated shop/a@1"])]
#[case::never_resyncs_after_one(0, 2, &["Updated shop/b@4"])]
#[case::was_due(1, 2, &["Updated shop/b@4", "Updated shop/a@1"])]
#[case::was_not_due(2, 3, &["Updated shop/b@4"])]
#[tokio::test(start_paused = true)]
async fn a_relist_repeats_unchanged_objects_to_handlers_that_resync(
    #[case] period: u64,
    #[case] wait: u64,
    #[case] expect: &[&str],
) {
    let (informer, source) = resyncing(seconds(1));
    let (logs, _tasks) = run(&informer, &source, &[period]).await;
    sleep(seconds(wait)).await;
    logs[0].take();
    source.replace([thing("a", 1), thing("b", 4)], "4");
    sleep(Duration::from_millis(1)).await;
    assert_eq!(logs[0].take(), expect.join(", "));
}

#[tokio::test(start_paused = true)]
async fn no_handler_resyncs_if_the_informer_does_not() {
    let (informer, source) = ManualSource::new();
    let (logs, _tasks) = run(&informer, &source, &[1]).await;
    sleep(seconds(100)).await;
    assert_eq!(logs[0].take(), "");
}

// client-go: TestSharedInformerWatchDisruption: all handlers get the changes of a relist, those that resync also the
// rest
#[tokio::test(start_paused = true)]
async fn relist_and_resync_events_do_not_mix() {
    let (informer, source) = resyncing(seconds(1));
    let (logs, _tasks) = run(&informer, &source, &[0, 1]).await;
    sleep(seconds(1)).await;
    assert_eq!(logs.iter().map(Log::take).collect::<Vec<_>>(), ["", RESYNC]);
    source.replace([thing("a", 1), thing("b", 4), thing("c", 3)], "4");
    sleep(seconds(1)).await;
    assert_eq!(logs[0].take(), "Updated shop/b@4, Added shop/c@3");
    assert_eq!(
        logs[1].take(),
        "Updated shop/b@4, Added shop/c@3, Updated shop/a@1, Updated shop/a@1, Updated shop/b@4, Updated shop/c@3"
    );
}

// client-go: TestRealFIFO_Resync, TestRealFIFO_ResyncAtomic, TestDeltaFIFO_Resync, TestDeltaFIFO_ResyncNonExisting,
// TestDeltaFIFO_UpdateResyncRace
#[tokio::test(start_paused = true)]
async fn resync_delivers_current_objects_only() {
    let (informer, source) = resyncing(seconds(1));
    let (logs, _tasks) = run(&informer, &source, &[1]).await;
    source.apply(thing("a", 3));
    source.delete(thing("b", 4));
    sleep(seconds(1)).await;
    assert_eq!(logs[0].take(), "Updated shop/a@3, Deleted shop/b@4, Updated shop/a@3");
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
