//! Workers over a queue.

use std::fmt::Display;
use std::hash::Hash;
use std::sync::Arc;
use std::time::Duration;

use kube_workqueue::{Queue, Timer};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use crate::ControllerMetrics;

/// What becomes of a key whose sync failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RetryPolicy {
    /// How often a key is put back with the delay of the queue's rate limiter.
    pub max_retries: u32,
    /// The delay after that. Upstream drops the key; here it is retried for as long as it fails (EC-36), since nothing
    /// else would bring it back.
    pub slowest: Duration,
}

impl Default for RetryPolicy {
    /// 15 retries as upstream, then one every 1,000 seconds: the cap of its rate limiters.
    fn default() -> Self {
        RetryPolicy { max_retries: 15, slowest: Duration::from_secs(1_000) }
    }
}

/// What becomes of a key whose sync did not fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// It is in its desired state: its retries are forgotten.
    Done,
    /// It is in its desired state, and is to be looked at once more after this delay.
    Again(Duration),
    /// It could not be judged yet, and comes back after this delay unless something wakes it sooner. Its retries are
    /// neither counted nor forgotten.
    After(Duration),
}

/// Takes keys from a queue and syncs them.
pub struct Workers<K> {
    /// Names the controller in logs.
    pub name: &'static str,
    /// Where keys come from.
    pub queue: Queue<K>,
    /// The task of the queue that adds delayed keys.
    pub timer: Timer<K>,
    /// How many keys are synced at once; at least 1.
    pub count: usize,
    /// What becomes of a key whose sync failed.
    pub retry: RetryPolicy,
    /// Who is told of keys that are out of retries.
    pub metrics: Arc<dyn ControllerMetrics>,
}

impl<K> Workers<K>
where
    K: Clone + Eq + Hash + Display + Send + Sync + 'static,
{
    /// Syncs keys until `stop`, then shuts the queue down and returns once the syncs under way have ended. Keys still
    /// waiting are left.
    ///
    /// # Panics
    ///
    /// When a sync panics, so that its supervisor ends the process.
    pub async fn run<S, F, E>(self, stop: CancellationToken, sync: S)
    where
        S: Fn(K) -> F + Send + Sync + 'static,
        F: Future<Output = Result<Next, E>> + Send + 'static,
        E: std::error::Error + Send + 'static,
    {
        let Workers { name, queue, timer, count, retry, metrics } = self;
        let sync = Arc::new(sync);
        let mut tasks = JoinSet::new();
        tasks.spawn(timer.run());
        for _ in 0..count.max(1) {
            let failed = Failed { controller: name, queue: queue.clone(), retry, metrics: Arc::clone(&metrics) };
            tasks.spawn(work(failed, stop.clone(), Arc::clone(&sync)));
        }

        let stopped = {
            let queue = queue.clone();
            async move {
                stop.cancelled().await;
                queue.shut_down();
            }
        };
        tasks.spawn(stopped);
        while let Some(ended) = tasks.join_next().await {
            if let Err(error) = ended
                && error.is_panic()
            {
                std::panic::resume_unwind(error.into_panic());
            }
        }
    }
}

async fn work<K, S, F, E>(failed: Failed<K>, stop: CancellationToken, sync: Arc<S>)
where
    K: Clone + Eq + Hash + Display + Send + 'static,
    S: Fn(K) -> F,
    F: Future<Output = Result<Next, E>>,
    E: std::error::Error,
{
    let queue = &failed.queue;
    loop {
        let item = tokio::select! {
            biased;
            () = stop.cancelled() => return,
            item = queue.get() => item,
        };
        let Some(item) = item else { return };
        let key = item.key().clone();
        match sync(key.clone()).await {
            Ok(Next::Done) => queue.forget(&key),
            Ok(Next::Again(delay)) => {
                queue.forget(&key);
                queue.add_after_about(key, delay);
            }
            Ok(Next::After(delay)) => queue.add_after(key, delay),
            Err(error) => failed.put_back(key, &error),
        }
    }
}

/// What becomes of keys whose sync failed.
struct Failed<K> {
    controller: &'static str,
    queue: Queue<K>,
    retry: RetryPolicy,
    metrics: Arc<dyn ControllerMetrics>,
}

impl<K: Clone + Eq + Hash + Display + Send + 'static> Failed<K> {
    fn put_back(&self, key: K, error: &dyn std::error::Error) {
        let controller = self.controller;
        if self.queue.num_requeues(&key) < self.retry.max_retries {
            tracing::warn!(controller, %key, err = %chain(error), "Error syncing, retrying");
            self.queue.add_rate_limited(key);
        } else {
            tracing::error!(
                controller, %key, err = %chain(error), "Retry budget exceeded, retrying at the slowest rate"
            );
            self.metrics.out_of_retries();
            self.queue.add_after(key, self.retry.slowest);
        }
    }
}

/// An error with its causes, for one line of a log.
fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let inner = error.to_string();
        // Some errors print their cause themselves.
        if !text.ends_with(&inner) {
            text.push_str(": ");
            text.push_str(&inner);
        }
        cause = error.source();
    }
    text
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;
    use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

    use kube_workqueue::ItemExponential;
    use tokio::time::Instant;

    use super::*;

    #[derive(Debug, thiserror::Error)]
    #[error("not yet")]
    struct NotYet;

    #[derive(Default)]
    struct Exhausted(AtomicUsize);

    impl ControllerMetrics for Exhausted {
        fn out_of_retries(&self) {
            self.0.fetch_add(1, Relaxed);
        }
    }

    /// Runs workers over one key whose sync fails `failures` times, and returns when each try happened, in milliseconds,
    /// and how often the key was out of retries.
    async fn tries(failures: usize, retry: RetryPolicy) -> (Vec<u128>, usize) {
        let metrics = Arc::new(Exhausted::default());
        let limiter = ItemExponential::new(Duration::from_millis(10), Duration::from_secs(1));
        let (queue, timer) = Queue::builder().limiter(limiter).build();
        queue.add("key".to_owned());
        let stop = CancellationToken::new();
        let start = Instant::now();
        let times = Arc::new(Mutex::new(Vec::new()));
        let sync = {
            let (times, stop) = (Arc::clone(&times), stop.clone());
            move |_| {
                let mut times = times.lock().unwrap();
                times.push(start.elapsed().as_millis());
                let result = if times.len() > failures { Ok(Next::Done) } else { Err(NotYet) };
                if result.is_ok() {
                    stop.cancel();
                }
                async move { result }
            }
        };
        Workers { name: "test", queue, timer, count: 2, retry, metrics: metrics.clone() }.run(stop, sync).await;
        (times.lock().unwrap().clone(), metrics.0.load(Relaxed))
    }

    #[tokio::test(start_paused = true)]
    async fn a_failed_key_comes_back_with_growing_delays() {
        let (times, exhausted) = tries(3, RetryPolicy::default()).await;
        assert_eq!((times.len(), exhausted), (4, 0));
        let delays: Vec<u128> = times.windows(2).map(|pair| pair[1] - pair[0]).collect();
        for (delay, expected) in delays.iter().zip([10, 20, 40]) {
            // Timers of the runtime have a resolution of a millisecond.
            assert!(delay.abs_diff(expected) <= 2, "{delays:?}");
        }
    }

    // EC-36: upstream would never try again.
    #[tokio::test(start_paused = true)]
    async fn a_key_out_of_retries_is_tried_at_the_slowest_rate() {
        let retry = RetryPolicy { max_retries: 1, slowest: Duration::from_secs(60) };
        let (times, exhausted) = tries(3, retry).await;
        let delays: Vec<u128> = times.windows(2).map(|pair| (pair[1] - pair[0]) / 1_000).collect();
        assert_eq!(delays, [0, 60, 60]);
        assert_eq!(exhausted, 2);
    }

    #[tokio::test(start_paused = true)]
    #[should_panic(expected = "broken")]
    async fn a_panic_in_a_sync_reaches_the_caller() {
        let (queue, timer) = Queue::builder().limiter(ItemExponential::new(Duration::ZERO, Duration::ZERO)).build();
        queue.add("key".to_owned());
        let retry = RetryPolicy::default();
        let workers = Workers { name: "test", queue, timer, count: 1, retry, metrics: Arc::new(()) };
        let sync = |_: String| async { if true { panic!("broken") } else { Ok::<Next, NotYet>(Next::Done) } };
        workers.run(CancellationToken::new(), sync).await;
    }
}
