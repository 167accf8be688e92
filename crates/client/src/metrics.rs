//! What clients report of their requests, and to whom.

use std::sync::Arc;
use std::time::Duration;

use http::{Method, StatusCode};

/// Makes the metrics of clients.
pub trait MetricsProvider: Send + Sync {
    /// The metrics of a client that talks to this host, with its port if the address has one.
    fn client(&self, host: &str) -> Arc<dyn ClientMetrics>;
}

/// What one client reports of its requests. Each method does nothing by default.
pub trait ClientMetrics: Send + Sync {
    /// A request waited so long for the client's own limit on requests; often not at all.
    fn admitted(&self, method: &Method, waited: Duration) {
        let _ = (method, waited);
    }

    /// One attempt came to an end: an answer, or (`None`) none. Watches count when they are answered. `sent` is the size of
    /// its body.
    fn answered(&self, method: &Method, code: Option<StatusCode>, sent: usize) {
        let _ = (method, code, sent);
    }

    /// It is tried again after such an answer.
    fn retried(&self, method: &Method, code: Option<StatusCode>) {
        let _ = (method, code);
    }

    /// A request that is no watch was answered, or given up, with all its attempts and all its waiting.
    fn finished(&self, method: &Method, took: Duration) {
        let _ = (method, took);
    }

    /// The whole body of an answer was read. Bodies that are read as they arrive are not counted.
    fn received(&self, method: &Method, size: usize) {
        let _ = (method, size);
    }
}

/// Reports nothing.
impl ClientMetrics for () {}
