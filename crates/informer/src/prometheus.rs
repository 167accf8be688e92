//! Metrics of informers on a registry of the `prometheus` crate.

mod computed;

use std::{sync::Arc, time::Duration};

use kube_wire::{Resource, ResourceVersion};
use prometheus::{
    Histogram, HistogramVec, IntCounterVec, IntGauge, IntGaugeVec, Opts, Registry,
    register_histogram_vec_with_registry, register_int_counter_vec_with_registry, register_int_gauge_vec_with_registry,
};
use tokio::time::Instant;

pub use self::computed::ComputedGauge;
use crate::{
    CacheState, GuardOutcome, HandlerMetrics, InformerMetrics, InformerMetricsProvider, Progress, RelistCause,
};

/// Metrics of informers on a registry of the `prometheus` crate.
///
/// Names, help, labels and buckets of the first two are those of Kubernetes' own binaries. The others are additions.
///
/// | metric | type | additional labels |
/// |---|---|---|
/// | `informer_processing_latency_seconds` | histogram | |
/// | `informer_queued_items` | gauge, always 0: an event is stored as soon as it is decoded | |
/// | `kube_informer_lists_total` | counter | `result`: `complete` or `failed` |
/// | `kube_informer_list_duration_seconds` | histogram | |
/// | `kube_informer_listed_items_total` | counter | |
/// | `kube_informer_watches_total` | counter | |
/// | `kube_informer_relists_total` | counter | `cause`, see [`RelistCause::as_str`] |
/// | `kube_informer_guarded_lists_total` | counter | `result`, see [`GuardOutcome::as_str`] |
/// | `kube_informer_list_held` | gauge: 1 while a list is held, see [`Guard`](crate::Guard) | |
/// | `kube_informer_undecodable_total` | counter | |
/// | `kube_informer_undecodable_objects` | gauge | |
/// | `kube_informer_last_resource_version` | gauge: the last 15 digits | |
/// | `kube_informer_store_objects` | gauge | |
/// | `kube_informer_idle_seconds` | gauge, see [`Progress`] | |
/// | `kube_informer_handler_queued_events` | gauge | `handler` |
/// | `kube_informer_handler_lag_seconds` | histogram | `handler` |
///
/// All have the labels `name`, `group`, `version` and `resource`. Register once per registry and pass a clone to every
/// informer; [`named`](Self::named) is a clone for another value of `name`.
#[derive(Debug, Clone)]
pub struct PrometheusMetrics {
    name: String,
    /// Whether the label `resource` of Endpoints is `endpoints`.
    correct_plurals: bool,
    processing: HistogramVec,
    queued: IntGaugeVec,
    lists: IntCounterVec,
    list_duration: HistogramVec,
    items: IntCounterVec,
    watches: IntCounterVec,
    relists: IntCounterVec,
    guarded_lists: IntCounterVec,
    list_held: IntGaugeVec,
    undecodable: IntCounterVec,
    undecodable_objects: IntGaugeVec,
    version: IntGaugeVec,
    objects: IntGaugeVec,
    idle: ComputedGauge,
    handler_queued: IntGaugeVec,
    handler_lag: HistogramVec,
}

const LABELS: [&str; 4] = ["name", "group", "version", "resource"];
/// Value of the label `handler` for handlers without a name.
const UNNAMED_HANDLER: &str = "unnamed";

fn with_label(label: &'static str) -> Vec<&'static str> {
    let mut labels = LABELS.to_vec();
    labels.push(label);
    labels
}

impl PrometheusMetrics {
    /// Registers the metrics. `name` is the value of the label `name`; upstream uses the name of the binary.
    ///
    /// # Errors
    ///
    /// `prometheus::Error::AlreadyReg` if the registry has a metric with one of the names.
    pub fn register(registry: &Registry, name: &str) -> prometheus::Result<Self> {
        let seconds = vec![0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0];
        let histogram = |metric: &str, help: &str, labels: &[&str]| {
            register_histogram_vec_with_registry!(metric, help, labels, seconds.clone(), registry)
        };
        let gauge = |metric: &str, help: &str, labels: &[&str]| {
            register_int_gauge_vec_with_registry!(metric, help, labels, registry)
        };
        let counter = |metric: &str, help: &str, labels: &[&str]| {
            register_int_counter_vec_with_registry!(metric, help, labels, registry)
        };
        let idle = Opts::new(
            "kube_informer_idle_seconds",
            "Time since the last list, event or bookmark was stored, or since the start of an informer that has stored no \
             list yet. API servers send a bookmark about once a minute.",
        );
        let idle = ComputedGauge::new(idle, &LABELS)?;
        registry.register(Box::new(idle.clone()))?;
        Ok(Self {
            name: name.to_owned(),
            correct_plurals: false,
            processing: histogram(
                "informer_processing_latency_seconds",
                "[ALPHA] Time taken to process events after popping from the queue.",
                &LABELS,
            )?,
            queued: gauge("informer_queued_items", "[ALPHA] Number of items currently queued in the FIFO.", &LABELS)?,
            lists: counter(
                "kube_informer_lists_total",
                "Lists requested from the API server, by result.",
                &with_label("result"),
            )?,
            list_duration: histogram(
                "kube_informer_list_duration_seconds",
                "Time from the first request of a list until it was stored.",
                &LABELS,
            )?,
            items: counter("kube_informer_listed_items_total", "Objects that came with lists.", &LABELS)?,
            watches: counter("kube_informer_watches_total", "Watches opened.", &LABELS)?,
            relists: counter(
                "kube_informer_relists_total",
                "Watches given up for a list, by cause.",
                &with_label("cause"),
            )?,
            guarded_lists: counter(
                "kube_informer_guarded_lists_total",
                "Decisions on lists that lack many objects, by result.",
                &with_label("result"),
            )?,
            list_held: gauge(
                "kube_informer_list_held",
                "1 while a list is held because objects that it lacks exist or cannot be read, else 0.",
                &LABELS,
            )?,
            undecodable: counter(
                "kube_informer_undecodable_total",
                "Items of lists and events of watches that could not be decoded.",
                &LABELS,
            )?,
            undecodable_objects: gauge(
                "kube_informer_undecodable_objects",
                "Objects whose newest state could not be decoded; the store has an older state of them, or none.",
                &LABELS,
            )?,
            version: gauge(
                "kube_informer_last_resource_version",
                "The last 15 digits of the resource version up to which the store is good.",
                &LABELS,
            )?,
            objects: gauge("kube_informer_store_objects", "Objects in the store.", &LABELS)?,
            idle,
            handler_queued: gauge(
                "kube_informer_handler_queued_events",
                "Events that a handler has not been given yet.",
                &with_label("handler"),
            )?,
            handler_lag: histogram(
                "kube_informer_handler_lag_seconds",
                "How long an event waited for its handler, sampled about once a second.",
                &with_label("handler"),
            )?,
        })
    }

    /// Returns the same metrics with another value of the label `name`, for the informers of another controller of the
    /// process. Registers nothing.
    #[must_use]
    pub fn named(&self, name: &str) -> Self {
        Self { name: name.to_owned(), ..self.clone() }
    }

    /// Returns the same metrics with `endpoints` as value of the label `resource` for Endpoints, as in Kubernetes 1.38 and
    /// later ([#141566](https://github.com/kubernetes/kubernetes/pull/141566)). Otherwise it is `endpointss`, as before.
    #[must_use]
    pub fn with_correct_plurals(self) -> Self {
        Self { correct_plurals: true, ..self }
    }

    fn plural(&self, resource: &Resource) -> &'static str {
        if resource.kind == "Endpoints" && !self.correct_plurals { "endpointss" } else { resource.plural }
    }
}

impl InformerMetricsProvider for PrometheusMetrics {
    fn informer(&self, resource: &Resource) -> Arc<dyn InformerMetrics> {
        let labels = [&*self.name, resource.group, resource.version, self.plural(resource)].map(str::to_owned);
        // Upstream exposes this series from the start.
        self.queued.with_label_values(&labels).set(0);
        for counter in [&self.items, &self.watches, &self.undecodable] {
            counter.with_label_values(&labels);
        }
        for gauge in [&self.list_held, &self.undecodable_objects] {
            gauge.with_label_values(&labels);
        }
        self.list_duration.with_label_values(&labels);
        let informer = OneInformer {
            processing: self.processing.with_label_values(&labels),
            version: self.version.with_label_values(&labels),
            objects: self.objects.with_label_values(&labels),
            all: self.clone(),
            labels,
        };
        // Relists and decisions are rare: without the series from the start, `increase` would miss the first one.
        for cause in RelistCause::ALL {
            self.relists.with_label_values(&informer.labels_with(cause.as_str()));
        }
        for outcome in GuardOutcome::ALL {
            self.guarded_lists.with_label_values(&informer.labels_with(outcome.as_str()));
        }
        Arc::new(informer)
    }
}

/// Metrics of one informer. Those of each event are looked up once.
struct OneInformer {
    labels: [String; 4],
    processing: Histogram,
    version: IntGauge,
    objects: IntGauge,
    all: PrometheusMetrics,
}

impl OneInformer {
    fn labels_with<'a>(&'a self, label: &'a str) -> [&'a str; 5] {
        let [name, group, version, resource] = &self.labels;
        [name, group, version, resource, label]
    }
}

fn gauge_value(number: impl TryInto<i64>) -> i64 {
    number.try_into().unwrap_or(i64::MAX)
}

impl InformerMetrics for OneInformer {
    fn listed(&self, items: usize, took: Duration) {
        self.all.lists.with_label_values(&self.labels_with("complete")).inc();
        self.all.items.with_label_values(&self.labels).inc_by(items as u64);
        self.all.list_duration.with_label_values(&self.labels).observe(took.as_secs_f64());
    }

    fn list_failed(&self) {
        self.all.lists.with_label_values(&self.labels_with("failed")).inc();
    }

    fn watch_opened(&self) {
        self.all.watches.with_label_values(&self.labels).inc();
    }

    fn relist(&self, cause: RelistCause) {
        self.all.relists.with_label_values(&self.labels_with(cause.as_str())).inc();
    }

    fn guarded(&self, outcome: GuardOutcome) {
        self.all.guarded_lists.with_label_values(&self.labels_with(outcome.as_str())).inc();
        self.all.list_held.with_label_values(&self.labels).set(i64::from(outcome == GuardOutcome::Held));
    }

    fn undecodable(&self) {
        self.all.undecodable.with_label_values(&self.labels).inc();
    }

    fn undecodable_objects(&self, objects: usize) {
        self.all.undecodable_objects.with_label_values(&self.labels).set(gauge_value(objects));
    }

    fn processed(&self, took: Duration) {
        self.processing.observe(took.as_secs_f64());
    }

    fn stored(&self, version: &ResourceVersion, objects: usize) {
        // Gauges are exported as 64-bit floats, which are exact for integers of 15 digits.
        self.version.set(gauge_value(version.number().unwrap_or(0) % 1_000_000_000_000_000));
        self.objects.set(gauge_value(objects));
    }

    fn register_progress(&self, progress: &Progress) {
        let progress = progress.clone();
        self.all.idle.add(self.labels.to_vec(), move || match progress.at(Instant::now()) {
            CacheState::NotStarted => None,
            CacheState::Syncing { since: idle } | CacheState::Synced { idle } | CacheState::Held { idle, .. } => {
                Some(idle.as_secs_f64())
            }
        });
    }

    fn handler(&self, name: &str) -> Arc<dyn HandlerMetrics> {
        let labels = self.labels_with(if name.is_empty() { UNNAMED_HANDLER } else { name });
        Arc::new(OneHandler {
            queued: self.all.handler_queued.with_label_values(&labels),
            lag: self.all.handler_lag.with_label_values(&labels),
        })
    }
}

struct OneHandler {
    queued: IntGauge,
    lag: Histogram,
}

impl HandlerMetrics for OneHandler {
    fn queued(&self, events: usize) {
        self.queued.add(gauge_value(events));
    }

    fn delivered(&self, events: usize) {
        self.queued.sub(gauge_value(events));
    }

    fn lag(&self, waited: Duration) {
        self.lag.observe(waited.as_secs_f64());
    }
}
