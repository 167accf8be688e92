//! Limits of a rollout: how many Pods there may be, and how many must be available.

use k8s_openapi::{api::apps::v1::DeploymentSpec, apimachinery::pkg::util::intstr::IntOrString};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Limits {
    /// Number of replicas in the spec.
    pub(super) replicas: i32,
    /// Maximum number of Pods above that number.
    pub(super) surge: i32,
    /// Maximum number of those replicas that are not available.
    pub(super) unavailable: i32,
}

impl Limits {
    pub(super) fn of(spec: &DeploymentSpec) -> Self {
        let replicas = spec.replicas.unwrap_or(1);
        if !is_rolling(spec) {
            return Self { replicas, surge: 0, unavailable: 0 };
        }
        let rolling = spec.strategy.as_ref().and_then(|strategy| strategy.rolling_update.clone()).unwrap_or_default();
        let surge = resolve(rolling.max_surge.as_ref(), replicas, Rounding::Up);
        let unavailable = resolve(rolling.max_unavailable.as_ref(), replicas, Rounding::Down);
        // As upstream: both cannot be 0, or nothing would ever change. Small percentages are rounded down to it.
        let unavailable = if surge == 0 && unavailable == 0 { 1 } else { unavailable };
        Self { replicas, surge, unavailable: unavailable.min(replicas) }
    }

    /// Maximum number of Pods.
    pub(super) fn most(self) -> i32 {
        self.replicas + self.surge
    }

    /// Minimum number of available Pods.
    pub(super) fn least_available(self) -> i32 {
        self.replicas - self.unavailable
    }
}

/// Returns whether the Deployment replaces its Pods gradually.
pub(super) fn is_rolling(spec: &DeploymentSpec) -> bool {
    spec.strategy.as_ref().and_then(|strategy| strategy.type_.as_deref()) != Some("Recreate")
}

#[derive(Clone, Copy)]
enum Rounding {
    Up,
    Down,
}

/// Returns a number or percentage of the replicas; 25 % if it is absent.
fn resolve(value: Option<&IntOrString>, replicas: i32, rounding: Rounding) -> i32 {
    let percent = match value {
        Some(IntOrString::Int(number)) => return *number,
        Some(IntOrString::String(text)) => text.trim_end_matches('%').parse().unwrap_or_default(),
        None => 25_i64,
    };
    let hundredfold = i64::from(replicas) * percent;
    let number = match rounding {
        Rounding::Up => (hundredfold + 99) / 100,
        Rounding::Down => hundredfold / 100,
    };
    i32::try_from(number).unwrap_or(i32::MAX)
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use serde_json::{Value, json};

    use super::*;

    #[rstest]
    #[case::default(10, json!({"type": "RollingUpdate"}), (3, 2))]
    #[case::numbers(10, json!({"rollingUpdate": {"maxSurge": 1, "maxUnavailable": 4}}), (1, 4))]
    #[case::percentages(3, json!({"rollingUpdate": {"maxSurge": "50%", "maxUnavailable": "50%"}}), (2, 1))]
    #[case::of_one(1, json!({}), (1, 0))]
    #[case::both_zero(3, json!({"rollingUpdate": {"maxSurge": 0, "maxUnavailable": "10%"}}), (0, 1))]
    #[case::more_than_there_are(2, json!({"rollingUpdate": {"maxSurge": 0, "maxUnavailable": 5}}), (0, 2))]
    #[case::none(0, json!({}), (0, 0))]
    #[case::recreate(4, json!({"type": "Recreate"}), (0, 0))]
    fn limits_of_strategies(#[case] replicas: i32, #[case] strategy: Value, #[case] expect: (i32, i32)) {
        let spec = json!({"replicas": replicas, "strategy": strategy, "selector": {}, "template": {}});
        let Limits { replicas: _, surge, unavailable } = Limits::of(&serde_json::from_value(spec).unwrap());
        assert_eq!((surge, unavailable), expect);
    }
}
