//! Tests of the workers.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::Duration;

use kube_workqueue::RetryLimiter;
use rstest::rstest;
use tokio::time::{Instant, sleep, sleep_until};

use super::*;
use crate::{Controller, ControllerBuilder, Metrics, PendingKeys};

#[derive(Clone, Copy, Debug, thiserror::Error)]
#[error("not yet")]
struct NotYet;

#[derive(Default)]
struct Exhausted(AtomicUsize);

impl ControllerMetrics for Exhausted {
    fn retries_exhausted(&self) {
        self.0.fetch_add(1, Relaxed);
    }
}

fn builder(limiter: RetryLimiter<String>, metrics: Option<Arc<dyn ControllerMetrics>>) -> ControllerBuilder<String> {
    let metrics = Metrics { queue: None, controller: metrics };
    Controller::builder("test", Queue::builder().limiter(limiter), metrics)
}

/// Runs workers over one key, which events add at these times, until 2,050 s after the last event. The result of a sync
/// follows from its number and its time. Returns the times of the syncs. All times are in milliseconds.
async fn sync_times(
    controller: ControllerBuilder<String>,
    events: impl IntoIterator<Item = u64>,
    result: impl Fn(usize, u64) -> Result<Action, NotYet> + Send + Sync + 'static,
) -> Vec<u64> {
    let (start, times) = (Instant::now(), Arc::new(Mutex::new(Vec::new())));
    let recorded = Arc::clone(&times);
    let sync = move |_| {
        let at = u64::try_from(start.elapsed().as_millis()).unwrap();
        let mut times = recorded.lock().unwrap();
        let result = result(times.len(), at);
        times.push(at);
        async move { result }
    };
    let queue = controller.enqueuer(None);
    let mut tasks = JoinSet::new();
    tasks.spawn(controller.build(sync).run(CancellationToken::new()));
    for at in events {
        sleep_until(start + Duration::from_millis(at)).await;
        queue.add("key".to_owned());
    }
    sleep(Duration::from_secs(2_050)).await;
    times.lock().unwrap().clone()
}

fn seconds(times: &[u64]) -> Vec<u64> {
    times.iter().map(|at| at / 1_000).collect()
}

/// Returns the times of the syncs of a key whose sync fails `failures` times, and how often the retries were exhausted.
async fn failing_syncs(failures: usize, retry: RetryPolicy) -> (Vec<u64>, usize) {
    let metrics = Arc::new(Exhausted::default());
    let limiter = RetryLimiter::new(Duration::from_millis(10), Duration::from_secs(1));
    let controller = builder(limiter, Some(metrics.clone())).concurrency(2).retry(retry);
    let result = move |number, _| if number < failures { Err(NotYet) } else { Ok(Action::await_change()) };
    (sync_times(controller, [0], result).await, metrics.0.load(Relaxed))
}

#[tokio::test(start_paused = true)]
async fn a_failed_key_is_retried_with_growing_delays() {
    let (times, exhausted) = failing_syncs(3, RetryPolicy::default()).await;
    assert_eq!((times.len(), exhausted), (4, 0));
    let delays: Vec<u64> = times.windows(2).map(|pair| pair[1] - pair[0]).collect();
    for (delay, expected) in delays.iter().zip([10, 20, 40]) {
        // tokio's timers have a resolution of 1 ms.
        assert!(delay.abs_diff(expected) <= 2, "{delays:?}");
    }
}

// EC-36: upstream drops the key.
#[tokio::test(start_paused = true)]
async fn a_key_out_of_retries_is_retried_at_the_slow_interval() {
    let retry = RetryPolicy { max_retries: 1, slow_interval: Duration::from_secs(60) };
    let (times, exhausted) = failing_syncs(3, retry).await;
    let delays: Vec<u64> = times.windows(2).map(|pair| (pair[1] - pair[0]) / 1_000).collect();
    assert_eq!(delays, [0, 60, 60]);
    assert_eq!(exhausted, 2);
}

#[derive(Default)]
struct Counted(Mutex<Option<PendingKeys>>);

impl ControllerMetrics for Counted {
    fn pending(&self, count: PendingKeys) {
        *self.0.lock().unwrap() = Some(count);
    }
}

#[tokio::test(start_paused = true)]
async fn queued_delayed_failed_and_running_keys_are_pending() {
    const SECOND: Duration = Duration::from_secs(1);
    let metrics = Arc::new(Counted::default());
    let controller = builder(RetryLimiter::new(60 * SECOND, 60 * SECOND), Some(metrics.clone()));
    let queue = controller.enqueuer(None);
    for key in ["failing", "slow", "queued"] {
        queue.add(key.to_owned());
    }
    queue.add_after("delayed".to_owned(), 60 * SECOND);
    let sync = |key: String| async move {
        if key == "failing" {
            return Err(NotYet);
        }
        sleep(10 * SECOND).await;
        Ok(())
    };
    let (stop, mut tasks) = (CancellationToken::new(), JoinSet::new());
    tasks.spawn(controller.build(sync).run(stop.clone()));
    sleep(SECOND).await;
    let count = metrics.0.lock().unwrap().take().unwrap();
    assert_eq!(count(), Some(4));
    sleep(30 * SECOND).await;
    assert_eq!(count(), Some(2), "the retry and the delay");
    stop.cancel();
    tasks.join_all().await;
    assert_eq!(count(), None);
}

/// A gauge at 0 means that nothing is left to do.
#[tokio::test(start_paused = true)]
async fn a_key_is_pending_between_its_sync_and_its_retry() {
    let (metrics, between) = (Arc::new(Counted::default()), Arc::new(Mutex::new(None)));
    let (counted, recorded) = (metrics.clone(), between.clone());
    let controller =
        builder(RetryLimiter::new(Duration::ZERO, Duration::ZERO), Some(metrics)).failure_cause(move |_| {
            *recorded.lock().unwrap() = counted.0.lock().unwrap().as_ref().unwrap()();
            FailureCause::Key
        });
    sync_times(controller, [0], |number, _| if number == 0 { Err(NotYet) } else { Ok(Action::await_change()) }).await;
    assert_eq!(*between.lock().unwrap(), Some(1));
}

// Upstream resets the count of a key that it drops, so that the next event gets all retries.
#[tokio::test(start_paused = true)]
async fn an_event_resets_the_retries_of_an_exhausted_key() {
    let limiter = RetryLimiter::new(Duration::from_millis(10), Duration::from_secs(1));
    let retry = RetryPolicy { max_retries: 2, slow_interval: Duration::from_secs(1_000) };
    let times = sync_times(builder(limiter, None).retry(retry), [0, 100_000], |_, _| Err(NotYet)).await;
    assert_eq!(seconds(&times), [0, 0, 0, 100, 100, 100, 1_100, 2_100]);
}

/// A controller whose retries are delayed by 1 s at first.
fn slow() -> ControllerBuilder<String> {
    builder(RetryLimiter::new(Duration::from_secs(1), Duration::from_secs(1_000)), None)
}

/// Returns the times of the syncs of a key that events add at these times, and whose syncs fail until `end`.
async fn syncs_with_events(events: impl IntoIterator<Item = u64>, end: u64) -> Vec<u64> {
    let result = move |_, at| if at < end { Err(NotYet) } else { Ok(Action::await_change()) };
    sync_times(slow(), events, result).await
}

// Each event of a Pod during a quota's refusals doubled the wait.
#[tokio::test(start_paused = true)]
async fn events_during_a_back_off_do_not_lengthen_it() {
    let quiet = syncs_with_events([0], 100_000).await;
    let busy = syncs_with_events((0..600).map(|at| at * 100), 100_000).await;
    assert_eq!(seconds(&quiet), [0, 1, 3, 7, 15, 31, 63, 127]);
    assert!(seconds(&busy).ends_with(&[60, 63, 127]), "{busy:?}");
    // One each second, and the retries.
    assert!(busy.len() <= 70, "{} syncs: {busy:?}", busy.len());
}

#[tokio::test(start_paused = true)]
async fn a_lone_event_during_a_back_off_is_synced_at_once() {
    let synced = syncs_with_events([0, 40_000], 40_000).await;
    assert_eq!(synced[6], 40_000, "{synced:?}");
    let failed = syncs_with_events([0, 40_000, 50_000], 60_000).await;
    assert_eq!((failed[6], failed[7], failed[8] / 1_000), (40_000, 50_000, 63), "{failed:?}");
}

fn requeue(seconds: u64) -> Action {
    Action::requeue(Duration::from_secs(seconds))
}

#[rstest]
#[case::no_delay(vec![Ok(().into())], &[0, 100])]
#[case::delay(vec![Ok(requeue(30))], &[0, 30, 100])]
#[case::each_sync_sets_the_next_delay(vec![Ok(requeue(30)), Ok(requeue(20))], &[0, 30, 50, 100])]
#[case::outcome_with_a_delay(vec![Ok(Outcome::Unchanged.requeue_after(Duration::from_secs(30)))], &[0, 30, 100])]
#[case::an_event_does_not_cancel_the_delay(vec![Ok(requeue(300))], &[0, 100, 300])]
#[case::the_earlier_of_two_delays_wins(vec![Ok(requeue(300)), Ok(requeue(300))], &[0, 100, 300])]
#[case::a_shorter_delay_replaces_a_longer_one(vec![Ok(requeue(300)), Ok(requeue(30))], &[0, 100, 130])]
// The retry of the second error comes after 1 s again.
#[case::a_delay_resets_the_back_off(vec![Err(NotYet), Ok(requeue(30)), Err(NotYet)], &[0, 1, 31, 32, 100])]
#[tokio::test(start_paused = true)]
async fn a_sync_requeues_its_key_after_a_delay(#[case] results: Vec<Result<Action, NotYet>>, #[case] expected: &[u64]) {
    let result = move |number, _| results.get(number).copied().unwrap_or(Ok(Action::await_change()));
    assert_eq!(seconds(&sync_times(slow(), [0, 100_000], result).await), expected);
}

#[tokio::test(start_paused = true)]
#[should_panic(expected = "broken")]
async fn a_panic_in_a_sync_reaches_the_caller() {
    let controller = builder(RetryLimiter::new(Duration::ZERO, Duration::ZERO), None);
    controller.enqueuer(None).add("key".to_owned());
    let sync = |_: String| async { if true { panic!("broken") } else { Ok::<(), NotYet>(()) } };
    controller.build(sync).run(CancellationToken::new()).await.unwrap();
}
