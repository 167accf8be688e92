//! Distribution of latencies.

use std::{collections::HashMap, hash::Hash, time::Duration};

use serde::Serialize;
use tokio::time::Instant;

/// Summary of durations, in milliseconds.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Latencies {
    /// Number of durations.
    pub(crate) count: usize,
    /// Median.
    pub(crate) p50: f64,
    /// 99th percentile.
    pub(crate) p99: f64,
    /// Maximum.
    pub(crate) max: f64,
}

impl Latencies {
    /// Returns the summary of durations; `None` if there are none.
    pub(crate) fn of(mut all: Vec<Duration>) -> Option<Self> {
        all.sort_unstable();
        let at = |percent| percentile(&all, percent).map(|it| it.as_secs_f64() * 1_000.0);
        Some(Self { count: all.len(), p50: at(50.0)?, p99: at(99.0)?, max: at(100.0)? })
    }
}

/// Returns a percentile of `sorted` by the nearest-rank method.
fn percentile(sorted: &[Duration], percent: f64) -> Option<Duration> {
    #[expect(clippy::cast_precision_loss, reason = "far fewer than 2^52")]
    let rank = (percent / 100.0 * sorted.len() as f64).ceil();
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "not negative, and at most the length")]
    let at = (rank as usize).clamp(1, sorted.len().max(1));
    sorted.get(at - 1).copied()
}

/// Returns the duration from each cause that has an effect to the first of them. The duration is zero if the effect was
/// observed before the cause was acknowledged.
pub(crate) fn between<K: Eq + Hash>(causes: Vec<(K, Instant)>, effects: Vec<(K, Instant)>) -> Vec<Duration> {
    let mut first: HashMap<K, Instant> = HashMap::with_capacity(effects.len());
    for (key, at) in effects {
        first.entry(key).or_insert(at);
    }
    causes.into_iter().filter_map(|(key, at)| Some(first.get(&key)?.saturating_duration_since(at))).collect()
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::one(1, 50.0, 1)]
    #[case::half(10, 50.0, 5)]
    #[case::most(100, 99.0, 99)]
    #[case::all(100, 100.0, 100)]
    #[case::few(10, 99.0, 10)]
    fn percentiles_use_the_nearest_rank(#[case] count: u64, #[case] percent: f64, #[case] expect: u64) {
        let all: Vec<Duration> = (1..=count).map(Duration::from_millis).collect();
        assert_eq!(percentile(&all, percent), Some(Duration::from_millis(expect)));
    }

    #[test]
    fn summary_of_no_durations_is_none() {
        assert_eq!(Latencies::of(Vec::new()), None);
    }

    #[tokio::test]
    async fn latency_ends_at_the_first_effect() {
        let now = Instant::now();
        let later = |milliseconds| now + Duration::from_millis(milliseconds);
        let causes = vec![("a", later(10)), ("b", later(10)), ("c", later(10))];
        let effects = vec![("b", later(4)), ("a", later(13)), ("a", later(20))];
        assert_eq!(between(causes, effects), [Duration::from_millis(3), Duration::ZERO]);
    }
}
