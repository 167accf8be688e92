//! Delays and rate limits on a queue: counterparts of client-go's `delaying_queue_test.go` and
//! `rate_limiting_queue_test.go`.

use std::{hash::Hash, time::Duration};

use kube_workqueue::{Item, ItemExponential, Queue};
use tokio::{
    task::JoinSet,
    time::{Instant, advance, sleep, timeout},
};

const MS: Duration = Duration::from_millis(1);

/// A queue whose timer runs for as long as the set lives.
fn queue<K: Clone + Eq + Hash + Send + 'static>() -> (Queue<K>, JoinSet<()>) {
    let (queue, timer) = Queue::builder().limiter(ItemExponential::new(MS, 1000 * MS)).build();
    let mut set = JoinSet::new();
    set.spawn(timer.run());
    (queue, set)
}

async fn take<K: Clone + Eq + Hash + Send + 'static>(queue: &Queue<K>) -> Item<'_, K> {
    timeout(MS, queue.get()).await.expect("a key is queued").expect("not shut down")
}

/// Lets `time` pass and the timer act on it.
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
    assert_eq!((queue.len(), queue.waiting()), (0, 1));
    pass(20 * MS).await;
    assert_eq!((queue.len(), queue.waiting()), (1, 0));
    take(&queue).await.done();
    pass(10_000 * MS).await;
    assert_eq!(queue.len(), 0, "fired once");
}

// upstream: TestDeduping
#[tokio::test(start_paused = true)]
async fn the_earlier_deadline_wins() {
    let (queue, _set) = queue();
    // The later one comes second and is ignored ...
    queue.add_after("foo", 50 * MS);
    queue.add_after("foo", 70 * MS);
    assert_eq!(queue.waiting(), 1);
    pass(60 * MS).await;
    take(&queue).await.done();
    pass(20 * MS).await;
    assert_eq!(queue.len(), 0);
    // ... or comes first and is brought forward.
    queue.add_after("foo", 50 * MS);
    queue.add_after("foo", 30 * MS);
    assert_eq!(queue.waiting(), 1);
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

// upstream: TestCopyShifting
#[tokio::test(start_paused = true)]
async fn adds_in_reverse_fire_in_order() {
    let (queue, _set) = queue();
    for (key, delay) in
        [("first", 50), ("second", 300), ("third", 250), ("fourth", 200), ("fifth", 150), ("sixth", 100)]
    {
        queue.add_after(key, delay * MS);
    }
    pass(2_000 * MS).await;
    for key in ["first", "sixth", "fifth", "fourth", "third", "second"] {
        assert_eq!(*take(&queue).await, key);
    }
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
async fn equal_deadlines_fire_in_the_order_of_the_adds() {
    let (queue, _set) = queue();
    let keys: Vec<u32> = (0..1_000).collect();
    for &key in &keys {
        queue.add_after(key, 5 * MS);
    }
    pass(10 * MS).await;
    let mut order = vec![];
    while !queue.is_empty() {
        order.push(*take(&queue).await.key());
    }
    assert_eq!(order, keys);
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
    assert_eq!((queue.len(), queue.waiting()), (0, 1));
    queue.add_after("never", MS);
    assert_eq!(*queue.get().await.unwrap(), "never");
}

#[tokio::test(start_paused = true)]
async fn delayed_and_queued_at_the_same_time() {
    let (queue, _set) = queue();
    queue.add_after("foo", 50 * MS);
    queue.add("foo");
    take(&queue).await.done();
    assert_eq!((queue.len(), queue.waiting()), (0, 1), "the delayed add still comes");
    pass(60 * MS).await;
    take(&queue).await.done();
}

#[tokio::test(start_paused = true)]
async fn due_while_processing() {
    let (queue, _set) = queue();
    queue.add("foo");
    let item = take(&queue).await;
    queue.add_after("foo", 50 * MS);
    pass(60 * MS).await;
    assert_eq!((queue.len(), queue.waiting()), (0, 0));
    item.done();
    assert_eq!(queue.len(), 1);
}

#[tokio::test(start_paused = true)]
async fn nothing_fires_after_shutdown() {
    let (queue, mut set) = queue();
    queue.add_after("foo", 50 * MS);
    pass(10 * MS).await;
    queue.shut_down();
    set.join_next().await.expect("the timer").expect("ended well");
    assert_eq!(queue.waiting(), 0);
    queue.add_after("bar", 10 * MS);
    queue.add_after("bar", Duration::ZERO);
    assert_eq!((queue.len(), queue.waiting()), (0, 0));
    assert!(queue.get().await.is_none());
}

#[tokio::test(start_paused = true)]
async fn drain_does_not_wait_for_the_delayed() {
    let (queue, mut set) = queue();
    queue.add_after("foo", 50 * MS);
    let start = Instant::now();
    queue.shut_down_with_drain().await;
    set.join_next().await.expect("the timer").expect("ended well");
    assert_eq!(start.elapsed(), Duration::ZERO);
}
