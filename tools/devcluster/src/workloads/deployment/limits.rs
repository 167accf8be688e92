//! Limits of a rolling update: how many Pods there may be, and how many must be available.

use k8s_openapi::apimachinery::pkg::util::intstr::IntOrString;

use crate::workloads::objects::DeploymentSpec;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Limits {
    /// Number of replicas in the spec.
    pub(super) replicas: i32,
    /// Maximum number of Pods.
    pub(super) most: i32,
    /// Minimum number of available Pods.
    pub(super) least_available: i32,
}

impl Limits {
    pub(super) fn of(spec: &DeploymentSpec) -> Self {
        let replicas = spec.replicas.unwrap_or(1);
        let rolling = spec.strategy.as_ref().and_then(|strategy| strategy.rolling_update.clone()).unwrap_or_default();
        let surge = resolve(rolling.max_surge.as_ref(), replicas, 99);
        let unavailable = resolve(rolling.max_unavailable.as_ref(), replicas, 0);
        // As upstream: both cannot be 0, or nothing would ever change. Small percentages are rounded down to it.
        let unavailable = if surge == 0 && unavailable == 0 { 1 } else { unavailable };
        Self { replicas, most: replicas + surge, least_available: (replicas - unavailable).max(0) }
    }
}

/// Returns a number or percentage of the replicas; 25 % if it is absent. `rest` is added before the division by 100: 0 rounds
/// down, 99 up.
fn resolve(value: Option<&IntOrString>, replicas: i32, rest: i64) -> i32 {
    let percent = match value {
        Some(IntOrString::Int(number)) => return *number,
        Some(IntOrString::String(text)) => text.trim_end_matches('%').parse().unwrap_or_default(),
        None => 25_i64,
    };
    i32::try_from((i64::from(replicas) * percent + rest) / 100).unwrap_or(i32::MAX)
}
