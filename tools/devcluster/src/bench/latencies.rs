//! Distribution of latencies.

use std::{
    collections::{BTreeMap, HashMap},
    hash::Hash,
    time::Duration,
};

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
    /// Points of the distribution for a plot: percentile and duration.
    pub(crate) curve: Vec<(f64, f64)>,
}

/// Percentiles of the curve.
const CURVE: [f64; 14] = [1.0, 5.0, 10.0, 25.0, 50.0, 75.0, 90.0, 95.0, 97.0, 98.0, 99.0, 99.5, 99.9, 100.0];

impl Latencies {
    /// Returns the summary of durations; `None` if there are none.
    pub(crate) fn of(mut all: Vec<Duration>) -> Option<Self> {
        all.sort_unstable();
        let at = |percent| percentile(&all, percent).map(|it| it.as_secs_f64() * 1_000.0);
        let curve = CURVE.iter().filter_map(|percent| Some((*percent, at(*percent)?))).collect();
        Some(Self { count: all.len(), p50: at(50.0)?, p99: at(99.0)?, max: at(100.0)?, curve })
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

/// Returns the duration from each cause to its effect, for causes that are repeated. An effect belongs to the latest cause of the same key that was acknowledged before it, or at most
/// `early` after it; the first effect of a cause counts. The duration is zero if the effect was observed first.
pub(crate) fn between_repeated<K: Eq + Hash>(
    causes: Vec<(K, Instant)>,
    effects: Vec<(K, Instant)>,
    early: Duration,
) -> Vec<Duration> {
    let mut acknowledged: HashMap<K, BTreeMap<Instant, Option<Instant>>> = HashMap::new();
    for (key, at) in causes {
        acknowledged.entry(key).or_default().insert(at, None);
    }
    for (key, at) in effects {
        let cause = acknowledged.get_mut(&key).and_then(|causes| causes.range_mut(..=at + early).next_back());
        if let Some((_, effect @ None)) = cause {
            *effect = Some(at);
        }
    }
    let all = acknowledged.into_values().flatten();
    all.filter_map(|(cause, effect)| Some(effect?.saturating_duration_since(cause))).collect()
}

/// Returns the average number of events per second, from the first to the last; `None` for fewer than two.
#[expect(clippy::cast_precision_loss, reason = "far fewer than 2^52")]
pub(crate) fn frequency(times: impl Iterator<Item = Instant> + Clone) -> Option<f64> {
    let (first, last) = (times.clone().min()?, times.clone().max()?);
    let seconds = last.duration_since(first).as_secs_f64();
    (seconds > 0.0).then(|| (times.count() - 1) as f64 / seconds)
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
    async fn frequency_counts_the_intervals() {
        let now = Instant::now();
        let of = |milliseconds: &[u64]| {
            let times: Vec<_> = milliseconds.iter().map(|it| now + Duration::from_millis(*it)).collect();
            frequency(times.into_iter())
        };
        assert_eq!(of(&[250, 0, 500]), Some(4.0));
        assert_eq!((of(&[]), of(&[7]), of(&[7, 7])), (None, None, None));
    }

    #[tokio::test]
    async fn latency_ends_at_the_first_effect() {
        let now = Instant::now();
        let later = |milliseconds| now + Duration::from_millis(milliseconds);
        let causes = vec![("a", later(10)), ("b", later(10)), ("c", later(10))];
        let effects = vec![("b", later(4)), ("a", later(13)), ("a", later(20))];
        assert_eq!(between(causes, effects), [Duration::from_millis(3), Duration::ZERO]);
    }

    #[test]
    fn effects_of_repeated_causes_are_attributed_to_the_latest_one() {
        let start = Instant::now();
        let at = |millis| start + Duration::from_millis(millis);
        let causes = vec![("a", at(0)), ("a", at(1_000)), ("b", at(500)), ("a", at(2_000))];
        // The effect of the second cause is observed before the cause is acknowledged, that of the third is missing.
        let effects = vec![("a", at(30)), ("a", at(990)), ("b", at(510)), ("b", at(520)), ("c", at(0))];
        let mut durations = between_repeated(causes, effects, Duration::from_millis(100));
        durations.sort_unstable();
        assert_eq!(durations, [0, 10, 30].map(Duration::from_millis));
    }
}
