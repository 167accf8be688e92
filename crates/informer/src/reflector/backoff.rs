//! How long to wait after trouble.

use std::time::Duration;

use tokio::time::Instant;

/// How long an informer waits after trouble before it asks the server again. The default is client-go's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BackoffPolicy {
    /// The first wait; each further one is twice as long. 800 ms.
    pub first: Duration,
    /// The longest wait. 30 s.
    pub longest: Duration,
    /// After this long without trouble, the next trouble is a first one. 2 min.
    pub quiet: Duration,
}

impl Default for BackoffPolicy {
    fn default() -> Self {
        Self { first: Duration::from_millis(800), longest: Duration::from_secs(30), quiet: Duration::from_secs(120) }
    }
}

/// The waits of one reflector, each stretched at random to up to twice its length.
#[derive(Debug)]
pub(super) struct Backoff {
    policy: BackoffPolicy,
    next: Duration,
    last: Option<Instant>,
}

impl Backoff {
    pub(super) fn new(policy: BackoffPolicy) -> Self {
        Self { policy, next: policy.first, last: None }
    }

    /// The next wait; `jitter` is drawn from `0.0..1.0`.
    pub(super) fn next(&mut self, now: Instant, jitter: f64) -> Duration {
        if self.last.is_some_and(|last| now.saturating_duration_since(last) > self.policy.quiet) {
            self.next = self.policy.first;
        }
        self.last = Some(now);
        let wait = self.next;
        self.next = (wait * 2).min(self.policy.longest);
        wait.mul_f64(1.0 + jitter.clamp(0.0, 1.0))
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    // client-go: the constants of newBackoffManager (tools/cache/reflector.go)
    #[rstest]
    #[case::doubles(&[0, 1, 1, 1, 1, 1, 1], 0.0, &[800, 1600, 3200, 6400, 12_800, 25_600, 30_000])]
    #[case::stretched(&[0, 1], 0.5, &[1200, 2400])]
    #[case::quiet(&[0, 60, 120, 121], 0.0, &[800, 1600, 3200, 800])]
    #[tokio::test(start_paused = true)]
    async fn waits(#[case] pauses: &[u64], #[case] jitter: f64, #[case] expect: &[u64]) {
        let (mut backoff, mut now) = (Backoff::new(BackoffPolicy::default()), Instant::now());
        let mut got = Vec::new();
        for pause in pauses {
            now += Duration::from_secs(*pause);
            got.push(u64::try_from(backoff.next(now, jitter).as_millis()).unwrap());
        }
        assert_eq!(got, expect);
    }
}
