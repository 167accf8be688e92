//! A token bucket with reservations.

use std::time::{Duration, Instant};

/// Delay returned by a [`TokenBucket`] that never gains a token: about 292 years.
pub const FOREVER: Duration = Duration::from_nanos(i64::MAX as u64);

/// A token bucket with reservations, as `Reserve().Delay()` of Go's `golang.org/x/time/rate`: taking a token always
/// succeeds and returns the delay until it is available.
///
/// In the [limiter](crate::RetryLimiter) of a queue, it limits the retries of all keys together, and no other adds.
///
/// The bucket starts full. With an infinite rate the delay is always zero. With a rate of zero or less, the delay is
/// [`FOREVER`] once the burst is used up; with a burst of zero and a finite rate, it is [`FOREVER`] from the start.
///
/// ```
/// use std::time::{Duration, Instant};
///
/// use kube_workqueue::TokenBucket;
///
/// let now = Instant::now();
/// let mut bucket = TokenBucket::new(10.0, 2);
/// assert_eq!(bucket.reserve(now), Duration::ZERO);
/// assert_eq!(bucket.reserve(now), Duration::ZERO);
/// assert_eq!(bucket.reserve(now), Duration::from_millis(100));
/// assert_eq!(bucket.reserve(now), Duration::from_millis(200));
/// assert_eq!(bucket.reserve(now + Duration::from_secs(1)), Duration::ZERO);
/// ```
///
/// # Limit of the processing rate
///
/// No rate limiter of a queue delays workers. Workers that share a bucket process at most `rate` keys per second together, here
/// 500 per second without bursts:
///
/// ```
/// use std::sync::{Arc, Mutex};
///
/// use kube_workqueue::{Queue, TokenBucket};
/// use tokio::task::JoinSet;
/// use tokio::time::{Instant, sleep};
///
/// # async fn poll(_device: &u32) {}
/// async fn work(queue: Queue<u32>, bucket: Arc<Mutex<TokenBucket>>) {
///     while let Some(item) = queue.get().await {
///         // tokio's clock, so that tests can pause it.
///         let wait = bucket.lock().unwrap().reserve(Instant::now().into_std());
///         sleep(wait).await;
///         poll(&item).await;
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread", start_paused = true)]
/// # async fn main() {
/// # let start = Instant::now();
/// let (queue, timer) = Queue::builder().build();
/// let bucket = Arc::new(Mutex::new(TokenBucket::new(500.0, 1)));
/// let mut tasks = JoinSet::new();
/// tasks.spawn(timer.run());
/// for _ in 0..8 {
///     tasks.spawn(work(queue.clone(), Arc::clone(&bucket)));
/// }
/// for device in 0..1_000 {
///     queue.add(device);
/// }
/// queue.shut_down();
/// tasks.join_all().await;
/// # let elapsed = start.elapsed().as_millis();
/// # assert!((1_998..=2_000).contains(&elapsed), "{elapsed} ms");
/// # }
/// ```
///
/// A worker that waits for its token has its key in process already: adds of this key meanwhile are processed afterwards.
#[derive(Debug, Clone)]
pub struct TokenBucket {
    rate: f64,
    burst: u32,
    /// Negative if tokens of the future are reserved.
    tokens: f64,
    /// Time at which `tokens` was computed.
    last: Option<Instant>,
}

impl TokenBucket {
    /// Creates a full bucket that holds at most `burst` tokens and gains `rate` tokens per second.
    pub fn new(rate: f64, burst: u32) -> Self {
        Self { rate, burst, tokens: f64::from(burst), last: None }
    }

    /// Takes one token and returns the delay from `now` until it is available.
    ///
    /// Code on tokio passes `tokio::time::Instant::now().into_std()`, which also follows time that a test pauses;
    /// `std::time::Instant::now()` does not. A `now` before that of an earlier call is treated as that earlier time: a clock that
    /// goes back adds no tokens.
    pub fn reserve(&mut self, now: Instant) -> Duration {
        if self.rate == f64::INFINITY {
            return Duration::ZERO;
        }
        if self.burst == 0 {
            return FOREVER;
        }
        let last = self.last.unwrap_or(now);
        let elapsed = now.saturating_duration_since(last);
        let gained = if self.rate > 0.0 { elapsed.as_secs_f64() * self.rate } else { 0.0 };
        let tokens = (self.tokens + gained).min(f64::from(self.burst)) - 1.0;
        let wait = if tokens < 0.0 { self.time_for(-tokens) } else { Duration::ZERO };
        if wait < FOREVER {
            self.tokens = tokens;
            self.last = Some(now.max(last));
        }
        wait
    }

    fn time_for(&self, tokens: f64) -> Duration {
        if self.rate > 0.0 {
            Duration::try_from_secs_f64(tokens / self.rate).map_or(FOREVER, |wait| wait.min(FOREVER))
        } else {
            FOREVER
        }
    }
}
