//! A keyed, deduplicating work queue for controllers, with the semantics of client-go's `workqueue`.
//!
//! The reference is the client-go of Kubernetes 1.36. The crate contains no Kubernetes types and runs on tokio. A key
//! is any type that is `Clone + Eq + Hash + Send + 'static`, for example `String` or `Arc<str>`; it is cloned when a
//! worker gets it. What it is for:
//!
//! - **Deduplication**: a key that is added many times before a worker gets it is processed once.
//! - **One worker per key**: a key that is added while it is being processed is queued again when that worker is done.
//! - **Delays and retries**: [`Queue::add_after`]; and [`Item::retry`] and [`Queue::add_rate_limited`] with client-go's
//!   [default limiter](default_controller_limiter): per key 5 ms, doubling up to 1,000 s, and for the retries of all keys
//!   together 10 per second with a burst of 100. The [`Timer`], which the owner spawns, queues delayed keys on time; without
//!   it, waiting [`get`](Queue::get)s do.
//! - **Rate limits** are limits of retries, as in client-go: other adds and the workers are never slowed down. To process at most
//!   500 keys per second, say, workers share a [`TokenBucket`](TokenBucket#limit-of-the-processing-rate).
//! - **Order**: first in, first out. The queue is unbounded, and an add never waits and never fails.
//! - **Shutdown**: after [`Queue::shut_down`], adds are ignored and [`Queue::get`] returns the queued keys, then
//!   `None`; [`Queue::shut_down_with_drain`] also waits until the queued keys are processed. Both drop delayed keys.
//! - **Metrics**: upstream's seven `workqueue_*` metrics, under upstream's names, with the [feature `prometheus`](#metrics).
//! - **Tests**: delays follow tokio's clock, so that they take no time in `#[tokio::test(start_paused = true)]`.
//!
//! ```text
//! add ----------------------------------------> ready keys --get--> keys in process --done--> removed
//! add_after ---------> delayed keys --Timer-------^  ^                     |
//! add_rate_limited --------^                         +---------------------+
//!   (delay from a RateLimiter)                     done, if the key was added meanwhile
//! ```
//!
//! # When not to use it
//!
//! - Items of which each must be processed: repeated adds are merged. Use a channel. Data of which the newest counts belong
//!   [beside the queue](#items-with-data).
//! - Work that must survive a restart: the queue is in memory only.
//! - Priorities or back-pressure: the order is fixed and the length unbounded.
//! - Controllers on kube-rs' `Controller`: it brings its own scheduler.
//!
//! # Example
//!
//! Five workers with a retry loop. A key that fails 16 times in a row is dropped until it is added again. The name
//! would be the label of metrics; without a provider there are none. From the shutdown on a failure is final, since `retry`
//! adds nothing to a queue that is shut down:
//!
//! ```
//! use kube_workqueue::Queue;
//! use tokio::task::JoinSet;
//!
//! # #[derive(Debug)] struct Error;
//! # async fn sync(key: &str) -> Result<(), Error> { Ok(()) }
//! const MAX_RETRIES: u32 = 15;
//!
//! async fn work(queue: Queue<String>) {
//!     // `None`: the queue is shut down and empty.
//!     while let Some(item) = queue.get().await {
//!         match sync(&item).await {
//!             Err(_) if queue.num_requeues(&item) < MAX_RETRIES => item.retry(),
//!             // Dropping the item ends its processing, even if `sync` panics.
//!             Ok(()) | Err(_) => item.forget(),
//!         }
//!     }
//! }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() {
//! let (queue, timer) = Queue::builder().name("endpoint").build();
//! let mut tasks = JoinSet::new();
//! tasks.spawn(timer.run());
//! for _ in 0..5 {
//!     tasks.spawn(work(queue.clone()));
//! }
//! queue.add("default/web".to_owned());
//!
//! queue.shut_down_with_drain().await;
//! tasks.join_all().await;
//! # }
//! ```
//!
//! # Metrics
//!
//! The feature `prometheus`, off by default, adds `PrometheusMetrics`, which registers the metrics with a `Registry` of the crate
//! `prometheus`, version 0.14. Only `cargo doc --features prometheus` documents this type. The manifest of the program:
//!
//! ```toml
//! kube-workqueue = { git = "https://github.com/kube-endpoints/kube-endpoints", features = ["prometheus"] }
//! prometheus = "0.14"
//! ```
//!
//! The metrics are registered once per registry; each queue that is to be measured gets a clone of them, and a name:
//!
//! ```
//! # #[cfg(not(feature = "prometheus"))]
//! # fn main() {}
//! # #[cfg(feature = "prometheus")]
//! # fn main() -> Result<(), prometheus::Error> {
//! use kube_workqueue::{PrometheusMetrics, Queue};
//! use prometheus::{Registry, TextEncoder};
//!
//! let registry = Registry::new();
//! let metrics = PrometheusMetrics::register(&registry)?;
//! let (queue, timer) = Queue::<String>::builder().name("devices").metrics(metrics.clone()).build();
//! queue.add("router-1".to_owned());
//! // What `/metrics` serves.
//! let text = TextEncoder::new().encode_to_string(&registry.gather())?;
//! assert!(text.contains(r#"workqueue_depth{name="devices"} 1"#));
//! # drop(timer);
//! # Ok(())
//! # }
//! ```
//!
//! `workqueue_depth` does not count delayed keys. `workqueue_retries_total` counts, as upstream, retries and all other adds with a
//! delay, such as those of [`Queue::add_after`]. For other systems of metrics, implement [`MetricsProvider`] and
//! [`QueueMetrics`].
//!
//! # Items with data
//!
//! The queue carries keys, and the data stay beside it: in the store of an informer, in a database, or in a map. If adds
//! carried data, a merged add would lose one of two payloads, and a retry would repeat an old one. Three rules make a worker
//! see the newest data of its key:
//!
//! - Write the data before the add: the worker may get the key at once.
//! - Read the data after the get, not before the add. A change while the key is in process queues it again.
//! - After a failure, put back only what no later add has replaced, and retry the key.
//!
//! ```
//! use std::collections::HashMap;
//! use std::sync::Mutex;
//!
//! use kube_workqueue::Queue;
//!
//! # fn deliver(attempt: u32, data: &str) -> bool { attempt > 0 && data == "newest" }
//! # #[tokio::main(flavor = "current_thread", start_paused = true)]
//! # async fn main() {
//! let (queue, _timer) = Queue::<String>::builder().build();
//! let pending = Mutex::new(HashMap::new());
//! let submit = |key: &str, data: &str| {
//!     pending.lock().unwrap().insert(key.to_owned(), data.to_owned());
//!     queue.add(key.to_owned());
//! };
//! submit("receiver", "old");
//! submit("receiver", "newest");
//! # let mut delivered = Vec::new();
//!
//! while let Some(item) = queue.get().await {
//!     // `None`: an earlier sync has taken the data of this add too.
//!     let Some(data) = pending.lock().unwrap().remove(&*item) else { continue };
//!     if deliver(queue.num_requeues(&item), &data) {
//!         # delivered.push(data);
//!         item.forget();
//!     } else {
//!         pending.lock().unwrap().entry(item.clone()).or_insert(data);
//!         item.retry();
//!     }
//! #     if !delivered.is_empty() { break }
//! }
//! # assert_eq!(delivered, ["newest"]);
//! # assert!(pending.lock().unwrap().is_empty() && queue.is_empty());
//! # }
//! ```
//!
//! # Removing a key
//!
//! The set of keys to be processed is also kept beside the queue. A worker looks its key up there, and forgets a key that was
//! removed:
//!
//! ```
//! # use std::{collections::HashMap, sync::Mutex};
//! # use kube_workqueue::Queue;
//! # async fn configure(_: &str) -> bool { true }
//! /// `devices` are addresses by name.
//! async fn work(devices: &Mutex<HashMap<String, String>>, queue: Queue<String>) {
//!     while let Some(name) = queue.get().await {
//!         let address = devices.lock().unwrap().get(&*name).cloned();
//!         match address {
//!             Some(address) if !configure(&address).await => name.retry(),
//!             // Configured, or removed.
//!             Some(_) | None => name.forget(),
//!         }
//!     }
//! }
//! ```
//!
//! This covers a key in any state: queued, delayed, and in process, in which case its worker may retry it once more. The queue
//! therefore has no method that removes a key; [`forget`](Queue::forget) resets the retries at once.
//!
//! # From client-go
//!
//! | client-go | here |
//! |---|---|
//! | `NewTypedRateLimitingQueueWithConfig(limiter, {Name, MetricsProvider})` | [`Queue::builder`] with [`name`](Builder::name), [`limiter`](Builder::limiter), [`metrics`](Builder::metrics) |
//! | the delaying queue's goroutine | [`Timer::run`], spawned by the owner |
//! | `Add` | [`Queue::add`] |
//! | `Get` and `Done` | [`Queue::get`] and its [`Item`] |
//! | `Len`, `ShuttingDown` | [`Queue::len`], [`Queue::is_shutting_down`] |
//! | `ShutDown`, `ShutDownWithDrain` | [`Queue::shut_down`], [`Queue::shut_down_with_drain`] |
//! | `AddAfter` | [`Queue::add_after`] |
//! | `AddRateLimited`, `Forget`, `NumRequeues` | [`Queue::add_rate_limited`], [`Queue::forget`], [`Queue::num_requeues`] |
//! | `TypedRateLimiter` | [`RateLimiter`] |
//! | `NewTypedItemExponentialFailureRateLimiter` | [`ItemExponential`] |
//! | `TypedBucketRateLimiter` | [`TokenBucket`] |
//! | `NewTypedMaxOfRateLimiter` | [`MaxOf`] |
//! | `DefaultTypedControllerRateLimiter` | [`default_controller_limiter`] |
//! | `MetricsProvider` | [`MetricsProvider`] and [`QueueMetrics`]; `PrometheusMetrics` with the feature `prometheus` |
//!
//! # Deliberate differences
//!
//! - [`shut_down_with_drain`](Queue::shut_down_with_drain) waits for keys that are still queued, not only for those in
//!   process.
//! - Delayed keys are dropped at shutdown; upstream drops them within ten seconds of it.
//! - Keys with the same deadline are added in the order of the calls; upstream's order is undefined.
//! - [`add_after`](Queue::add_after) never blocks; upstream's `AddAfter` blocks while 1,000 requests are unread.
//! - A clock that goes back adds no tokens to a [`TokenBucket`].
//! - The gauges of keys in process are set to zero when the last one is done after a shutdown; upstream keeps the last sample.
//! - There is no global metrics provider: a queue without a name and a provider has no metrics.
//! - [`add_after_about`](Queue::add_after_about) has no counterpart upstream.
//! - Not implemented: `TypedQueue` (another order of keys), `ParallelizeUntil`, and the limiters
//!   `TypedItemFastSlowRateLimiter` and `TypedWithMaxWaitRateLimiter`.
//!
//! # Counterparts of upstream's tests
//!
//! | client-go | here |
//! |---|---|
//! | `TestBasic` | `tests/queue.rs` `many_producers_and_workers` |
//! | `TestAddWhileProcessing` | `added_while_processing_comes_back` |
//! | `TestLen` | `len_counts_each_key_once` |
//! | `TestReinsert` | `reinserted_while_processing` |
//! | `TestCollapse` | `collapses_adds` |
//! | `TestCollapseWhileProcessing` | `collapses_adds_while_processing` |
//! | `TestQueueDrainageUsingShutDownWithDrain` | `drain_waits_for_keys_in_process` |
//! | `TestNoQueueDrainageUsingShutDown` | `shut_down_does_not_wait` |
//! | `TestForceQueueShutdownUsingShutDown` | `shut_down_releases_a_drain` |
//! | `TestQueueDrainageUsingShutDownWithDrainWithDirtyItem` | `drain_waits_for_dirty_keys` |
//! | `TestGarbageCollection` | `keys_are_freed_once_handed_out` |
//! | `TestSimpleQueue` | `tests/delays.rs` `waits_for_the_delay` |
//! | `TestDeduping` | `the_earlier_deadline_wins` |
//! | `TestAddTwoFireEarly` | `two_keys_fire_in_their_order` |
//! | `TestCopyShifting` | `adds_in_reverse_fire_in_order` |
//! | `TestRateLimitingQueue` | `rate_limited` |
//! | `TestItemExponentialFailureRateLimiter` | `tests/limiters.rs` `exponential` |
//! | `TestItemExponentialFailureRateLimiterOverFlow` | `exponential_does_not_overflow` |
//! | `TestMaxOfRateLimiter` | `max_of` |
//! | `TestMetrics` | `tests/metrics.rs` `metrics_of_one_key` |
//! | `TestMetricShutdown` | `nothing_is_reported_after_the_shutdown` |
//! | `BenchmarkQueue`, `BenchmarkDelayingQueue_AddAfter` | `benches/queue.rs` |
//!
//! Further tests: `tests/contention.rs` runs contending operating-system threads; `src/core/tests.rs` compares 10,000
//! random histories with a reference implementation; `tests/interleavings/` runs small programs under every schedule
//! with at most three preemptions; `tests/loom.rs` does the same with loom's threads:
//! `RUSTFLAGS="--cfg loom" cargo test -p kube-workqueue --test loom --release`.

#![expect(unexpected_cfgs, reason = "cfg(loom) swaps the lock for a model checker's, as in tokio")]

/// Compiles and runs the example of the README.
#[cfg(all(doctest, feature = "prometheus"))]
#[doc = include_str!("../README.md")]
mod readme {}

mod builder;
mod core;
mod drain;
mod due;
mod get;
mod item;
mod limiter;
mod metrics;
#[cfg(feature = "prometheus")]
mod prometheus;
mod queue;
mod shared;
mod sync;
mod timer;
mod waiters;

#[cfg(feature = "prometheus")]
pub use crate::prometheus::PrometheusMetrics;
pub use crate::{
    builder::Builder,
    drain::Drain,
    get::Get,
    item::Item,
    limiter::{
        FOREVER, ItemExponential, MaxOf, RateLimiter, TokenBucket, default_controller_limiter, endpoint_slice_limiter,
    },
    metrics::{MetricsProvider, QueueMetrics},
    queue::Queue,
    timer::Timer,
};
