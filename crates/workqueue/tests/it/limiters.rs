//! Rate limiters without a queue: counterparts of client-go's `default_rate_limiters_test.go`.
#![expect(clippy::disallowed_methods, reason = "needs a start time")]

use std::time::{Duration, Instant};

use kube_workqueue::{FOREVER, RetryLimiter, TokenBucket, default_controller_limiter, endpoint_slice_limiter};

const MS: Duration = Duration::from_millis(1);
const SEC: Duration = Duration::from_secs(1);

#[track_caller]
fn check(limiter: &mut RetryLimiter<&'static str>, key: &'static str, waits: &[Duration]) {
    let now = Instant::now();
    let got: Vec<_> = waits.iter().map(|_| limiter.when(&key, now)).collect();
    assert_eq!(got, waits, "of {key}");
}

fn retry(limiter: &mut RetryLimiter<&'static str>, key: &'static str, times: usize) {
    let now = Instant::now();
    for _ in 0..times {
        limiter.when(&key, now);
    }
}

// upstream: TestItemExponentialFailureRateLimiter
#[test]
fn exponential() {
    let mut limiter = RetryLimiter::new(MS, SEC);
    check(&mut limiter, "one", &[MS, 2 * MS, 4 * MS, 8 * MS, 16 * MS]);
    assert_eq!(limiter.requeues(&"one"), 5);
    check(&mut limiter, "two", &[MS, 2 * MS]);
    assert_eq!(limiter.requeues(&"two"), 2);
    limiter.forget(&"one");
    assert_eq!(limiter.requeues(&"one"), 0);
    check(&mut limiter, "one", &[MS]);
}

// upstream: TestItemExponentialFailureRateLimiterOverFlow
#[test]
fn exponential_does_not_overflow() {
    let (now, longest) = (Instant::now(), 1_000 * SEC);
    let mut limiter = RetryLimiter::new(MS, longest);
    retry(&mut limiter, "one", 5);
    check(&mut limiter, "one", &[32 * MS]);
    retry(&mut limiter, "overflow1", 1_000);
    check(&mut limiter, "overflow1", &[longest]);
    let mut limiter = RetryLimiter::new(60 * SEC, longest);
    retry(&mut limiter, "two", 2);
    check(&mut limiter, "two", &[240 * SEC]);
    retry(&mut limiter, "overflow2", 1_000);
    check(&mut limiter, "overflow2", &[longest]);
    let mut limiter = RetryLimiter::new(Duration::ZERO, longest);
    for _ in 0..1_000 {
        assert_eq!(limiter.when(&"zero", now), Duration::ZERO);
    }
}

// upstream: TestMaxOfRateLimiter
#[test]
fn default_limiters() {
    check(&mut default_controller_limiter(), "one", &[5 * MS, 10 * MS, 20 * MS]);
    check(&mut endpoint_slice_limiter(), "one", &[SEC, 2 * SEC, 4 * SEC]);
    let now = Instant::now();
    let mut limiter = endpoint_slice_limiter::<&str>();
    retry(&mut limiter, "busy", 100);
    check(&mut limiter, "busy", &[1_000 * SEC]);
    let waits = (0..20).map(|_| limiter.when(&"other", now)).collect::<Vec<_>>();
    assert_eq!(waits[..3], [SEC, 2 * SEC, 4 * SEC], "the per-key delay is longer than the bucket's");
    let mut limiter = default_controller_limiter::<u32>();
    let last = (0..110).map(|key| limiter.when(&key, now)).last().expect("110 keys");
    assert!(last.abs_diff(SEC) < MS, "the bucket delays the 110th key by {last:?}, not 1 s");
}

#[test]
fn bucket_lends_and_refills() {
    let start = Instant::now();
    let mut bucket = TokenBucket::new(2.0, 1);
    assert_eq!(bucket.reserve(start), Duration::ZERO);
    assert_eq!(bucket.reserve(start), 500 * MS);
    assert_eq!(bucket.reserve(start + 500 * MS), 500 * MS);
    assert_eq!(bucket.reserve(start + 10 * SEC), Duration::ZERO, "the bucket holds at most the burst");
    assert_eq!(bucket.reserve(start + 9 * SEC), 500 * MS, "a clock that goes back adds no tokens");
}

#[test]
fn buckets_at_the_edge() {
    let now = Instant::now();
    assert_eq!(TokenBucket::new(10.0, 0).reserve(now), FOREVER);
    let mut dry = TokenBucket::new(0.0, 1);
    assert_eq!(dry.reserve(now), Duration::ZERO);
    assert_eq!(dry.reserve(now + 1_000 * SEC), FOREVER);
    let mut unlimited = TokenBucket::new(f64::INFINITY, 0);
    assert_eq!(unlimited.reserve(now), Duration::ZERO);
    let mut slow = TokenBucket::new(f64::MIN_POSITIVE, 1);
    assert_eq!(slow.reserve(now), Duration::ZERO);
    assert_eq!(slow.reserve(now), FOREVER);
}
