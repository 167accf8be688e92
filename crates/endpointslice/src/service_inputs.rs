//! What the plan of the slices of one Service reads.

use std::sync::Arc;

use kube_endpoint_model::well_known::SLICE_CONTROLLER;
use kube_endpoint_model::{AddressType, Cluster, EndpointSlice, Pod, Service, TargetRef};
use kube_topology::HintPolicy;

use crate::desired::{PodDecision, ServiceEndpoints, desired_endpoints_explained};
use crate::desired_group::DesiredGroup;
use crate::input::Input;
use crate::owner::Owner;
use crate::slice_labels::SliceLabels;
use crate::withheld::Withheld;

/// Inputs of the plan for the slices of a Service with a selector. The controller, previews and explanations read them here.
#[derive(Debug)]
pub struct ServiceInputs {
    service: Arc<Service>,
    pods: Vec<Arc<Pod>>,
    existing: Vec<Arc<EndpointSlice>>,
    owner: Owner,
    address_types: Vec<AddressType>,
    labels: SliceLabels,
    withheld: Withheld,
}

impl ServiceInputs {
    /// Reads the inputs for a Service from a cluster.
    pub fn read(cluster: &impl Cluster, service: Arc<Service>) -> ServiceInputs {
        let owner = Owner::service(&service);
        let mut existing = cluster.slices(&owner.key(), SLICE_CONTROLLER);
        // A slice that is being deleted does not count (ES-5).
        existing.retain(|slice| slice.metadata.deletion_timestamp.is_none());
        let pods = cluster.selected_pods(&service);
        ServiceInputs {
            withheld: Withheld::of(cluster, &pods, &existing),
            owner,
            address_types: service.address_types(),
            labels: SliceLabels::for_service(&service),
            service,
            pods,
            existing,
        }
    }

    /// Returns the Pods that the Service selects, by name.
    pub fn pods(&self) -> &[Arc<Pod>] {
        &self.pods
    }

    /// Returns the Pods that the Service selects, by name.
    pub fn into_pods(self) -> Vec<Arc<Pod>> {
        self.pods
    }

    /// Returns the slices that the plan changes.
    pub fn existing(&self) -> &[Arc<EndpointSlice>] {
        &self.existing
    }

    /// Returns the hint policy of the Service.
    pub fn policy(&self) -> HintPolicy {
        HintPolicy::of(&self.service)
    }

    /// Computes the desired endpoints of the Pods, with the Nodes of `cluster`, and passes the decision about each Pod and
    /// address type to `observe`.
    pub fn desired(&self, cluster: &impl Cluster, observe: impl FnMut(PodDecision<'_>)) -> ServiceEndpoints<'_> {
        cluster.with_nodes(|nodes| {
            let node = |name: &str| nodes(name).or_else(|| self.withheld.nodes.get(name).cloned());
            desired_endpoints_explained(&self.service, &self.pods, node, observe)
        })
    }

    /// Returns the input of a plan for these endpoints.
    pub fn input<E>(&self, desired: Vec<DesiredGroup<E>>) -> Input<'_, E> {
        Input::new(&self.owner, &self.address_types, desired, &self.existing).labels(&self.labels)
    }

    /// Returns whether Pods or Nodes are withheld that the plan would need.
    pub fn is_withheld(&self) -> bool {
        !self.withheld.is_empty()
    }

    /// Returns whether the endpoint of this target stays because its Pod is withheld. `None` if none stays for this reason.
    pub fn kept(&self) -> Option<impl Fn(&TargetRef) -> bool + '_> {
        (!self.withheld.pods.is_empty()).then_some(|target: &TargetRef| self.withheld.pods.contains(target))
    }
}
