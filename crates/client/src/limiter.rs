//! The limiter of a client: by rate, or adaptive.

use std::sync::Arc;

use crate::limits::{AdaptiveLimits, Permit};
use crate::throttle::Throttle;
use crate::{Call, ClientMetrics, RequestPriority};

/// Limiter in front of the requests of a client, shared by its clones.
pub(crate) enum Limiter {
    /// Limits requests per second.
    Rate(Throttle),
    /// Limits requests in flight.
    Adaptive(AdaptiveLimits),
}

impl Limiter {
    /// Creates a limiter of `qps` requests per second and bursts of `burst`; unlimited if `qps` is zero or negative.
    pub(crate) fn rate(qps: f32, burst: u32) -> Self {
        Self::Rate(Throttle::new(qps, burst))
    }

    /// Creates an adaptive limiter that reports to `metrics`.
    pub(crate) fn adaptive(metrics: Arc<dyn ClientMetrics>) -> Self {
        Self::Adaptive(AdaptiveLimits::new(metrics))
    }

    pub(crate) fn is_adaptive(&self) -> bool {
        matches!(self, Self::Adaptive(_))
    }

    /// Waits until the request may be sent. The permit, if there is one, counts it while it is in flight.
    pub(crate) async fn wait(&self, call: &Call, priority: RequestPriority) -> Option<Permit<'_>> {
        match self {
            Self::Rate(throttle) => {
                throttle.wait().await;
                None
            }
            Self::Adaptive(limits) => limits.acquire(call, priority).await,
        }
    }
}
