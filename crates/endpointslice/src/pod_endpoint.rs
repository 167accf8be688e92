//! Desired endpoints that borrow from Pods.

use std::borrow::Cow;
use std::sync::Arc;

use kube_endpoint_model::membership::{self, PodReason};
use kube_endpoint_model::{Addresses, Endpoint, EndpointConditions, IpFamily, Node, Pod, Service, Text};

use crate::desired_endpoint::View;
use crate::identity::Identity;

/// Pod as a desired endpoint of a Service (RC-12), as [`desired_endpoints_from_service_pods`] returns it. It borrows
/// from the Pod, and is converted to an [`Endpoint`] only if its slice is written.
///
/// [`desired_endpoints_from_service_pods`]: crate::desired_endpoints_from_service_pods
#[derive(Clone, Debug)]
pub struct PodEndpoint<'a> {
    pod: &'a Pod,
    node: Option<Arc<Node>>,
    addresses: Cow<'a, Addresses>,
    conditions: EndpointConditions,
    hostname: Option<&'a Text>,
}

impl<'a> PodEndpoint<'a> {
    /// Returns the endpoint of a Pod and why it is not ready, or why the Pod has no endpoint of the family (RC-13).
    pub(crate) fn new(
        service: &Service,
        pod: &'a Pod,
        node: Option<Arc<Node>>,
        family: IpFamily,
    ) -> Result<(PodEndpoint<'a>, Option<PodReason>), PodReason> {
        let mut addresses = membership::addresses(pod, family)?;
        if addresses.len() > 1 {
            addresses = Cow::Owned(addresses.into_owned().sorted()); // Sorted by their text (EC-44).
        }
        let unready = membership::unready(pod, service.publish_not_ready_addresses);
        let endpoint = PodEndpoint {
            addresses,
            conditions: EndpointConditions {
                ready: Some(unready.is_none()),
                serving: Some(pod.ready),
                terminating: Some(pod.terminating),
            },
            hostname: membership::has_hostname(pod, service).then_some(&pod.hostname),
            pod,
            node,
        };
        Ok((endpoint, unready))
    }

    pub(crate) fn addresses(&self) -> &Addresses {
        &self.addresses
    }

    fn zone(&self) -> Option<&Text> {
        self.node.as_deref().map(|node| &node.zone).filter(|zone| !zone.is_empty())
    }

    fn node_name(&self) -> Option<&Text> {
        Some(&self.pod.node_name).filter(|name| !name.is_empty())
    }
}

impl View for PodEndpoint<'_> {
    fn identity(&self) -> Identity<'_> {
        Identity {
            namespace: &self.pod.namespace,
            name: &self.pod.name,
            hostname: self.hostname.map(|text| &**text).unwrap_or_default(),
            addresses: &self.addresses,
        }
    }

    fn is_met_by(&self, existing: &Endpoint) -> bool {
        self.conditions == existing.conditions
            && self.node_name() == existing.node_name.as_ref()
            && self.zone() == existing.zone.as_ref()
            // Namespace and name need no comparison: they are part of the identity.
            && existing.target_ref.as_ref().is_some_and(|target| *target.uid() == self.pod.uid && target.is_of_pod())
    }

    fn to_endpoint(&self) -> Endpoint {
        Endpoint {
            addresses: Addresses::clone(&self.addresses),
            conditions: self.conditions,
            hostname: self.hostname.cloned(),
            node_name: self.node_name().cloned(),
            target_ref: Some(membership::target(self.pod)),
            zone: self.zone().cloned(),
            ..Endpoint::default()
        }
    }
}
