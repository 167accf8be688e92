//! Metrics that the controllers of a process share.

use std::sync::Arc;

use kube_controller_client::{ClientMetrics, ClientMetricsProvider};
use prometheus::Registry;

/// Metrics of controllers on a registry of the `prometheus` crate: those of queue, syncs, informers, leader election and
/// requests.
///
/// Register once per registry, and pass the metrics to [`Controller::with_metrics`](crate::Controller::with_metrics) of
/// each controller of the process. As with client-go, all controllers share the metrics, and labels tell them apart:
///
/// | metrics | label |
/// |---|---|
/// | `workqueue_*`, see [`kube_workqueue::PrometheusMetrics`] | `name`: the name of the controller |
/// | `kube_controller_*`, see [`kube_controller::PrometheusControllers`] | `controller`: the name of the controller |
/// | `informer_*` and `kube_informer_*`, see [`kube_informer::PrometheusMetrics`] | `name`: the name of the controller |
/// | `leader_election_*`, see [`kube_lease_election::PrometheusMetrics`] | `name`: the name of the Lease |
/// | `rest_client_*`, see [`kube_controller_client::PrometheusMetrics`] | `host`: the API server |
///
/// Requests are measured if the client was created with
/// [`Client::with_metrics(&config, options, &metrics)`](kube_controller_client::Client::with_metrics). Writes of slices are
/// measured by the metrics of the reconciler. Clones share the metrics.
#[derive(Clone, Debug)]
pub struct PrometheusMetrics {
    pub(crate) queues: kube_workqueue::PrometheusMetrics,
    pub(crate) controllers: kube_controller::PrometheusControllers,
    pub(crate) informers: kube_informer::PrometheusMetrics,
    pub(crate) elections: kube_lease_election::PrometheusMetrics,
    clients: kube_controller_client::PrometheusMetrics,
    #[cfg(feature = "http")]
    pub(crate) registry: Registry,
}

impl PrometheusMetrics {
    /// Registers the metrics. Their series appear with the controllers.
    ///
    /// # Errors
    ///
    /// [`prometheus::Error::AlreadyReg`] if the registry contains one of these metrics; those that were registered before
    /// it stay registered.
    pub fn register(registry: &Registry) -> prometheus::Result<PrometheusMetrics> {
        Ok(PrometheusMetrics {
            queues: kube_workqueue::PrometheusMetrics::register(registry)?,
            controllers: kube_controller::PrometheusControllers::register_with_prefix(registry, "kube_controller")?,
            informers: kube_informer::PrometheusMetrics::register(registry, "")?,
            elections: kube_lease_election::PrometheusMetrics::register(registry)?,
            clients: kube_controller_client::PrometheusMetrics::register(registry)?,
            #[cfg(feature = "http")]
            registry: registry.clone(),
        })
    }
}

impl ClientMetricsProvider for PrometheusMetrics {
    fn client(&self, host: &str) -> Arc<dyn ClientMetrics> {
        self.clients.client(host)
    }
}
