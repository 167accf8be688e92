//! Metrics of slice controllers in a registry of the `prometheus` crate.

use std::collections::BTreeMap;

use kube_topology::{HintPolicy, TrafficDistribution};
use prometheus::core::Collector;
use prometheus::{
    Histogram, HistogramOpts, HistogramVec, IntCounterVec, IntGauge, IntGaugeVec, Opts, Registry, exponential_buckets,
};

use super::{SliceMetrics, Totals};
use crate::plan::Plan;

/// Metrics of writes, which each slice controller has under a prefix of its own.
///
/// | metric | type |
/// |---|---|
/// | `endpoints_added_per_sync`, `endpoints_removed_per_sync` | histogram |
/// | `endpoints_updated_per_sync` (mirroring only) | histogram |
/// | `endpoints_desired`, `num_endpoint_slices`, `desired_endpoint_slices` | gauge |
/// | `changes{operation}`; optionally `changes_total{operation}` | counter |
#[derive(Clone, Debug)]
pub struct WriteMetrics {
    added: Histogram,
    updated: Option<Histogram>,
    removed: Histogram,
    endpoints_desired: IntGauge,
    slices: IntGauge,
    desired_slices: IntGauge,
    /// One or two counters with the same values.
    changes: Vec<IntCounterVec>,
}

/// Registration of metrics with one prefix, with upstream's names, help texts and buckets.
struct Names<'a> {
    registry: &'a Registry,
    subsystem: &'a str,
    /// Stability level in the help texts of Kubernetes; `None` for the metrics of others, which declare none.
    stability: Option<&'static str>,
}

impl Names<'_> {
    /// Returns the same names with another stability level, if they have one.
    fn at(&self, stability: &'static str) -> Self {
        Names { stability: self.stability.and(Some(stability)), ..*self }
    }

    fn opts(&self, name: &str, help: &str) -> Opts {
        let help = self.stability.map_or_else(|| help.to_owned(), |stability| format!("[{stability}] {help}"));
        Opts::new(name, help).subsystem(self.subsystem)
    }

    fn add<C: Collector + Clone + 'static>(&self, metric: prometheus::Result<C>) -> prometheus::Result<C> {
        let metric = metric?;
        self.registry.register(Box::new(metric.clone()))?;
        Ok(metric)
    }

    fn gauge(&self, name: &str, help: &str) -> prometheus::Result<IntGauge> {
        self.add(IntGauge::with_opts(self.opts(name, help)))
    }

    fn per_sync(&self, name: &str, help: &str) -> prometheus::Result<Histogram> {
        let opts = HistogramOpts { common_opts: self.opts(name, help), buckets: exponential_buckets(2.0, 2.0, 15)? };
        self.add(Histogram::with_opts(opts))
    }
}

/// Name and help text of the counter of writes, before Kubernetes 1.38.
const CHANGES: &[(&str, &str)] = &[("changes", "Number of EndpointSlice changes")];
/// The same since Kubernetes 1.38.
const CHANGES_AND_TOTAL: &[(&str, &str)] = &[
    ("changes", "(Deprecated since 1.38.0) Number of EndpointSlice changes"),
    ("changes_total", "Number of EndpointSlice changes"),
];

const SLICE_CONTROLLER: &str = "endpoint_slice_controller";
const MIRRORING_CONTROLLER: &str = "endpoint_slice_mirroring_controller";

impl WriteMetrics {
    /// Registers the metrics of the mirroring controller with the prefix `endpoint_slice_mirroring_controller_`.
    ///
    /// # Errors
    ///
    /// The registry already contains a metric with one of their names.
    pub fn register_mirroring(registry: &Registry) -> prometheus::Result<WriteMetrics> {
        let names = Names { registry, subsystem: MIRRORING_CONTROLLER, stability: Some("ALPHA") };
        let updated =
            names.per_sync("endpoints_updated_per_sync", "Number of endpoints updated on each Endpoints sync")?;
        WriteMetrics::register(&names, Some(updated), "Endpoints", CHANGES)
    }

    fn register(
        names: &Names<'_>,
        updated: Option<Histogram>,
        synced: &str,
        changes: &[(&str, &str)],
    ) -> prometheus::Result<WriteMetrics> {
        let alpha = names.at("ALPHA");
        let counter =
            |(name, help): &(&str, &str)| alpha.add(IntCounterVec::new(alpha.opts(name, help), &["operation"]));
        Ok(WriteMetrics {
            added: names
                .per_sync("endpoints_added_per_sync", &format!("Number of endpoints added on each {synced} sync"))?,
            updated,
            removed: names.per_sync(
                "endpoints_removed_per_sync",
                &format!("Number of endpoints removed on each {synced} sync"),
            )?,
            endpoints_desired: names.gauge("endpoints_desired", "Number of endpoints desired")?,
            slices: names.gauge("num_endpoint_slices", "Number of EndpointSlices")?,
            desired_slices: names.gauge(
                "desired_endpoint_slices",
                "Number of EndpointSlices that would exist with perfect endpoint allocation",
            )?,
            changes: changes.iter().map(counter).collect::<prometheus::Result<_>>()?,
        })
    }
}

fn float(count: usize) -> f64 {
    // Numbers of endpoints are far below 2^52.
    #[expect(clippy::cast_precision_loss)]
    let float = count as f64;
    float
}

fn integer(count: usize) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

impl WriteMetrics {
    /// Observes the number of endpoints that a sync adds, updates and removes.
    pub fn changes(&self, added: usize, updated: usize, removed: usize) {
        self.added.observe(float(added));
        self.removed.observe(float(removed));
        if let Some(histogram) = &self.updated {
            histogram.observe(float(updated));
        }
    }
}

impl SliceMetrics for WriteMetrics {
    fn planned(&self, plan: &Plan) {
        plan.types.iter().for_each(|plan| self.changes(plan.added, plan.updated, plan.removed));
    }

    fn totals(&self, totals: Totals) {
        let Totals { endpoints, slices, desired_slices } = totals;
        self.endpoints_desired.set(integer(endpoints));
        self.slices.set(integer(slices));
        self.desired_slices.set(integer(desired_slices));
    }

    fn wrote(&self, verb: &'static str) {
        self.changes.iter().for_each(|counter| counter.with_label_values(&[verb]).inc());
    }
}

/// Metrics of a slice controller with upstream's names, help texts, labels and buckets. The prefix is
/// `endpoint_slice_controller_`, or that of [`register_with_prefix`](Self::register_with_prefix). Besides those of
/// [`WriteMetrics`]:
///
/// | metric | type |
/// |---|---|
/// | `endpointslices_changed_per_sync{topology, traffic_distribution}` | histogram |
/// | `syncs{result}` | counter |
/// | `services_count_by_traffic_distribution{traffic_distribution}` | gauge |
#[derive(Clone, Debug)]
pub struct PrometheusMetrics {
    writes: WriteMetrics,
    changed: HistogramVec,
    syncs: IntCounterVec,
    traffic: IntGaugeVec,
}

impl PrometheusMetrics {
    /// Registers the metrics of the slice controller of Kubernetes.
    ///
    /// # Errors
    ///
    /// The registry already contains a metric with one of their names.
    pub fn register(registry: &Registry) -> prometheus::Result<PrometheusMetrics> {
        let names = Names { registry, subsystem: SLICE_CONTROLLER, stability: Some("BETA") };
        Self::register_names(&names, CHANGES)
    }

    /// Registers the metrics of the slice controller of Kubernetes 1.38: `changes_total` beside `changes`, whose help text
    /// says that it is deprecated (kubernetes/kubernetes#140447).
    ///
    /// # Errors
    ///
    /// The registry already contains a metric with one of their names.
    pub fn register_with_changes_total(registry: &Registry) -> prometheus::Result<PrometheusMetrics> {
        let names = Names { registry, subsystem: SLICE_CONTROLLER, stability: Some("BETA") };
        Self::register_names(&names, CHANGES_AND_TOTAL)
    }

    /// Registers the metrics of another controller that writes slices. Their names begin with `prefix` and `_`, such as
    /// `pools_num_endpoint_slices`; the help texts name no stability level of Kubernetes.
    ///
    /// The metrics have no label for the controller: each reconciler of a process needs a prefix of its own.
    ///
    /// # Errors
    ///
    /// The registry already contains a metric with one of their names, or the prefix is not the beginning of a metric
    /// name.
    pub fn register_with_prefix(registry: &Registry, prefix: &str) -> prometheus::Result<PrometheusMetrics> {
        Self::register_names(&Names { registry, subsystem: prefix, stability: None }, CHANGES)
    }

    fn register_names(names: &Names<'_>, changes: &[(&str, &str)]) -> prometheus::Result<PrometheusMetrics> {
        let (beta, alpha) = (names, names.at("ALPHA"));
        // The owners of other controllers may be no Services.
        let synced = if names.stability.is_some() { "Service" } else { "owner" };
        let changed = alpha.opts(
            "endpointslices_changed_per_sync",
            &format!("Number of EndpointSlices changed on each {synced} sync"),
        );
        Ok(PrometheusMetrics {
            writes: WriteMetrics::register(beta, None, synced, changes)?,
            changed: alpha.add(HistogramVec::new(changed.into(), &["topology", "traffic_distribution"]))?,
            syncs: alpha.add(IntCounterVec::new(alpha.opts("syncs", "Number of EndpointSlice syncs"), &["result"]))?,
            traffic: beta.add(IntGaugeVec::new(
                beta.opts(
                    "services_count_by_traffic_distribution",
                    "Number of Services using some specific trafficDistribution",
                ),
                &["traffic_distribution"],
            ))?,
        })
    }
}

impl SliceMetrics for PrometheusMetrics {
    fn planned(&self, plan: &Plan) {
        self.writes.planned(plan);
    }

    fn totals(&self, totals: Totals) {
        self.writes.totals(totals);
    }

    fn traffic_distributions(&self, services: &BTreeMap<TrafficDistribution, usize>) {
        for (distribution, count) in services {
            self.traffic.with_label_values(&[distribution.as_str()]).set(integer(*count));
        }
    }

    fn wrote(&self, verb: &'static str) {
        self.writes.wrote(verb);
    }

    fn changed(&self, slices: usize, hints: HintPolicy) {
        let topology = if hints == HintPolicy::Topology { "Auto" } else { "Disabled" };
        let distribution = if let HintPolicy::Traffic(distribution) = hints { distribution.as_str() } else { "" };
        self.changed.with_label_values(&[topology, distribution]).observe(float(slices));
    }

    fn synced(&self, succeeded: bool) {
        self.syncs.with_label_values(&[if succeeded { "success" } else { "error" }]).inc();
    }
}
