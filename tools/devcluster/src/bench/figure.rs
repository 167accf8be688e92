//! Figures with an upper limit, and their range over several runs.

use super::outcome::Outcome;

/// A figure of a measurement, of which less is better.
pub(crate) struct Figure {
    name: &'static str,
    unit: &'static str,
    /// Number of decimals that are shown.
    decimals: usize,
    /// Highest value with which the goal is met.
    limit: f64,
    of: fn(&Outcome) -> Option<f64>,
}

pub(crate) const fn cpu(limit: f64) -> Figure {
    Figure { name: "CPU", unit: " s", decimals: 2, limit, of: |it| Some(it.cpu()) }
}

#[expect(clippy::cast_precision_loss, reason = "for display")]
pub(crate) const fn memory(limit: f64) -> Figure {
    Figure { name: "memory", unit: " MiB", decimals: 0, limit, of: |it| Some(it.usage.peak_kib as f64 / 1_024.0) }
}

pub(crate) const fn cpu_of_a_flip(limit: f64) -> Figure {
    Figure { name: "CPU a flip", unit: " ms", decimals: 2, limit, of: Outcome::cpu_of_a_change }
}

pub(crate) const fn p50(limit: f64) -> Figure {
    Figure { name: "p50", unit: " ms", decimals: 1, limit, of: |it| it.latencies.as_ref().map(|it| it.p50) }
}

pub(crate) const fn p99(limit: f64) -> Figure {
    Figure { name: "p99", unit: " ms", decimals: 1, limit, of: |it| it.latencies.as_ref().map(|it| it.p99) }
}

pub(crate) const fn latest(limit: f64) -> Figure {
    Figure { name: "max", unit: " ms", decimals: 1, limit, of: |it| it.latencies.as_ref().map(|it| it.max) }
}

#[expect(clippy::cast_precision_loss, reason = "for display")]
pub(crate) const fn writes(limit: f64) -> Figure {
    Figure { name: "writes", unit: "", decimals: 0, limit, of: |it| Some(it.counts.writes() as f64) }
}

impl Figure {
    pub(crate) fn limit(&self) -> String {
        let Self { name, unit, limit, .. } = self;
        format!("{name} {limit}{unit}")
    }

    /// Formats minimum, median and maximum of the runs, and one value if there is one run.
    pub(crate) fn range(&self, runs: &[&Outcome]) -> String {
        let Self { name, unit, decimals, of, .. } = self;
        let mut values: Vec<f64> = runs.iter().filter_map(|it| of(it)).collect();
        values.sort_by(f64::total_cmp);
        let text = |it: &f64| format!("{it:.decimals$}");
        match values.as_slice() {
            [] => format!("{name} not measured"),
            [one] => format!("{name} {}{unit}", text(one)),
            [min, .., max] => {
                format!("{name} {} / {} / {}{unit}", text(min), text(&values[values.len() / 2]), text(max))
            }
        }
    }

    pub(crate) fn is_met(&self, run: &Outcome) -> bool {
        (self.of)(run).is_some_and(|it| it <= self.limit)
    }
}
