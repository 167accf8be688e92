//! Results of health checks as metrics, for upstream's `/metrics/slis`.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use crate::locked;

/// Last result and counts of results by check and probe. Clones share them.
#[derive(Clone, Default)]
pub(super) struct Results(Arc<Mutex<BTreeMap<(String, &'static str), Counts>>>);

#[derive(Default)]
struct Counts {
    last: bool,
    passed: u64,
    failed: u64,
}

impl Results {
    pub(super) fn observe(&self, check: &str, probe: &'static str, passed: bool) {
        let mut results = locked(&self.0);
        let counts = results.entry((check.to_owned(), probe)).or_default();
        counts.last = passed;
        *(if passed { &mut counts.passed } else { &mut counts.failed }) += 1;
    }

    pub(super) fn reset(&self) {
        locked(&self.0).clear();
    }

    /// Returns `kubernetes_healthcheck` and `kubernetes_healthchecks_total`.
    #[cfg(feature = "prometheus")]
    pub(super) fn families(&self) -> prometheus::Result<Vec<prometheus::proto::MetricFamily>> {
        use prometheus::core::Collector as _;
        use prometheus::{IntCounterVec, IntGaugeVec, Opts};

        let last =
            Opts::new("kubernetes_healthcheck", "[STABLE] This metric records the result of a single healthcheck.");
        let total =
            Opts::new("kubernetes_healthchecks_total", "[STABLE] This metric records the results of all healthcheck.");
        let last = IntGaugeVec::new(last, &["name", "type"])?;
        let total = IntCounterVec::new(total, &["name", "type", "status"])?;
        for ((name, probe), counts) in &*locked(&self.0) {
            last.with_label_values(&[name.as_str(), probe]).set(counts.last.into());
            for (status, count) in [("success", counts.passed), ("error", counts.failed)] {
                if count > 0 {
                    total.with_label_values(&[name.as_str(), probe, status]).inc_by(count);
                }
            }
        }
        let mut families = [last.collect(), total.collect()].concat();
        // Encoders reject families without series.
        families.retain(|family| !family.get_metric().is_empty());
        Ok(families)
    }
}
