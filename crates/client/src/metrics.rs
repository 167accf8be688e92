//! Traits for client metrics.

use std::sync::Arc;
use std::time::Duration;

use http::{Method, StatusCode};

/// Factory of the [`ClientMetrics`] of clients.
pub trait ClientMetricsProvider: Send + Sync {
    /// Returns the metrics of a client for `host`, which includes the port if the server URL has one, as it does in a Pod.
    fn client(&self, host: &str) -> Arc<dyn ClientMetrics>;
}

/// Requests of a client with an adaptive limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LimitState {
    /// Maximum number of requests in flight.
    pub limit: usize,
    /// Number of requests in flight. It may exceed a limit that has decreased.
    pub in_flight: usize,
    /// Number of requests that wait.
    pub waiting: usize,
}

/// Receiver of the measurements of one client. The default implementation of each method does nothing.
pub trait ClientMetrics: Send + Sync {
    /// Records that an attempt has passed the client-side rate limiter after waiting for `waited`, which may be zero.
    fn rate_limited(&self, method: &Method, waited: Duration) {
        let _ = (method, waited);
    }

    /// Records the state of an adaptive limit, after each change. Must not block.
    fn limit_changed(&self, state: LimitState) {
        let _ = state;
    }

    /// Records that an attempt has received its response headers, or has failed without a response (`code` is `None`).
    /// `request_bytes` is the size of the request body in bytes. Called for watches too.
    fn responded(&self, method: &Method, code: Option<StatusCode>, request_bytes: usize) {
        let _ = (method, code, request_bytes);
    }

    /// Counts a retry after a response with `code`, or after a failure without a response (`None`).
    fn retried(&self, method: &Method, code: Option<StatusCode>) {
        let _ = (method, code);
    }

    /// Records that a request other than a watch has received its response headers or has failed. `duration` includes
    /// all attempts and the time spent in the rate limiter.
    fn completed(&self, method: &Method, duration: Duration) {
        let _ = (method, duration);
    }

    /// Records that the body of a successful response has been read; `size` is in bytes. Not called for streamed
    /// bodies.
    fn body_read(&self, method: &Method, size: usize) {
        let _ = (method, size);
    }
}

/// No metrics.
impl ClientMetrics for () {}
