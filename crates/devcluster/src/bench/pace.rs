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
    /// Whether the controllers limit requests in flight instead (`--kube-api-qps=auto`).
    #[serde(skip_serializing_if = "is_false")]
    pub(crate) adaptive: bool,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature that serde requires")]
fn is_false(value: &bool) -> bool {
    !value
}

impl Pace {
    /// Returns the value of `--kube-api-qps`.
    pub(crate) fn qps(self) -> String {
        if self.adaptive { "auto".to_owned() } else { self.qps.to_string() }
    }

    pub(crate) fn batch_period(self) -> Duration {
        Duration::from_millis(self.batch_period_milliseconds)
    }
}
