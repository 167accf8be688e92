//! Figures with an upper limit, and their range over several runs.

use super::outcome::Outcome;

/// A figure of a measurement, of which less is better.
#[derive(Clone, Copy)]
pub(crate) struct Figure {
    pub(crate) name: &'static str,
    pub(crate) unit: &'static str,
    /// Number of decimals that are shown.
    pub(crate) decimals: usize,
    /// Highest value with which the goal is met.
    pub(crate) limit: f64,
    pub(crate) of: fn(&Outcome) -> Option<f64>,
}

impl Figure {
    /// Formats the limit.
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

    /// Returns whether the goal is met in the run.
    pub(crate) fn is_met(&self, run: &Outcome) -> bool {
        (self.of)(run).is_some_and(|it| it <= self.limit)
    }
}
