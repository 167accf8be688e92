//! Traits for client metrics.

use std::sync::Arc;
use std::time::Duration;

use http::{Method, StatusCode};

/// Factory of the metrics of clients.
pub trait MetricsProvider: Send + Sync {
    /// Returns the metrics of a client for `host`, which includes the port if the server URL has one.
    fn client(&self, host: &str) -> Arc<dyn ClientMetrics>;
}

/// Metrics of one client. The default implementation of each method does nothing.
pub trait ClientMetrics: Send + Sync {
    /// An attempt has passed the client-side rate limiter after waiting for `waited`, which may be zero.
    fn admitted(&self, method: &Method, waited: Duration) {
        let _ = (method, waited);
    }

    /// An attempt has received its response headers, or has failed without a response (`code` is `None`). `sent` is the
    /// size of the request body in bytes. Called for watches too.
    fn answered(&self, method: &Method, code: Option<StatusCode>, sent: usize) {
        let _ = (method, code, sent);
    }

    /// A request is retried after a response with `code`, or after a failure without a response (`None`).
    fn retried(&self, method: &Method, code: Option<StatusCode>) {
        let _ = (method, code);
    }

    /// A request other than a watch has received its response headers or has failed. `took` includes all attempts and
    /// the time spent in the rate limiter.
    fn finished(&self, method: &Method, took: Duration) {
        let _ = (method, took);
    }

    /// The body of a successful response has been read; `size` is in bytes. Not called for streamed bodies.
    fn received(&self, method: &Method, size: usize) {
        let _ = (method, size);
    }
}

/// No metrics.
impl ClientMetrics for () {}
