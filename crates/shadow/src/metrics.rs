//! Metrics of the comparison, read from the ledger at each scrape.

use std::sync::Weak;
use std::time::Duration;

use kube_controller::locked;
use prometheus::core::{Collector, Desc};
use prometheus::proto::MetricFamily;
use prometheus::{Gauge, IntCounter, IntCounterVec, IntGauge, IntGaugeVec, Opts, Registry};
use tokio::time::Instant;

use crate::Shadow;

#[derive(Clone)]
pub(crate) struct ShadowMetrics {
    shadow: Weak<Shadow>,
    mismatches: IntGaugeVec,
    services: IntGauge,
    oldest_comparison: Gauge,
    clean: Gauge,
    changes: IntCounter,
    /// Panics of syncs by controller.
    pub(crate) panics: IntCounterVec,
}

impl ShadowMetrics {
    /// Returns metrics on no registry. They have no values before [`register`](Self::register).
    pub(crate) fn new() -> prometheus::Result<ShadowMetrics> {
        let options = |name: &str, help: &str| Opts::new(format!("endpoint_controllers_shadow_{name}"), help);
        let mismatches = options(
            "mismatches",
            "Number of Services for which a controller would write something else than what exists, by class of the \
             difference. Only differences that have lasted for the settle period.",
        );
        let services = options("services", "Number of Services that are compared.");
        let oldest = options(
            "oldest_comparison_seconds",
            "Time since the comparison of the Service that was not compared for the longest time.",
        );
        let clean = options(
            "clean_seconds",
            "Time without a mismatch; 0 while there is one. Starts with the first comparison of this process.",
        );
        let changes = options("changes_total", "Number of comparisons after a change of an object that a plan reads.");
        let panics = options("panics_total", "Number of panics during syncs. Each of them is in the log.");
        Ok(ShadowMetrics {
            shadow: Weak::new(),
            mismatches: IntGaugeVec::new(mismatches, &["controller", "class"])?,
            services: IntGauge::with_opts(services)?,
            oldest_comparison: Gauge::with_opts(oldest)?,
            clean: Gauge::with_opts(clean)?,
            changes: IntCounter::with_opts(changes)?,
            panics: IntCounterVec::new(panics, &["controller"])?,
        })
    }

    /// Registers the metrics with the values of `shadow`.
    pub(crate) fn register(&self, registry: &Registry, shadow: Weak<Shadow>) -> prometheus::Result<()> {
        registry.register(Box::new(ShadowMetrics { shadow, ..self.clone() }))
    }

    fn collectors(&self) -> [&dyn Collector; 6] {
        let ShadowMetrics { shadow: _, mismatches, services, oldest_comparison, clean, changes, panics } = self;
        [mismatches, services, oldest_comparison, clean, changes, panics]
    }

    fn update(&self, shadow: &Shadow) {
        let (now, ledger) = (Instant::now(), locked(&shadow.ledger));
        for ((controller, class), count) in ledger.open_by_class() {
            let gauge = self.mismatches.with_label_values(&[controller, class.as_str()]);
            gauge.set(i64::try_from(count).unwrap_or(i64::MAX));
        }
        self.services.set(i64::try_from(ledger.services()).unwrap_or(i64::MAX));
        self.oldest_comparison.set(ledger.oldest_comparison(now).as_secs_f64());
        self.clean.set(ledger.clean_for(now).map_or(0.0, |clean: Duration| clean.as_secs_f64()));
        self.changes.inc_by(ledger.changes().saturating_sub(self.changes.get()));
    }
}

impl Collector for ShadowMetrics {
    fn desc(&self) -> Vec<&Desc> {
        self.collectors().into_iter().flat_map(Collector::desc).collect()
    }

    fn collect(&self) -> Vec<MetricFamily> {
        if let Some(shadow) = self.shadow.upgrade() {
            self.update(&shadow);
        }
        self.collectors().into_iter().flat_map(Collector::collect).collect()
    }
}
