//! What the plan of one Service reads.

use std::sync::Arc;

use jiff::Timestamp;
use kube_endpoint_model::{Cluster, EndpointSubset, Endpoints, Pod, Service, Write, references};
use kube_wire::Object as _;

use crate::kept::kept_subsets;
use crate::legacy::Legacy;
use crate::plan::plan_keeping;

/// Inputs of the plan for a Service with a selector. The controller, previews and explanations read them here.
#[derive(Clone, Debug)]
pub struct Inputs {
    /// The Service.
    pub service: Arc<Service>,
    /// Pods that it selects, by name.
    pub pods: Vec<Arc<Pod>>,
    /// Endpoints object of its name.
    pub current: Option<Arc<Endpoints>>,
    /// Stored addresses of Pods that may exist although the cluster lacks them: they stay.
    pub kept: Vec<EndpointSubset>,
}

impl Inputs {
    /// Reads the inputs for a Service from a cluster.
    pub fn read(cluster: &impl Cluster, service: Arc<Service>) -> Inputs {
        let pods = cluster.selected_pods(&service);
        Inputs::of_pods(cluster, service, pods)
    }

    /// Reads the inputs for a Service whose Pods, by name, have been selected already.
    pub fn of_pods(cluster: &impl Cluster, service: Arc<Service>, pods: Vec<Arc<Pod>>) -> Inputs {
        let current = cluster.endpoints(&service.key());
        let kept = match &current {
            Some(current) if cluster.withholds_any() => kept_subsets(current, |target| {
                references::pod(target).is_some_and(|(pod, _)| cluster.withholds_pod(&pod))
            }),
            _ => Vec::new(),
        };
        Inputs { service, pods, current, kept }
    }

    /// Returns the write that brings the Endpoints object to its desired state, as [`plan`](crate::plan()).
    pub fn plan(&self, trigger_time: Option<Timestamp>, legacy: Legacy) -> Option<Write<Endpoints>> {
        let Inputs { service, pods, current, kept } = self;
        plan_keeping(kept.clone(), service, pods, current.as_ref(), trigger_time, legacy)
    }
}
