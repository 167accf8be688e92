//! Back-off after failed requests.

use std::time::Duration;

use tokio::time::Instant;

/// Back-off of an informer after failed requests, except for failures of the server, which are retried within 2 s. The
/// default is client-go's.
///
/// Each interval is multiplied by a random factor from 1 to 2.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BackoffPolicy {
    /// First interval; each further one is twice as long. Default: 800 ms.
    pub initial: Duration,
    /// Maximum interval, also of the retries after failures of the server. Default: 30 s.
    pub max: Duration,
    /// Time without a failure after which the next interval is `initial` again. Default: 2 min.
    pub reset_after: Duration,
}

impl Default for BackoffPolicy {
    fn default() -> Self {
        Self {
            initial: Duration::from_millis(800),
            max: Duration::from_secs(30),
            reset_after: Duration::from_secs(120),
        }
    }
}

/// Back-off state of one reflector.
#[derive(Debug)]
pub(super) struct Backoff {
    policy: BackoffPolicy,
    next: Duration,
    last: Option<Instant>,
}

impl Backoff {
    pub(super) fn new(policy: BackoffPolicy) -> Self {
        Self { policy, next: policy.initial, last: None }
    }

    pub(super) fn max(&self) -> Duration {
        self.policy.max
    }

    /// Returns the next wait: the interval times `1.0 + jitter`. `jitter` is a random number in `0.0..1.0`.
    pub(super) fn next(&mut self, now: Instant, jitter: f64) -> Duration {
        if self.last.is_some_and(|last| now.saturating_duration_since(last) > self.policy.reset_after) {
            self.next = self.policy.initial;
        }
        self.last = Some(now);
        let wait = self.next;
        self.next = (wait * 2).min(self.policy.max);
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
    #[case::jitter(&[0, 1], 0.5, &[1200, 2400])]
    #[case::reset(&[0, 60, 120, 121], 0.0, &[800, 1600, 3200, 800])]
    #[tokio::test(start_paused = true)]
    async fn intervals_double_up_to_the_maximum_and_reset(
        #[case] pauses: &[u64],
        #[case] jitter: f64,
        #[case] expect: &[u64],
    ) {
        let (mut backoff, mut now) = (Backoff::new(BackoffPolicy::default()), Instant::now());
        let mut got = Vec::new();
        for pause in pauses {
            now += Duration::from_secs(*pause);
            got.push(u64::try_from(backoff.next(now, jitter).as_millis()).unwrap());
        }
        assert_eq!(got, expect);
    }
}
