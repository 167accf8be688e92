//! A token bucket that lends.

use std::time::{Duration, Instant};

use super::RateLimiter;

/// The answer of a bucket that will never have a token: some 292 years.
pub const FOREVER: Duration = Duration::from_nanos(i64::MAX as u64);

/// A token bucket that lends from the future: a reservation always succeeds, and says how long to wait until its token
/// is there. It behaves as `Reserve().Delay()` of Go's `golang.org/x/time/rate`.
///
/// The bucket starts full. A rate of infinity never waits; a rate of zero (or less) hands out the burst and then waits
/// [`FOREVER`], and so does, from the start, a burst of zero.
///
/// ```
/// # use std::time::{Duration, Instant};
/// # use kube_workqueue::TokenBucket;
/// # #[allow(clippy::disallowed_methods)]
/// # let now = Instant::now();
/// let mut bucket = TokenBucket::new(10.0, 2);
/// assert_eq!(bucket.reserve(now), Duration::ZERO);
/// assert_eq!(bucket.reserve(now), Duration::ZERO);
/// assert_eq!(bucket.reserve(now), Duration::from_millis(100));
/// assert_eq!(bucket.reserve(now), Duration::from_millis(200));
/// ```
#[derive(Debug, Clone)]
pub struct TokenBucket {
    rate: f64,
    burst: u32,
    /// Negative when tokens are lent.
    tokens: f64,
    /// When `tokens` was right.
    last: Option<Instant>,
}

impl TokenBucket {
    /// A full bucket of `burst` tokens that gains `rate` tokens a second.
    pub fn new(rate: f64, burst: u32) -> Self {
        Self { rate, burst, tokens: f64::from(burst), last: None }
    }

    /// Takes one token and says how long from `now` until it is there.
    ///
    /// A `now` earlier than the last one counts as the last one: a clock that goes back mints no tokens.
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

/// One [`TokenBucket`] for all keys together. It knows no key, so it can forget none.
#[derive(Debug, Clone)]
pub struct BucketLimiter {
    bucket: TokenBucket,
}

impl BucketLimiter {
    /// At most `rate` keys a second in the long run and `burst` at once.
    pub fn new(rate: f64, burst: u32) -> Self {
        Self { bucket: TokenBucket::new(rate, burst) }
    }
}

impl<K> RateLimiter<K> for BucketLimiter {
    fn when(&mut self, _key: &K, now: Instant) -> Duration {
        self.bucket.reserve(now)
    }

    fn forget(&mut self, _key: &K) {}

    fn requeues(&self, _key: &K) -> u32 {
        0
    }
}
