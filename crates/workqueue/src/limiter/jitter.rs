//! Random additions to delays.

use std::time::{Duration, Instant};

use super::RateLimiter;

/// Rate limiter that adds a random part to each delay of another limiter, so that keys that failed together are not retried
/// together.
///
/// As `wait.Jitter` of Kubernetes' apimachinery, it returns `delay + random * max_factor * delay`, where `random` is uniform in
/// `0.0..1.0`. A delay can therefore exceed the longest one of the inner limiter, but is never shorter than the inner one. A
/// delay of zero stays zero.
///
/// The random numbers depend only on the seed and the number of calls. A program that is to be repeatable passes a fixed seed;
/// instances of a program that must not retry in step need different ones.
///
/// client-go's default limiter, with each key's back-off up to 20 % longer:
///
/// ```
/// use std::time::Duration;
///
/// use kube_workqueue::{BucketLimiter, ItemExponential, Jittered, MaxOf, Queue};
///
/// let back_off = ItemExponential::new(Duration::from_millis(5), Duration::from_secs(1_000));
/// let limiter = MaxOf::new().and(Jittered::new(back_off, 0.2, 42)).and(BucketLimiter::new(10.0, 100));
/// let (queue, timer) = Queue::<String>::builder().limiter(limiter).build();
/// # drop((queue, timer));
/// ```
#[derive(Debug, Clone)]
pub struct Jittered<L> {
    limiter: L,
    max_factor: f64,
    random: SplitMix64,
}

impl<L> Jittered<L> {
    /// Creates a limiter that lengthens each delay of `limiter` by at most `max_factor` times itself.
    ///
    /// A `max_factor` of zero or less, or that is no number, adds nothing; in `wait.Jitter` it counts as 1.0.
    pub fn new(limiter: L, max_factor: f64, seed: u64) -> Self {
        let max_factor = if max_factor > 0.0 { max_factor.min(f64::MAX) } else { 0.0 };
        Self { limiter, max_factor, random: SplitMix64(seed) }
    }
}

impl<K, L: RateLimiter<K>> RateLimiter<K> for Jittered<L> {
    fn when(&mut self, key: &K, now: Instant) -> Duration {
        let delay = self.limiter.when(key, now);
        let extra = delay.as_secs_f64() * (self.random.next_unit() * self.max_factor);
        delay.saturating_add(Duration::try_from_secs_f64(extra).unwrap_or(Duration::MAX))
    }

    fn forget(&mut self, key: &K) {
        self.limiter.forget(key);
    }

    fn requeues(&self, key: &K) -> u32 {
        self.limiter.requeues(key)
    }
}

/// The generator of Steele, Lea and Flood, "Fast splittable pseudorandom number generators" (2014). Written here because a
/// seed must give the same delays after updates of dependencies, and nothing else in the crate needs random numbers.
#[derive(Debug, Clone)]
struct SplitMix64(u64);

impl SplitMix64 {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// Returns a number in `0.0..1.0`.
    fn next_unit(&mut self) -> f64 {
        // 52 random bits as the fraction of a number in `1.0..2.0`.
        f64::from_bits(1.0_f64.to_bits() | self.next() >> 12) - 1.0
    }
}

#[cfg(test)]
mod tests {
    use super::SplitMix64;

    #[test]
    fn numbers_are_those_of_the_reference_implementation() {
        let mut random = SplitMix64(1_234_567);
        let expect = [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423_u64];
        assert_eq!([random.next(), random.next(), random.next()], expect);
    }
}
