//! What the mirroring controller reports of its work, and to whom.

#[cfg(feature = "prometheus")]
mod prometheus;

use std::sync::Arc;
use std::time::Duration;

use kube_controller::{ControllerMetrics, PropagationMetrics};
use kube_endpointslice::metrics::SliceMetrics;
use kube_workqueue::MetricsProvider;

#[cfg(feature = "prometheus")]
pub use prometheus::PrometheusMetrics;

/// What the mirroring controller reports, beside its slices. Each method does nothing by default.
pub trait MirroringMetrics: SliceMetrics {
    /// A sync planned its writes: so many endpoints added, changed in place and removed, in both families.
    fn planned_both(&self, added: usize, updated: usize, removed: usize) {
        let _ = (added, updated, removed);
    }

    /// A sync left out so many addresses: invalid ones, and those beyond the limit (MI-11).
    fn skipped(&self, addresses: usize) {
        let _ = addresses;
    }

    /// A sync ended, whatever came of it (MI-5).
    fn took(&self, duration: Duration) {
        let _ = duration;
    }
}

/// Reports nothing.
impl MirroringMetrics for () {}

/// Who is told what the controller does. Nobody by default.
#[derive(Clone)]
#[non_exhaustive]
pub struct Metrics {
    /// The metrics of mirroring.
    pub mirroring: Arc<dyn MirroringMetrics>,
    /// The metrics of its queue.
    pub queues: Option<Arc<dyn MetricsProvider>>,
    /// Metrics that upstream does not have.
    pub controller: Arc<dyn ControllerMetrics>,
    /// How long changes take to be written. Nothing is measured for nobody.
    pub propagation: Option<Arc<dyn PropagationMetrics>>,
}

impl Default for Metrics {
    fn default() -> Self {
        Metrics { mirroring: Arc::new(()), queues: None, controller: Arc::new(()), propagation: None }
    }
}

impl Metrics {
    /// Registers all metrics of the mirroring controller. Those of queues and those that upstream does not have are
    /// shared by the controllers of a process, and so registered by the caller.
    #[cfg(feature = "prometheus")]
    pub fn register(
        registry: &::prometheus::Registry,
        queues: &kube_workqueue::PrometheusMetrics,
        controllers: &kube_controller::PrometheusControllers,
    ) -> ::prometheus::Result<Metrics> {
        Ok(Metrics {
            mirroring: Arc::new(PrometheusMetrics::register(registry)?),
            queues: Some(Arc::new(queues.clone())),
            controller: controllers.controller(crate::controller::NAME),
            propagation: Some(controllers.propagation(crate::controller::NAME)),
        })
    }
}
