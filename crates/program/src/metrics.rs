//! Metrics that the controllers of a process share.

use prometheus::Registry;

/// Metrics of controllers on a registry of the `prometheus` crate: those of queue, syncs, informers and leader election.
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
///
/// Requests are measured by [`Client::with_metrics`](kube_controller_client::Client::with_metrics), and writes of slices
/// by the metrics of the reconciler. Clones share the metrics.
#[derive(Clone, Debug)]
pub struct PrometheusMetrics {
    pub(crate) queues: kube_workqueue::PrometheusMetrics,
    pub(crate) controllers: kube_controller::PrometheusControllers,
    pub(crate) informers: kube_informer::PrometheusMetrics,
    pub(crate) elections: kube_lease_election::PrometheusMetrics,
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
            #[cfg(feature = "http")]
            registry: registry.clone(),
        })
    }
}
