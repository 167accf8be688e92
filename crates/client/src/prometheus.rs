//! The client metrics of client-go, on a registry of the `prometheus` crate.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use http::{Method, StatusCode};
use prometheus::{
    HistogramVec, IntCounterVec, IntGaugeVec, Registry, register_gauge_with_registry,
    register_histogram_vec_with_registry, register_histogram_with_registry, register_int_counter_vec_with_registry,
    register_int_counter_with_registry, register_int_gauge_vec_with_registry, register_int_gauge_with_registry,
};

use crate::{ClientMetrics, ClientMetricsProvider, LimitState};

/// Client metrics with the names, help texts, labels and buckets of the Kubernetes binaries:
///
/// | metric | type | labels |
/// |---|---|---|
/// | `rest_client_request_duration_seconds`, `rest_client_rate_limiter_duration_seconds` | histogram | verb, host |
/// | `rest_client_request_size_bytes`, `rest_client_response_size_bytes` | histogram | verb, host |
/// | `rest_client_requests_total` | counter | code, method, host |
/// | `rest_client_request_retries_total` | counter | code, verb, host |
/// | `rest_client_transport_create_calls_total` | counter | result |
///
/// The label `verb` is the HTTP method; `code` is `<error>` if there was no response. `rest_client_exec_plugin_ttl_seconds`,
/// `rest_client_exec_plugin_certificate_rotation_age`, `rest_client_transport_cache_entries` and
/// `rest_client_transport_cert_rotation_gc_calls_total`, which dashboards may query, are registered with constant values: this
/// client has no transport cache and reports no plugin certificates.
///
/// These metrics have no counterpart in Kubernetes. They exist for clients with an
/// [adaptive limit](crate::ClientOptions::adaptive), and are sums over all of them:
///
/// | metric | type | labels |
/// |---|---|---|
/// | `kube_client_request_limit`, `kube_client_requests_in_flight`, `kube_client_requests_waiting` | gauge | host |
///
/// Register once per registry and pass to [`Client::with_metrics`](crate::Client::with_metrics) for every client.
#[derive(Debug, Clone)]
pub struct PrometheusMetrics {
    request_duration: HistogramVec,
    rate_limiter_duration: HistogramVec,
    request_size: HistogramVec,
    response_size: HistogramVec,
    requests: IntCounterVec,
    retries: IntCounterVec,
    transport_creations: IntCounterVec,
    /// Limit, requests in flight and waiting requests.
    limits: [IntGaugeVec; 3],
}

const DURATION_BUCKETS: [f64; 12] = [0.005, 0.025, 0.1, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 15.0, 30.0, 60.0];
const SIZE_BUCKETS: [f64; 11] =
    [64.0, 256.0, 512.0, 1_024.0, 4_096.0, 16_384.0, 65_536.0, 262_144.0, 1_048_576.0, 4_194_304.0, 16_777_216.0];
/// Buckets in seconds, from 10 min to 4 years.
const CERTIFICATE_AGE_BUCKETS: [f64; 11] = [
    600.0,
    1_800.0,
    3_600.0,
    14_400.0,
    86_400.0,
    604_800.0,
    2_592_000.0,
    7_776_000.0,
    15_552_000.0,
    31_104_000.0,
    124_416_000.0,
];

impl PrometheusMetrics {
    /// Registers the metrics.
    ///
    /// # Errors
    ///
    /// [`prometheus::Error::AlreadyReg`] if the registry contains a metric of one of these names.
    pub fn register(registry: &Registry) -> prometheus::Result<Self> {
        let histogram = |name: &str, help: &str, buckets: &[f64]| {
            register_histogram_vec_with_registry!(name, help, &["verb", "host"], buckets.to_vec(), registry)
        };
        let counter = |name: &str, help: &str, labels: &[&str]| {
            register_int_counter_vec_with_registry!(name, help, labels, registry)
        };
        let gauge = |name: &str, help: &str| register_int_gauge_vec_with_registry!(name, help, &["host"], registry);
        register_constant_metrics(registry)?;
        Ok(Self {
            request_duration: histogram(
                "rest_client_request_duration_seconds",
                "[ALPHA] Request latency in seconds. Broken down by verb, and host.",
                &DURATION_BUCKETS,
            )?,
            rate_limiter_duration: histogram(
                "rest_client_rate_limiter_duration_seconds",
                "[ALPHA] Client side rate limiter latency in seconds. Broken down by verb, and host.",
                &DURATION_BUCKETS,
            )?,
            request_size: histogram(
                "rest_client_request_size_bytes",
                "[ALPHA] Request size in bytes. Broken down by verb and host.",
                &SIZE_BUCKETS,
            )?,
            response_size: histogram(
                "rest_client_response_size_bytes",
                "[ALPHA] Response size in bytes. Broken down by verb and host.",
                &SIZE_BUCKETS,
            )?,
            requests: counter(
                "rest_client_requests_total",
                "[ALPHA] Number of HTTP requests, partitioned by status code, method, and host.",
                &["code", "method", "host"],
            )?,
            retries: counter(
                "rest_client_request_retries_total",
                "[ALPHA] Number of request retries, partitioned by status code, verb, and host.",
                &["code", "verb", "host"],
            )?,
            transport_creations: counter(
                "rest_client_transport_create_calls_total",
                "[ALPHA] Number of calls to get a new transport, partitioned by the result of the operation hit: \
                 obtained from the cache, miss: created and added to the cache, miss-gc: recreated and added back to \
                 the cache after being garbage collected, uncacheable: created and not cached",
                &["result"],
            )?,
            limits: [
                gauge(
                    "kube_client_request_limit",
                    "Maximum number of requests in flight of clients with an adaptive limit. The sum over all clients of \
                     the process.",
                )?,
                gauge("kube_client_requests_in_flight", "Requests in flight of clients with an adaptive limit.")?,
                gauge("kube_client_requests_waiting", "Requests that wait for an adaptive limit.")?,
            ],
        })
    }
}

/// Registers the metrics of client-go that are constant here: transport cache and plugin certificates.
fn register_constant_metrics(registry: &Registry) -> prometheus::Result<()> {
    let ttl = register_gauge_with_registry!(
        "rest_client_exec_plugin_ttl_seconds",
        "[ALPHA] Gauge of the shortest TTL (time-to-live) of the client certificate(s) managed by the auth exec plugin. \
         The value is in seconds until certificate expiry (negative if already expired). If auth exec plugins are \
         unused or manage no TLS certificates, the value will be +INF.",
        registry
    );
    ttl?.set(f64::INFINITY);
    register_histogram_with_registry!(
        "rest_client_exec_plugin_certificate_rotation_age",
        "[ALPHA] Histogram of the number of seconds the last auth exec plugin client certificate lived before being \
         rotated. If auth exec plugin client certificates are unused, histogram will contain no data.",
        CERTIFICATE_AGE_BUCKETS.to_vec(),
        registry
    )?;
    register_int_gauge_with_registry!(
        "rest_client_transport_cache_entries",
        "[ALPHA] Number of transport entries in the internal cache.",
        registry
    )?;
    register_int_counter_with_registry!(
        "rest_client_transport_cert_rotation_gc_calls_total",
        "[ALPHA] Number of times a cert rotation goroutine cancel func is called via GC cleanup of the associated transport",
        registry
    )?;
    Ok(())
}

impl ClientMetricsProvider for PrometheusMetrics {
    fn client(&self, host: &str) -> Arc<dyn ClientMetrics> {
        self.transport_creations.with_label_values(&["uncacheable"]).inc();
        Arc::new(PrometheusClientMetrics { host: host.to_owned(), metrics: self.clone(), limits: Mutex::default() })
    }
}

struct PrometheusClientMetrics {
    host: String,
    metrics: PrometheusMetrics,
    /// Part of this client in the gauges of limits.
    limits: Mutex<[i64; 3]>,
}

impl PrometheusClientMetrics {
    fn observe(&self, histogram: &HistogramVec, method: &Method, value: f64) {
        histogram.with_label_values(&[method.as_str(), &self.host]).observe(value);
    }

    fn set_limits(&self, after: [i64; 3]) {
        let mut limits = self.limits.lock().unwrap_or_else(PoisonError::into_inner);
        let before = std::mem::replace(&mut *limits, after);
        // A client without adaptive limit has no series.
        if before != after {
            for ((gauge, before), after) in self.metrics.limits.iter().zip(before).zip(after) {
                gauge.with_label_values(&[&self.host]).add(after - before);
            }
        }
    }

    fn count(&self, counter: &IntCounterVec, method: &Method, code: Option<StatusCode>) {
        let code = code.as_ref().map_or("<error>", StatusCode::as_str);
        counter.with_label_values(&[code, method.as_str(), &self.host]).inc();
    }
}

fn float(size: usize) -> f64 {
    // Exact: bodies are smaller than 2^52 bytes.
    #[expect(clippy::cast_precision_loss)]
    let float = size as f64;
    float
}

/// Removes the part of a client that no longer exists.
impl Drop for PrometheusClientMetrics {
    fn drop(&mut self) {
        self.set_limits([0; 3]);
    }
}

impl ClientMetrics for PrometheusClientMetrics {
    fn limit_changed(&self, LimitState { limit, in_flight, waiting }: LimitState) {
        self.set_limits([limit, in_flight, waiting].map(|number| i64::try_from(number).unwrap_or(i64::MAX)));
    }

    fn rate_limited(&self, method: &Method, waited: Duration) {
        self.observe(&self.metrics.rate_limiter_duration, method, waited.as_secs_f64());
    }

    fn responded(&self, method: &Method, code: Option<StatusCode>, request_bytes: usize) {
        self.observe(&self.metrics.request_size, method, float(request_bytes));
        self.count(&self.metrics.requests, method, code);
    }

    fn retried(&self, method: &Method, code: Option<StatusCode>) {
        self.count(&self.metrics.retries, method, code);
    }

    fn completed(&self, method: &Method, duration: Duration) {
        self.observe(&self.metrics.request_duration, method, duration.as_secs_f64());
    }

    fn body_read(&self, method: &Method, size: usize) {
        self.observe(&self.metrics.response_size, method, float(size));
    }
}
