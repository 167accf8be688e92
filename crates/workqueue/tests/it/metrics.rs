//! Calls of a queue to its metrics: counterparts of client-go's `metrics_test.go`.

use std::{
    fmt::Write as _,
    sync::{Arc, Mutex},
    time::Duration,
};

use kube_workqueue::{MetricsProvider, Queue, QueueMetrics};
use tokio::{
    task::JoinSet,
    time::{advance, sleep},
};

const MS: Duration = Duration::from_millis(1);

/// Records the calls of `QueueMetrics`.
#[derive(Default)]
struct Log(Mutex<String>);

impl Log {
    /// Returns and clears the recorded calls.
    fn read(&self) -> String {
        std::mem::take(&mut self.0.lock().expect("no writer panicked"))
    }

    fn write(&self, line: std::fmt::Arguments<'_>) {
        let mut log = self.0.lock().expect("no writer panicked");
        let gap = if log.is_empty() { "" } else { ", " };
        write!(log, "{gap}{line}").expect("writing to a string cannot fail");
    }
}

struct Shared(Arc<Log>);

impl MetricsProvider for Shared {
    fn queue(&self, name: &str) -> Arc<dyn QueueMetrics> {
        self.0.write(format_args!("queue {name}"));
        Arc::new(Shared(self.0.clone()))
    }
}

impl QueueMetrics for Shared {
    fn added(&self) {
        self.0.write(format_args!("added"));
    }
    fn taken(&self, waited: Duration) {
        self.0.write(format_args!("taken after {waited:?}"));
    }
    fn finished(&self, worked: Duration) {
        self.0.write(format_args!("finished after {worked:?}"));
    }
    fn retried(&self) {
        self.0.write(format_args!("retried"));
    }
    fn unfinished(&self, total: Duration, longest: Duration) {
        self.0.write(format_args!("unfinished {total:?}, longest {longest:?}"));
    }
}

fn queue() -> (Queue<&'static str>, Arc<Log>, JoinSet<()>) {
    let log = Arc::new(Log::default());
    let (queue, timer) = Queue::builder().name("test").metrics(Arc::new(Shared(log.clone()))).build();
    assert_eq!(log.read(), "queue test");
    let mut set = JoinSet::new();
    set.spawn(timer.run());
    (queue, log, set)
}

// upstream: TestMetrics
#[tokio::test(start_paused = true)]
async fn metrics_of_one_key() {
    let (queue, log, _set) = queue();
    tokio::task::yield_now().await;
    queue.add("foo");
    assert_eq!(log.read(), "added");
    advance(50 * MS).await;
    queue.add("foo");
    assert_eq!(log.read(), "", "queued already");
    let item = queue.get().await.unwrap();
    assert_eq!(log.read(), "taken after 50ms", "since the first add");
    advance(25 * MS).await;
    // An add while in process is counted at once, and its queue duration starts now.
    queue.add("foo");
    assert_eq!(log.read(), "added");
    queue.add("foo");
    assert_eq!(log.read(), "");
    item.done();
    assert_eq!(log.read(), "finished after 25ms");
    advance(10 * MS).await;
    let item = queue.get().await.unwrap();
    assert_eq!(log.read(), "taken after 10ms");
    queue.add("bar");
    let other = queue.get().await.unwrap();
    assert_eq!(log.read(), "added, taken after 0ns");
    // The gauges are set every 500 ms.
    advance(500 * MS).await;
    tokio::task::yield_now().await;
    assert_eq!(log.read(), "unfinished 1s, longest 500ms");
    drop((item, other));
    assert_eq!(log.read(), "finished after 500ms, finished after 500ms");
    advance(500 * MS).await;
    tokio::task::yield_now().await;
    assert_eq!(log.read(), "unfinished 0ns, longest 0ns");
}

#[tokio::test(start_paused = true)]
async fn retries_count_every_add_with_a_delay() {
    let (queue, log, _set) = queue();
    queue.add_after("foo", Duration::ZERO);
    assert_eq!(log.read(), "retried, added");
    queue.add_after("bar", 10 * MS);
    queue.add_after("bar", 20 * MS);
    assert_eq!(log.read(), "retried, retried");
    queue.add_rate_limited("baz");
    assert_eq!(log.read(), "retried");
    tokio::time::sleep(30 * MS).await;
    assert_eq!(log.read(), "added, added", "when due");
}

// upstream: TestMetricShutdown
#[tokio::test(start_paused = true)]
async fn nothing_is_reported_after_the_shutdown() {
    let (queue, log, mut set) = queue();
    tokio::time::sleep(1_100 * MS).await;
    assert_eq!(log.read(), "unfinished 0ns, longest 0ns, unfinished 0ns, longest 0ns");
    queue.shut_down();
    set.join_next().await.unwrap().unwrap();
    queue.add("foo");
    queue.add_after("foo", MS);
    tokio::time::sleep(1_000 * MS).await;
    assert_eq!(log.read(), "");
}

// Upstream keeps the last sample: its loop ends with the shutdown.
#[rstest::rstest]
#[case::drained_after_the_last_sample(true)]
#[case::idle_at_the_shutdown(false)]
#[tokio::test(start_paused = true)]
async fn ages_are_zero_once_a_shut_down_queue_has_no_key_in_process(#[case] busy: bool) {
    let (queue, log, mut set) = queue();
    queue.add("foo");
    queue.add("bar");
    let (foo, bar) = (queue.get().await.unwrap(), queue.get().await.unwrap());
    sleep(600 * MS).await;
    assert_eq!(log.read(), "added, added, taken after 0ns, taken after 0ns, unfinished 1s, longest 500ms");
    if busy {
        queue.shut_down();
        set.join_next().await.unwrap().unwrap();
        foo.done();
        assert_eq!(log.read(), "finished after 600ms", "another key is in process");
        bar.done();
        assert_eq!(log.read(), "finished after 600ms, unfinished 0ns, longest 0ns");
    } else {
        drop((foo, bar));
        assert_eq!(log.read(), "finished after 600ms, finished after 600ms");
        queue.shut_down();
        assert_eq!(log.read(), "unfinished 0ns, longest 0ns");
    }
    queue.shut_down();
    sleep(1_000 * MS).await;
    assert_eq!(log.read(), "", "once");
}

#[tokio::test(start_paused = true)]
async fn places_of_gone_keys_start_afresh() {
    let (queue, log, _set) = queue();
    for key in ["foo", "bar", "baz"] {
        queue.add(key);
        advance(7 * MS).await;
        queue.get().await.unwrap().done();
    }
    let life = "added, taken after 7ms, finished after 0ns";
    assert_eq!(log.read(), [life; 3].join(", "));
}
