//! Tests of the workers.

use std::sync::Mutex;
use std::time::Duration;

use kube_workqueue::RetryLimiter;
use rstest::rstest;
use tokio::time::{Instant, sleep};

use super::*;
use crate::{Controller, ControllerBuilder, Metrics, PendingKeys};

#[derive(Debug, thiserror::Error)]
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

/// Runs workers over one key whose sync fails `failures` times. Returns the time of each sync in milliseconds, and
/// how often the retries were exhausted.
async fn sync_times(failures: usize, retry: RetryPolicy) -> (Vec<u128>, usize) {
    let metrics = Arc::new(Exhausted::default());
    let limiter = RetryLimiter::new(Duration::from_millis(10), Duration::from_secs(1));
    let controller = builder(limiter, Some(metrics.clone())).concurrency(2).retry(retry);
    controller.enqueuer(None).add("key".to_owned());
    let stop = CancellationToken::new();
    let start = Instant::now();
    let times = Arc::new(Mutex::new(Vec::new()));
    let sync = {
        let (times, stop) = (Arc::clone(&times), stop.clone());
        move |_| {
            let mut times = times.lock().unwrap();
            times.push(start.elapsed().as_millis());
            let result = if times.len() > failures { Ok(()) } else { Err(NotYet) };
            if result.is_ok() {
                stop.cancel();
            }
            async move { result }
        }
    };
    controller.build(sync).run(stop).await.unwrap();
    (times.lock().unwrap().clone(), metrics.0.load(Relaxed))
}

#[tokio::test(start_paused = true)]
async fn a_failed_key_is_retried_with_growing_delays() {
    let (times, exhausted) = sync_times(3, RetryPolicy::default()).await;
    assert_eq!((times.len(), exhausted), (4, 0));
    let delays: Vec<u128> = times.windows(2).map(|pair| pair[1] - pair[0]).collect();
    for (delay, expected) in delays.iter().zip([10, 20, 40]) {
        // tokio's timers have a resolution of 1 ms.
        assert!(delay.abs_diff(expected) <= 2, "{delays:?}");
    }
}

// EC-36: upstream drops the key.
#[tokio::test(start_paused = true)]
async fn a_key_out_of_retries_is_retried_at_the_slow_interval() {
    let retry = RetryPolicy { max_retries: 1, slow_interval: Duration::from_secs(60) };
    let (times, exhausted) = sync_times(3, retry).await;
    let delays: Vec<u128> = times.windows(2).map(|pair| (pair[1] - pair[0]) / 1_000).collect();
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

// Upstream resets the count of a key that it drops, so that the next event gets all retries.
#[tokio::test(start_paused = true)]
async fn an_event_resets_the_retries_of_an_exhausted_key() {
    let limiter = RetryLimiter::new(Duration::from_millis(10), Duration::from_secs(1));
    let retry = RetryPolicy { max_retries: 2, slow_interval: Duration::from_secs(1_000) };
    let (stop, times) = (CancellationToken::new(), Arc::new(Mutex::new(Vec::new())));
    let start = Instant::now();
    let sync = {
        let times = Arc::clone(&times);
        move |_| {
            times.lock().unwrap().push(start.elapsed().as_secs());
            async { Err::<(), _>(NotYet) }
        }
    };
    let mut tasks = JoinSet::new();
    let controller = builder(limiter, None).retry(retry);
    let queue = controller.enqueuer(None);
    tasks.spawn(controller.build(sync).run(stop.clone()));
    queue.add("key".to_owned());
    tokio::time::sleep(Duration::from_secs(100)).await;
    queue.add("key".to_owned());
    tokio::time::sleep(Duration::from_secs(2_050)).await;
    assert_eq!(*times.lock().unwrap(), [0, 0, 0, 100, 100, 100, 1_100, 2_100]);
    stop.cancel();
}

/// Runs workers whose syncs fail until `end`, and adds the key at these times. Returns the times of the syncs, in
/// milliseconds.
async fn syncs_with_events(events: impl IntoIterator<Item = u64>, end: u64) -> Vec<u64> {
    let limiter = RetryLimiter::new(Duration::from_secs(1), Duration::from_secs(1_000));
    let (stop, times) = (CancellationToken::new(), Arc::new(Mutex::new(Vec::new())));
    let start = Instant::now();
    let sync = {
        let times = Arc::clone(&times);
        move |_| {
            let at = u64::try_from(start.elapsed().as_millis()).unwrap();
            times.lock().unwrap().push(at);
            async move { if at < end { Err(NotYet) } else { Ok(()) } }
        }
    };
    let mut tasks = JoinSet::new();
    let controller = builder(limiter, None);
    let queue = controller.enqueuer(None);
    tasks.spawn(controller.build(sync).run(stop.clone()));
    for at in events {
        tokio::time::sleep_until(start + Duration::from_millis(at)).await;
        queue.add("key".to_owned());
    }
    tokio::time::sleep(Duration::from_secs(2_000)).await;
    stop.cancel();
    times.lock().unwrap().clone()
}

// Each event of a Pod during a quota's refusals doubled the wait.
#[tokio::test(start_paused = true)]
async fn events_during_a_back_off_do_not_lengthen_it() {
    let quiet = syncs_with_events([0], 100_000).await;
    let busy = syncs_with_events((0..600).map(|at| at * 100), 100_000).await;
    let seconds = |syncs: &[u64]| syncs.iter().map(|at| at / 1_000).collect::<Vec<_>>();
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

/// Runs workers over one key, whose n-th sync has the n-th of these results, and which an event adds at `event`
/// seconds. Returns the time of each sync in seconds.
async fn requeue_times(results: Vec<Result<Action, NotYet>>, event: u64) -> Vec<u64> {
    let limiter = RetryLimiter::new(Duration::from_secs(1), Duration::from_secs(1_000));
    let (stop, times) = (CancellationToken::new(), Arc::new(Mutex::new(Vec::new())));
    let (start, results) = (Instant::now(), Mutex::new(results.into_iter()));
    let sync = {
        let times = Arc::clone(&times);
        move |_| {
            times.lock().unwrap().push(start.elapsed().as_secs());
            let result = results.lock().unwrap().next().unwrap_or_else(|| Ok(Action::await_change()));
            async { result }
        }
    };
    let mut tasks = JoinSet::new();
    let controller = builder(limiter, None);
    let queue = controller.enqueuer(None);
    tasks.spawn(controller.build(sync).run(stop.clone()));
    queue.add("key".to_owned());
    tokio::time::sleep(Duration::from_secs(event)).await;
    queue.add("key".to_owned());
    tokio::time::sleep(Duration::from_secs(10_000)).await;
    stop.cancel();
    times.lock().unwrap().clone()
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
    assert_eq!(requeue_times(results, 100).await, expected);
}

#[tokio::test(start_paused = true)]
#[should_panic(expected = "broken")]
async fn a_panic_in_a_sync_reaches_the_caller() {
    let controller = builder(RetryLimiter::new(Duration::ZERO, Duration::ZERO), None);
    controller.enqueuer(None).add("key".to_owned());
    let sync = |_: String| async { if true { panic!("broken") } else { Ok::<(), NotYet>(()) } };
    controller.build(sync).run(CancellationToken::new()).await.unwrap();
}
