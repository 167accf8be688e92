//! Pace of the controllers.

use std::time::Duration;

use serde::Serialize;

/// Batch period and rate limit of the controllers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Pace {
    /// Batch period for Pod changes, in milliseconds.
    pub(crate) batch_period_milliseconds: u64,
    /// Requests per second of each controller.
    pub(crate) qps: u32,
    /// Burst of requests of each controller.
    pub(crate) burst: u32,
}

impl Pace {
    pub(crate) fn batch_period(self) -> Duration {
        Duration::from_millis(self.batch_period_milliseconds)
    }
}
