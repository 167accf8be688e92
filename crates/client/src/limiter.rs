//! The limiter of a client: by rate, or adaptive.

use std::sync::Arc;

use http::Response;

use crate::limits::{self, AdaptiveLimits};
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

    /// Waits until the request may be sent.
    pub(crate) async fn wait(&self, call: &Call, priority: RequestPriority) -> Permit<'_> {
        match self {
            Self::Rate(throttle) => {
                throttle.wait().await;
                Permit(None)
            }
            Self::Adaptive(limits) => Permit(limits.acquire(call, priority).await),
        }
    }
}

/// Permission to send one attempt. Dropping it without a response ends the attempt.
#[derive(Default)]
pub(crate) struct Permit<'a>(Option<limits::Permit<'a>>);

impl Permit<'_> {
    /// Ends the attempt with its response, `None` for a failure.
    ///
    /// Returns whether the limiter delays the next attempt after a 429 with `Retry-After`.
    pub(crate) fn finish<B>(self, response: Option<&Response<B>>) -> bool {
        self.0.is_some_and(|permit| permit.finish(response.map(|it| (it.status(), it.headers()))))
    }
}
