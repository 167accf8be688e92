//! Results of health checks as metrics, for upstream's `/metrics/slis`.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use prometheus::core::Collector as _;
use prometheus::proto::MetricFamily;
use prometheus::{IntCounterVec, IntGaugeVec, Opts};

/// Last result and counts of results by check and probe. Clones share them.
#[derive(Clone, Default)]
pub(crate) struct Outcomes(Arc<Mutex<BTreeMap<(String, &'static str), Outcome>>>);

#[derive(Default)]
struct Outcome {
    last: bool,
    passed: u64,
    failed: u64,
}

impl Outcomes {
    pub(super) fn observe(&self, check: &str, probe: &'static str, passed: bool) {
        let mut outcomes = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let outcome = outcomes.entry((check.to_owned(), probe)).or_default();
        outcome.last = passed;
        *(if passed { &mut outcome.passed } else { &mut outcome.failed }) += 1;
    }

    /// Removes all series; for a DELETE of `/metrics/slis` (MT-12).
    pub(super) fn reset(&self) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }

    /// Returns `kubernetes_healthcheck` and `kubernetes_healthchecks_total`.
    pub(super) fn families(&self) -> prometheus::Result<Vec<MetricFamily>> {
        let last =
            Opts::new("kubernetes_healthcheck", "[STABLE] This metric records the result of a single healthcheck.");
        let total =
            Opts::new("kubernetes_healthchecks_total", "[STABLE] This metric records the results of all healthcheck.");
        let last = IntGaugeVec::new(last, &["name", "type"])?;
        let total = IntCounterVec::new(total, &["name", "type", "status"])?;
        for ((name, probe), outcome) in &*self.0.lock().unwrap_or_else(PoisonError::into_inner) {
            last.with_label_values(&[name.as_str(), probe]).set(outcome.last.into());
            for (status, count) in [("success", outcome.passed), ("error", outcome.failed)] {
                if count > 0 {
                    total.with_label_values(&[name.as_str(), probe, status]).inc_by(count);
                }
            }
        }
        Ok([last.collect(), total.collect()].concat())
    }
}
