//! Prometheus expressions: the metrics that they select, and the labels of their results.

use std::collections::{BTreeMap, BTreeSet};

use promql_parser::parser::{self, Expr, LabelModifier, VectorSelector};
use promql_parser::util::{ExprVisitor, walk_expr};

use crate::metrics::Family;

/// Target labels, which Prometheus or the Prometheus operator adds.
const TARGET_LABELS: [&str; 7] = ["container", "endpoint", "instance", "job", "namespace", "pod", "service"];

pub(super) struct Expression {
    text: String,
    parsed: Expr,
}

impl Expression {
    pub(super) fn parse(text: &str) -> Self {
        let parsed = parser::parse(text).unwrap_or_else(|error| panic!("{error}: {text}"));
        Self { text: text.to_owned(), parsed }
    }

    /// Panics if the expression uses a metric or label that is not in `exported`; returns the labels of its results.
    pub(super) fn check(&self, exported: &BTreeMap<String, Family>) -> BTreeSet<String> {
        let mut selectors = Selectors(Vec::new());
        let Ok(_) = walk_expr(&mut selectors, &self.parsed);
        assert!(!selectors.0.is_empty(), "{} selects no metric", self.text);
        for selector in &selectors.0 {
            let labels = labels(selector, exported);
            for matcher in &selector.matchers.matchers {
                assert!(labels.contains(&matcher.name), "{}: no label {}", self.text, matcher.name);
            }
            let job = selector.matchers.find_matchers("job");
            assert!(!job.is_empty(), "{}: no matcher for `job`: other programs export this metric", self.text);
        }
        self.labels(&self.parsed, exported)
    }

    fn labels(&self, expression: &Expr, exported: &BTreeMap<String, Family>) -> BTreeSet<String> {
        match expression {
            Expr::Aggregate(aggregate) => {
                let within = self.labels(&aggregate.expr, exported);
                match &aggregate.modifier {
                    None => BTreeSet::new(),
                    Some(LabelModifier::Include(by)) => {
                        let by: BTreeSet<String> = by.labels.iter().cloned().collect();
                        assert!(by.is_subset(&within), "{}: {by:?} of {within:?}", self.text);
                        by
                    }
                    Some(LabelModifier::Exclude(_)) => panic!("{}: `without` keeps unexpected labels", self.text),
                }
            }
            Expr::Binary(binary) => {
                let (left, right) = (self.labels(&binary.lhs, exported), self.labels(&binary.rhs, exported));
                if left.is_empty() { right } else { left }
            }
            Expr::Paren(inner) => self.labels(&inner.expr, exported),
            Expr::Call(call) => {
                let mut labels = call.args.args.last().map(|last| self.labels(last, exported)).unwrap_or_default();
                if call.func.name == "histogram_quantile" {
                    assert!(labels.remove("le"), "{}: no buckets", self.text);
                }
                labels
            }
            Expr::VectorSelector(selector) => labels(selector, exported),
            Expr::MatrixSelector(matrix) => labels(&matrix.vs, exported),
            _ => BTreeSet::new(),
        }
    }
}

/// Labels of the series of a selector; panics if the metric is not in `exported`.
fn labels(selector: &VectorSelector, exported: &BTreeMap<String, Family>) -> BTreeSet<String> {
    let name = selector.name.as_deref().expect("a name");
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

struct Selectors(Vec<VectorSelector>);

impl ExprVisitor for Selectors {
    type Error = std::convert::Infallible;

    fn pre_visit(&mut self, expression: &Expr) -> Result<bool, Self::Error> {
        match expression {
            Expr::VectorSelector(selector) => self.0.push(selector.clone()),
            Expr::MatrixSelector(matrix) => self.0.push(matrix.vs.clone()),
            _ => {}
        }
        Ok(true)
    }
}
