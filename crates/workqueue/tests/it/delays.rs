//! Delayed and rate-limited adds: counterparts of client-go's `delaying_queue_test.go` and
//! `rate_limiting_queue_test.go`.

use std::{hash::Hash, time::Duration};

use kube_workqueue::{Item, Queue, RetryLimiter};
use proptest::prelude::proptest;
use tokio::{
    task::JoinSet,
    time::{Instant, advance, sleep, timeout},
};

const MS: Duration = Duration::from_millis(1);

/// Returns a queue, and the task set that runs its timer.
fn queue<K: Clone + Eq + Hash + Send + 'static>() -> (Queue<K>, JoinSet<()>) {
    let (queue, timer) = Queue::builder().limiter(RetryLimiter::new(MS, 1000 * MS)).build();
    let mut set = JoinSet::new();
    set.spawn(timer.run());
    (queue, set)
}

async fn take<K: Clone + Eq + Hash + Send + 'static>(queue: &Queue<K>) -> Item<'_, K> {
    timeout(MS, queue.get()).await.expect("a key is queued").expect("not shut down")
}

/// Advances the time by `time`, and 1 ms more for the timer task to run.
async fn pass(time: Duration) {
    advance(time).await;
    sleep(MS).await;
}

// upstream: TestSimpleQueue
#[tokio::test(start_paused = true)]
async fn waits_for_the_delay() {
    let (queue, _set) = queue();
    queue.add_after("foo", 50 * MS);
    pass(40 * MS).await;
    assert_eq!((queue.len(), queue.delayed()), (0, 1));
    pass(20 * MS).await;
    assert_eq!((queue.len(), queue.delayed()), (1, 0));
    take(&queue).await.done();
    pass(10_000 * MS).await;
    assert_eq!(queue.len(), 0, "fired once");
}

// upstream: TestDeduping
#[tokio::test(start_paused = true)]
async fn the_earlier_deadline_wins() {
    let (queue, _set) = queue();
    // A second, later deadline is ignored.
    queue.add_after("foo", 50 * MS);
    queue.add_after("foo", 70 * MS);
    assert_eq!(queue.delayed(), 1);
    pass(60 * MS).await;
    take(&queue).await.done();
    pass(20 * MS).await;
    assert_eq!(queue.len(), 0);
    // A second, earlier deadline replaces the first.
    queue.add_after("foo", 50 * MS);
    queue.add_after("foo", 30 * MS);
    assert_eq!(queue.delayed(), 1);
    pass(40 * MS).await;
    take(&queue).await.done();
    pass(20 * MS).await;
    assert_eq!(queue.len(), 0);
}

// upstream: TestAddTwoFireEarly
#[tokio::test(start_paused = true)]
async fn two_keys_fire_in_their_order() {
    let (queue, _set) = queue();
    queue.add_after("third", 50 * MS);
    queue.add_after("first", 25 * MS);
    queue.add_after("second", 30 * MS);
    pass(40 * MS).await;
    assert_eq!(queue.len(), 2);
    assert_eq!(*take(&queue).await, "first");
    assert_eq!(*take(&queue).await, "second");
    queue.add_after("fourth", 1_000 * MS);
    pass(20 * MS).await;
    assert_eq!(*take(&queue).await, "third");
}

// upstream: TestRateLimitingQueue
#[tokio::test(start_paused = true)]
async fn rate_limited() {
    let (queue, _set) = queue();
    let start = Instant::now();
    for (key, tries) in [("one", 1), ("one", 2), ("two", 1), ("two", 2), ("two", 3)] {
        queue.add_rate_limited(key);
        assert_eq!(queue.num_requeues(&key), tries);
    }
    assert_eq!(*queue.get().await.unwrap(), "one");
    assert_eq!(start.elapsed(), MS);
    queue.forget(&"one");
    assert_eq!(queue.num_requeues(&"one"), 0);
    queue.add_rate_limited("one");
    assert_eq!(queue.num_requeues(&"one"), 1);
    assert_eq!(queue.num_requeues(&"two"), 3);
}

#[tokio::test(start_paused = true)]
async fn no_delay_adds_at_once() {
    let (queue, timer) = Queue::builder().build();
    drop(timer);
    queue.add_after("foo", Duration::ZERO);
    assert_eq!(queue.len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_delay_beyond_all_clocks() {
    let (queue, _set) = queue();
    queue.add_after("never", Duration::MAX);
    pass(Duration::from_secs(3 * 365 * 24 * 60 * 60)).await;
    assert_eq!((queue.len(), queue.delayed()), (0, 1));
    queue.add_after("never", MS);
    assert_eq!(*queue.get().await.unwrap(), "never");
}

#[tokio::test(start_paused = true)]
async fn nothing_fires_after_shutdown() {
    let (queue, mut set) = queue();
    queue.add_after("foo", 50 * MS);
    pass(10 * MS).await;
    queue.shut_down();
    set.join_next().await.expect("the timer task ends").expect("the timer task does not panic");
    assert_eq!(queue.delayed(), 0);
    queue.add_after("bar", 10 * MS);
    queue.add_after("bar", Duration::ZERO);
    assert_eq!((queue.len(), queue.delayed()), (0, 0));
    assert!(queue.get().await.is_none());
}

// No counterpart in client-go, which never merges deadlines.
#[tokio::test(start_paused = true)]
async fn delays_that_gather_changes_end_together() {
    let (queue, _set) = queue();
    let start = Instant::now();
    // The clock is still at the grid's origin, so this deadline needs no rounding.
    queue.add_after_about("first", 500 * MS);
    for key in ["a", "b", "c"] {
        advance(10 * MS).await;
        queue.add_after_about(key, 500 * MS);
    }
    // `add_after` is not rounded, and its deadline is the earlier one.
    queue.add_after("c", 495 * MS);
    let mut taken = Vec::new();
    for _ in 0..4 {
        let item = queue.get().await.expect("not shut down");
        taken.push((*item.key(), start.elapsed().as_millis()));
    }
    assert_eq!(taken, [("first", 500), ("c", 525), ("a", 550), ("b", 550)]);

    queue.add_after_about("at once", Duration::ZERO);
    assert_eq!(queue.len(), 1);
}

proptest! {
    /// No key is early, none is late by more than a tenth of the delay, and the deadlines fall on few instants.
    #[test]
    fn add_after_about_bounds_lateness_and_wake_ups(
        delay in 200_u32..2_000,
        // At most 2 s in total, the shortest delay, so that no deadline passes before the first `get`.
        pauses in proptest::collection::vec(0_u32..50, 1..40),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
        runtime.block_on(async {
            let (queue, _set) = queue();
            let start = Instant::now();
            let delay = 10 * delay * MS;
            let mut due = Vec::new();
            for (key, pause) in pauses.into_iter().enumerate() {
                advance(pause * MS).await;
                due.push(start.elapsed() + delay);
                queue.add_after_about(key, delay);
            }
            let mut instants = Vec::new();
            for _ in 0..due.len() {
                let item = queue.get().await.expect("not shut down");
                let late = start.elapsed().checked_sub(due[*item.key()]).expect("not early");
                // tokio's timer has a resolution of 1 ms.
                assert!(late < delay / 10 + MS, "{late:?} late after {delay:?}");
                instants.push(start.elapsed());
            }
            instants.dedup();
            let spread = due[due.len() - 1].saturating_sub(due[0]);
            assert!(instants.len() as u128 <= spread.as_nanos() / (delay / 10).as_nanos() + 2);
        });
    }
}

#[tokio::test(start_paused = true)]
async fn item_is_retried_and_forgotten() {
    let (queue, _set) = queue();
    queue.add("foo");
    for delay in [1, 2, 4] {
        take(&queue).await.retry();
        assert_eq!((queue.len(), queue.delayed()), (0, 1), "not before {delay} ms");
        pass(delay * MS).await;
    }
    let item = take(&queue).await;
    assert_eq!(queue.num_requeues(&item), 3);
    item.forget();
    assert_eq!(queue.num_requeues(&item), 0);
}
