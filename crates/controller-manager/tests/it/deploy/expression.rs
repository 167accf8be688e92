//! Prometheus expressions: the metrics that they select, and the labels of their results.

use std::collections::BTreeSet;

use super::promql::{Expr, Selector};
use crate::metrics::Families;

/// Target labels, which Prometheus or the Prometheus operator adds.
const TARGET_LABELS: [&str; 7] = ["container", "endpoint", "instance", "job", "namespace", "pod", "service"];

pub(super) struct Expression {
    text: String,
    parsed: Expr,
}

impl Expression {
    pub(super) fn parse(text: &str) -> Self {
        let parsed = Expr::parse(text).unwrap_or_else(|error| panic!("{error}: {text}"));
        Self { text: text.to_owned(), parsed }
    }

    /// Panics if the expression uses a metric or label that is not in `exported`; returns the labels of its results.
    pub(super) fn check(&self, exported: &Families) -> BTreeSet<String> {
        let selectors = self.parsed.selectors();
        assert!(!selectors.is_empty(), "{} selects no metric", self.text);
        for selector in selectors {
            let labels = labels(selector, exported);
            for label in &selector.matchers {
                assert!(labels.contains(label), "{}: no label {label}", self.text);
            }
            let has_job = selector.matchers.iter().any(|label| label == "job");
            assert!(has_job, "{}: no matcher for `job`: other programs export this metric", self.text);
        }
        self.labels(&self.parsed, exported)
    }

    fn labels(&self, expression: &Expr, exported: &Families) -> BTreeSet<String> {
        match expression {
            Expr::Aggregate { by, inner } => {
                let (by, within) = (by.iter().cloned().collect(), self.labels(inner, exported));
                assert!(within.is_superset(&by), "{}: {by:?} of {within:?}", self.text);
                by
            }
            Expr::Binary(left, right) => {
                let (left, right) = (self.labels(left, exported), self.labels(right, exported));
                if left.is_empty() { right } else { left }
            }
            Expr::Call { function, arguments } => {
                let mut labels = arguments.last().map(|last| self.labels(last, exported)).unwrap_or_default();
                if function == "histogram_quantile" {
                    assert!(labels.remove("le"), "{}: no buckets", self.text);
                }
                labels
            }
            Expr::Selector(selector) | Expr::Range(selector) => labels(selector, exported),
            Expr::Number => BTreeSet::new(),
        }
    }
}

/// Labels of the series of a selector; panics if the metric is not in `exported`.
fn labels(selector: &Selector, exported: &Families) -> BTreeSet<String> {
    let name = selector.metric.as_str();
    let mut labels: BTreeSet<String> = TARGET_LABELS.map(str::to_owned).into();
    // Set by Prometheus itself.
    if name == "up" {
        return labels;
    }
    let of_a_histogram = ["_bucket", "_sum", "_count"].iter().find_map(|suffix| {
        let family = exported.get(name.strip_suffix(suffix)?)?;
        (family.kind == "histogram").then_some(family)
    });
    let family = of_a_histogram.or_else(|| exported.get(name)).unwrap_or_else(|| panic!("{name} is not exported"));
    assert_eq!(of_a_histogram.is_some(), family.kind == "histogram", "{name}: not a series of a histogram");
    labels.extend(family.labels.iter().flatten().cloned());
    if name.ends_with("_bucket") {
        labels.insert("le".to_owned());
    }
    labels
}
