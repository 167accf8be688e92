//! Client-side rate limiter.

use std::sync::{Mutex, PoisonError};

use kube_workqueue::TokenBucket;
use tokio::time::{Instant, sleep};

/// Token bucket in front of the requests of a client, shared by its clones. `None` inside is unlimited.
#[derive(Debug)]
pub(crate) struct Throttle(Option<Mutex<TokenBucket>>);

impl Throttle {
    /// Creates a limiter of `qps` requests per second and bursts of `burst`; unlimited if `qps` is zero or negative.
    pub(crate) fn new(qps: f32, burst: u32) -> Self {
        Self((qps > 0.0).then(|| Mutex::new(TokenBucket::new(f64::from(qps), burst))))
    }

    /// Waits until the next request may be sent.
    pub(crate) async fn wait(&self) {
        let Some(bucket) = &self.0 else { return };
        let delay = bucket.lock().unwrap_or_else(PoisonError::into_inner).reserve(Instant::now().into_std());
        if !delay.is_zero() {
            sleep(delay).await;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::burst(20.0, 30, 30, 0)]
    #[case::steady(20.0, 30, 50, 1000)]
    #[case::unlimited(0.0, 1, 1000, 0)]
    #[case::negative(-1.0, 1, 1000, 0)]
    #[tokio::test(start_paused = true)]
    async fn requests_wait_for_the_token_bucket(
        #[case] qps: f32,
        #[case] burst: u32,
        #[case] requests: u32,
        #[case] millis: u64,
    ) {
        let throttle = Throttle::new(qps, burst);
        let start = Instant::now();
        for _ in 0..requests {
            throttle.wait().await;
        }
        let (elapsed, expect) = (start.elapsed(), Duration::from_millis(millis));
        assert!(elapsed >= expect && elapsed < expect + Duration::from_millis(100), "{elapsed:?}");
    }
}
