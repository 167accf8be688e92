//! The limiter of a client: by rate, or adaptive.

use std::sync::{Arc, Mutex, PoisonError};

use kube_workqueue::TokenBucket;
use tokio::time::{Instant, sleep};

use crate::limits::{AdaptiveLimits, Permit};
use crate::{Call, ClientMetrics, ClientOptions, RequestPriority};

/// Limiter in front of the requests of a client, shared by its clones.
pub(crate) enum Limiter {
    Unlimited,
    /// Limits requests per second.
    Rate(Mutex<TokenBucket>),
    /// Limits requests in flight.
    Adaptive(AdaptiveLimits),
}

impl Limiter {
    /// Creates the limiter of the options. An adaptive one reports to `metrics`.
    pub(crate) fn new(options: &ClientOptions, metrics: Arc<dyn ClientMetrics>) -> Self {
        match *options {
            ClientOptions { adaptive: true, .. } => Self::Adaptive(AdaptiveLimits::new(metrics)),
            ClientOptions { qps, burst, .. } if qps > 0.0 => {
                Self::Rate(Mutex::new(TokenBucket::new(f64::from(qps), burst)))
            }
            _ => Self::Unlimited,
        }
    }

    pub(crate) fn is_adaptive(&self) -> bool {
        matches!(self, Self::Adaptive(_))
    }

    /// Waits until the request may be sent. The permit, if there is one, counts it while it is in flight.
    pub(crate) async fn wait(&self, call: &Call, priority: RequestPriority) -> Option<Permit<'_>> {
        match self {
            Self::Unlimited => None,
            Self::Rate(bucket) => {
                let now = Instant::now().into_std();
                let delay = bucket.lock().unwrap_or_else(PoisonError::into_inner).reserve(now);
                if !delay.is_zero() {
                    sleep(delay).await;
                }
                None
            }
            Self::Adaptive(limits) => limits.acquire(call, priority).await,
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
        let limiter = Limiter::new(&ClientOptions { qps, burst, ..ClientOptions::default() }, Arc::new(()));
        let call = Call::new("get", "pods", "shop", "web");
        let start = Instant::now();
        for _ in 0..requests {
            assert!(limiter.wait(&call, RequestPriority::Other).await.is_none());
        }
        let (elapsed, expect) = (start.elapsed(), Duration::from_millis(millis));
        assert!(elapsed >= expect && elapsed < expect + Duration::from_millis(100), "{elapsed:?}");
    }
}
