//! Pace of the controllers.

use std::time::Duration;

use endpoint_controller_manager::Batching;
use serde::{Serialize, Serializer};

/// Batching and rate limit of the controllers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Pace {
    /// Batch period for Pod changes, in milliseconds.
    pub(crate) batch_period_milliseconds: u64,
    /// Value of `--updates-batching`.
    #[serde(serialize_with = "text")]
    pub(crate) batching: Batching,
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

    /// Returns the longest time for which a change waits for further ones.
    pub(crate) fn longest_delay(self) -> Duration {
        let adaptive = match self.batching {
            Batching::None => Duration::ZERO,
            Batching::Adaptive => Duration::from_secs(1),
        };
        self.batch_period().max(adaptive)
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature that serde calls")]
fn text<S: Serializer>(batching: &Batching, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(batching)
}
