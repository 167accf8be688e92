//! The limiter of a client: by rate, or adaptive.

#[cfg(feature = "rate-limits")]
mod rate;

use std::sync::Arc;

#[cfg(feature = "rate-limits")]
use self::rate::RateLimit;
use crate::limits::{AdaptiveLimits, Permit};
use crate::{Call, ClientMetrics, ClientOptions, RequestPriority};

/// Limiter in front of the requests of a client, shared by its clones.
pub(crate) enum Limiter {
    Unlimited,
    #[cfg(feature = "rate-limits")]
    Rate(RateLimit),
    /// Limits requests in flight.
    Adaptive(Box<AdaptiveLimits>),
}

impl Limiter {
    /// Creates the limiter of the options. An adaptive one reports to `metrics`.
    pub(crate) fn new(options: &ClientOptions, metrics: Arc<dyn ClientMetrics>) -> Self {
        match *options {
            ClientOptions { adaptive: true, .. } => Self::Adaptive(Box::new(AdaptiveLimits::new(metrics))),
            #[cfg(feature = "rate-limits")]
            ClientOptions { qps, burst, .. } if qps > 0.0 => Self::Rate(RateLimit::new(qps, burst)),
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
            #[cfg(feature = "rate-limits")]
            Self::Rate(limit) => {
                limit.wait().await;
                None
            }
            Self::Adaptive(limits) => limits.acquire(call, priority).await,
        }
    }
}

#[cfg(all(test, feature = "rate-limits"))]
mod tests {
    use std::time::Duration;

    use rstest::rstest;
    use tokio::time::Instant;

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
