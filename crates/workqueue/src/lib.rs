//! A keyed, deduplicating work queue for controllers, with the semantics of client-go's `workqueue`.
//!
//! The reference is the client-go of Kubernetes 1.36. The crate contains no Kubernetes types and runs on tokio. A key
//! is any type that is `Clone + Eq + Hash + Send + 'static`, for example `String` or `Arc<str>`; it is cloned when a
//! worker gets it. What it is for:
//!
//! - **Deduplication**: a key that is added many times before a worker gets it is processed once.
//! - **One worker per key**: a key that is added while it is being processed is queued again when that worker is done.
//! - **Delays and retries**: [`Queue::add_after`]; [`Queue::add_debounced`], which waits for a quiet time; and [`Item::retry`] and
//!   [`Queue::add_rate_limited`] with client-go's [default limiter](default_controller_limiter): per key 5 ms, doubling up to
//!   1,000 s, and for the retries of all keys together 10 per second with a burst of 100. [`Jittered`] adds jitter. The
//!   [`Timer`], which the owner spawns, queues delayed keys on time; without it, waiting [`get`](Queue::get)s do.
//! - **Rate limits** are limits of retries, as in client-go: other adds and the workers are never slowed down. To process at most
//!   500 keys per second, say, workers share a [`TokenBucket`](TokenBucket#limit-of-the-processing-rate).
//! - **Order**: first in, first out. The queue is unbounded, and an add never waits and never fails.
//! - **Shutdown**: after [`Queue::shut_down`], adds are ignored and [`Queue::get`] returns the queued keys, then
//!   `None`; [`Queue::shut_down_with_drain`] also waits until the queued keys are processed. Both drop delayed keys,
//!   [`Queue::drain`] queues them on request.
//! - **Metrics**: upstream's seven `workqueue_*` metrics, under upstream's names, with the [feature `prometheus`](#metrics).
//! - **Tests**: delays follow tokio's clock, so that they take no time in `#[tokio::test(start_paused = true)]`, and
//!   [`Queue::settled`] waits until all work is done.
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
//! would be the label of metrics; without a provider there are none. `default/db` is processed without its delay when
//! the queue is drained. From then on a failure is final, since `retry` adds nothing to a queue that is shut down:
//!
//! ```
//! use std::time::Duration;
//!
//! use kube_workqueue::{Delayed, Queue};
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
//! queue.add_after("default/db".to_owned(), Duration::from_millis(5));
//!
//! queue.drain(Delayed::Queue).await;
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
//! delay, such as those of [`Queue::add_after`] and [`Queue::add_debounced`]. For other systems of metrics, implement
//! [`MetricsProvider`] and [`QueueMetrics`].
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
//!     queue.add_ref(key);
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
//! removed. This covers a key in any state: queued, delayed, and in process, in which case its worker may retry it once more. The
//! queue therefore has no method that removes a key; [`cancel_delay`](Queue::cancel_delay) saves the wake-up at the end of a delay,
//! and [`forget`](Queue::forget) resets the retries at once.
//!
//! ```
//! use std::collections::HashMap;
//! use std::sync::{Arc, Mutex};
//!
//! use kube_workqueue::Queue;
//!
//! /// Addresses by name of the device.
//! type Devices = Arc<Mutex<HashMap<String, String>>>;
//!
//! fn remove(devices: &Devices, queue: &Queue<String>, name: &String) {
//!     devices.lock().unwrap().remove(name);
//!     queue.cancel_delay(name);
//!     queue.forget(name);
//! }
//!
//! async fn work(devices: Devices, queue: Queue<String>) {
//!     while let Some(name) = queue.get().await {
//!         let address = devices.lock().unwrap().get(&*name).cloned();
//!         match address {
//!             Some(address) if !configure(&address).await => name.retry(),
//!             // Configured, or removed.
//!             Some(_) | None => name.forget(),
//!         }
//!     }
//! }
//! # async fn configure(address: &str) -> bool {
//! #     tokio::time::sleep(std::time::Duration::from_millis(1)).await;
//! #     address == "reachable"
//! # }
//! # #[tokio::main(flavor = "current_thread", start_paused = true)]
//! # async fn main() {
//! # let (queue, _timer) = Queue::<String>::builder().build();
//! # let names = ["queued", "delayed", "in process", "kept"].map(str::to_owned);
//! # let devices: Devices = Arc::default();
//! # let mut tasks = tokio::task::JoinSet::new();
//! # tasks.spawn(work(devices.clone(), queue.clone()));
//! # for name in &names {
//! #     let address = if name == "kept" { "reachable" } else { "unreachable" };
//! #     devices.lock().unwrap().insert(name.clone(), address.to_owned());
//! # }
//! # queue.add_rate_limited("delayed".to_owned());
//! # queue.add("in process".to_owned());
//! # tokio::task::yield_now().await;
//! # queue.add("queued".to_owned());
//! # queue.add("kept".to_owned());
//! # assert_eq!((queue.len(), queue.delayed()), (2, 1));
//! # for name in &names[..3] {
//! #     remove(&devices, &queue, name);
//! # }
//! # assert_eq!((queue.len(), queue.delayed()), (2, 0));
//! # queue.settled().await;
//! # assert_eq!(names.map(|it| queue.num_requeues(&it)), [0; 4]);
//! # assert_eq!(devices.lock().unwrap().len(), 1);
//! # }
//! ```
//!
//! In [the example with data](#items-with-data), a removal that only takes the data out of `pending` is undone if the key is in
//! process: its worker has the data, and puts them back when it fails. There, the removal puts a mark in the place of the data and
//! adds the key. `or_insert` keeps the mark, as it keeps newer data; the next `get` of the key removes it:
//!
//! ```
//! # use std::collections::HashMap;
//! # use std::sync::{Arc, Mutex};
//! #
//! # use kube_workqueue::Queue;
//! #
//! /// Data by key; `None` marks a removed key.
//! type Pending = Arc<Mutex<HashMap<String, Option<String>>>>;
//!
//! fn remove(pending: &Pending, queue: &Queue<String>, key: &str) {
//!     pending.lock().unwrap().insert(key.to_owned(), None);
//!     queue.add_ref(key);
//! }
//!
//! async fn work(pending: Pending, queue: Queue<String>) {
//!     while let Some(item) = queue.get().await {
//!         let taken = pending.lock().unwrap().remove(&*item);
//!         match taken {
//!             // An earlier `get` has taken the data or the mark.
//!             None => {}
//!             Some(None) => item.forget(),
//!             Some(Some(data)) if deliver(&data).await => item.forget(),
//!             Some(Some(data)) => {
//!                 pending.lock().unwrap().entry(item.clone()).or_insert(Some(data));
//!                 item.retry();
//!             }
//!         }
//!     }
//! }
//! # static ATTEMPTS: Mutex<u32> = Mutex::new(0);
//! # async fn deliver(_data: &str) -> bool {
//! #     *ATTEMPTS.lock().unwrap() += 1;
//! #     tokio::time::sleep(std::time::Duration::from_millis(1)).await;
//! #     false
//! # }
//! # #[tokio::main(flavor = "current_thread", start_paused = true)]
//! # async fn main() {
//! # let (queue, _timer) = Queue::<String>::builder().build();
//! # let pending = Pending::default();
//! # let mut tasks = tokio::task::JoinSet::new();
//! # tasks.spawn(work(pending.clone(), queue.clone()));
//! # pending.lock().unwrap().insert("receiver".to_owned(), Some("data".to_owned()));
//! # queue.add_ref("receiver");
//! # tokio::task::yield_now().await;
//! # assert_eq!(*ATTEMPTS.lock().unwrap(), 1);
//! # remove(&pending, &queue, "receiver");
//! # queue.settled().await;
//! # assert_eq!(*ATTEMPTS.lock().unwrap(), 1);
//! # assert!(pending.lock().unwrap().is_empty());
//! # assert_eq!(queue.num_requeues(&"receiver".to_owned()), 0);
//! # }
//! ```
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
//! | `TypedBucketRateLimiter` | [`BucketLimiter`], and [`TokenBucket`] without keys |
//! | `NewTypedMaxOfRateLimiter` | [`MaxOf`] |
//! | `wait.Jitter` of apimachinery | [`Jittered`] |
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
//! - [`add_after_about`](Queue::add_after_about), [`add_debounced`](Queue::add_debounced),
//!   [`cancel_delay`](Queue::cancel_delay), [`idle`](Queue::idle), [`settled`](Queue::settled) and
//!   [`Delayed::Queue`] have no counterpart upstream.
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
mod due;
mod get;
mod idle;
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
    core::Delayed,
    get::Get,
    idle::{Drain, Idle, Settled},
    item::Item,
    limiter::{
        BucketLimiter, FOREVER, ItemExponential, Jittered, MaxOf, RateLimiter, TokenBucket, default_controller_limiter,
        endpoint_slice_limiter,
    },
    metrics::{MetricsProvider, QueueMetrics},
    queue::Queue,
    timer::Timer,
};
