//! Random additions to delays.

use std::fmt;
use std::time::{Duration, Instant};

use super::RateLimiter;

/// Rate limiter that adds a random part to each delay of another limiter, so that keys that failed together are not retried
/// together.
///
/// As `wait.Jitter` of Kubernetes' apimachinery, it returns `delay + random * max_factor * delay`. A delay can therefore exceed
/// the longest one of the inner limiter, but is never shorter than the inner one. A delay of zero stays zero.
///
/// client-go's default limiter, with each key's back-off up to 20 % longer:
///
/// ```
/// use std::time::Duration;
///
/// use kube_workqueue::{BucketLimiter, ItemExponential, Jittered, MaxOf, Queue};
///
/// let back_off = ItemExponential::new(Duration::from_millis(5), Duration::from_secs(1_000));
/// let back_off = Jittered::new(back_off, 0.2, rand::random::<f64>);
/// let limiter = MaxOf::new().and(back_off).and(BucketLimiter::new(10.0, 100));
/// let (queue, timer) = Queue::<String>::builder().limiter(limiter).build();
/// # drop((queue, timer));
/// ```
#[derive(Clone)]
pub struct Jittered<L, R> {
    limiter: L,
    max_factor: f64,
    random: R,
}

impl<L, R: FnMut() -> f64> Jittered<L, R> {
    /// Creates a limiter that lengthens each delay of `limiter` by at most `max_factor` times itself. `random` is called once
    /// for each delay and returns numbers from 0 to 1, uniformly; a generator with a fixed seed makes the delays repeatable.
    /// Other numbers count as the nearer of the two.
    ///
    /// A `max_factor` of zero or less, or that is no number, adds nothing; in `wait.Jitter` it counts as 1.0.
    pub fn new(limiter: L, max_factor: f64, random: R) -> Self {
        let max_factor = if max_factor > 0.0 { max_factor.min(f64::MAX) } else { 0.0 };
        Self { limiter, max_factor, random }
    }
}

impl<K, L: RateLimiter<K>, R: FnMut() -> f64 + Send> RateLimiter<K> for Jittered<L, R> {
    fn when(&mut self, key: &K, now: Instant) -> Duration {
        let delay = self.limiter.when(key, now);
        // `clamp` keeps NaN, `max` makes it 0.
        let random = (self.random)().clamp(0.0, 1.0).max(0.0);
        let extra = delay.as_secs_f64() * (random * self.max_factor);
        delay.saturating_add(Duration::try_from_secs_f64(extra).unwrap_or(Duration::MAX))
    }

    fn forget(&mut self, key: &K) {
        self.limiter.forget(key);
    }

    fn requeues(&self, key: &K) -> u32 {
        self.limiter.requeues(key)
    }
}

impl<L: fmt::Debug, R> fmt::Debug for Jittered<L, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { limiter, max_factor, random: _ } = self;
        f.debug_struct("Jittered").field("limiter", limiter).field("max_factor", max_factor).finish_non_exhaustive()
    }
}
