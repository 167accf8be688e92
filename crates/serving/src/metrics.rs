//! Metrics of a server.

use std::sync::Arc;

use prometheus::{
    IntCounter, IntGauge, Registry, register_int_counter_vec_with_registry, register_int_gauge_vec_with_registry,
};

use crate::connections::Stage;

/// Why the server closed a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Closed {
    /// There were too many, or no free file descriptor.
    Displaced,
    HandshakeTimeout,
    HandshakeFailed,
    /// No complete request head arrived in time.
    HeadTimeout,
    IdleTimeout,
    /// The client did not read the response.
    WriteTimeout,
    /// The CA bundle for client certificates changed.
    ClientCaChanged,
}

impl Closed {
    /// Values of the label `reason`, in the order of the variants.
    const LABELS: [&str; 7] = [
        "displaced",
        "handshake_timeout",
        "handshake_failed",
        "head_timeout",
        "idle_timeout",
        "write_timeout",
        "client_ca_changed",
    ];

    pub(crate) const fn label(self) -> &'static str {
        Closed::LABELS[self as usize]
    }
}

/// A limit because of which a request is answered with 429.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Limit {
    /// The queue of `TokenReview` requests is full.
    TokenReviews,
    /// The queue of `SubjectAccessReview` requests is full.
    SubjectAccessReviews,
    /// Too many responses are being sent.
    Responses,
}

impl Limit {
    /// Values of the label `limit`, in the order of the variants.
    const LABELS: [&str; 3] = ["token_reviews", "subject_access_reviews", "responses"];
}

/// Values of the label `state`, in the order of the stages.
const STATES: [&str; Stage::ALL.len()] = ["waiting", "anonymous", "authenticated"];

/// Metrics of connections and of rejected requests. All series exist from the start. Clones share them; the default measures
/// nothing.
#[derive(Clone, Debug, Default)]
pub struct ServingMetrics(Option<Arc<Series>>);

#[derive(Debug)]
struct Series {
    connections: [IntGauge; STATES.len()],
    closed: [IntCounter; Closed::LABELS.len()],
    rejected: [IntCounter; Limit::LABELS.len()],
}

impl ServingMetrics {
    /// Registers the metrics `PREFIX_serving_connections`, `PREFIX_serving_connections_closed_total` and
    /// `PREFIX_serving_requests_rejected_total`.
    ///
    /// # Errors
    ///
    /// [`prometheus::Error::AlreadyReg`] if the registry contains one of these metrics.
    pub fn register(registry: &Registry, prefix: &str) -> prometheus::Result<ServingMetrics> {
        let connections = register_int_gauge_vec_with_registry!(
            format!("{prefix}_serving_connections"),
            "Number of open connections to the HTTPS server: before the handshake (waiting), of clients that are not \
             authenticated (anonymous), and of others (authenticated).",
            &["state"],
            registry
        )?;
        let closed = register_int_counter_vec_with_registry!(
            format!("{prefix}_serving_connections_closed_total"),
            "Number of connections that the HTTPS server closed, by reason. displaced: there were too many.",
            &["reason"],
            registry
        )?;
        let rejected = register_int_counter_vec_with_registry!(
            format!("{prefix}_serving_requests_rejected_total"),
            "Number of requests that the HTTPS server answered with 429, by the limit: reviews that wait, or responses \
             that are being sent.",
            &["limit"],
            registry
        )?;
        Ok(ServingMetrics(Some(Arc::new(Series {
            connections: STATES.map(|state| connections.with_label_values(&[state])),
            closed: Closed::LABELS.map(|reason| closed.with_label_values(&[reason])),
            rejected: Limit::LABELS.map(|limit| rejected.with_label_values(&[limit])),
        }))))
    }

    pub(crate) fn closed(&self, reason: Closed) {
        if let Some(series) = &self.0 {
            series.closed[reason as usize].inc();
        }
    }

    pub(crate) fn rejected(&self, limit: Limit) {
        if let Some(series) = &self.0 {
            series.rejected[limit as usize].inc();
        }
    }

    pub(crate) fn set_connections(&self, counts: [usize; STATES.len()]) {
        let Some(series) = &self.0 else { return };
        for (gauge, count) in series.connections.iter().zip(counts) {
            gauge.set(i64::try_from(count).unwrap_or(i64::MAX));
        }
    }
}
