//! Desired endpoints that borrow from Pods.

use std::borrow::Cow;
use std::sync::Arc;

use educe::Educe;
use kube_endpoint_model::membership::{self, PodReason};
use kube_endpoint_model::{Addresses, Endpoint, EndpointConditions, IpFamily, Node, Pod, PodFields, Service, Text};

use crate::desired_endpoint::View;
use crate::identity::Identity;

/// Pod as a desired endpoint of a Service (RC-12), as [`desired_endpoints_from_service_pods`] returns it. It borrows
/// from the Pod, and is converted to an [`Endpoint`] only if its slice is written.
///
/// `P` is the projection of the Pod.
///
/// [`desired_endpoints_from_service_pods`]: crate::desired_endpoints_from_service_pods
#[derive(Debug, Educe)]
#[educe(Clone(bound(false)))]
pub struct PodEndpoint<'a, P = Pod> {
    pod: &'a P,
    node: Option<Arc<Node>>,
    addresses: Cow<'a, Addresses>,
    conditions: EndpointConditions,
    hostname: Option<&'a Text>,
}

impl<'a, P: PodFields> PodEndpoint<'a, P> {
    /// Returns the endpoint of a Pod and why it is not ready, or why the Pod has no endpoint of the family (RC-13).
    /// Without a Service, it has no host name, and only a ready Pod is published as ready.
    pub(crate) fn new(
        service: Option<&Service>,
        pod: &'a P,
        node: Option<Arc<Node>>,
        family: IpFamily,
    ) -> Result<(PodEndpoint<'a, P>, Option<PodReason>), PodReason> {
        let mut addresses = membership::addresses(pod, family)?;
        if addresses.len() > 1 {
            addresses = Cow::Owned(addresses.into_owned().sorted()); // Sorted by their text (EC-44).
        }
        let publish = service.is_some_and(|service| service.publish_not_ready_addresses);
        let unready = membership::unready(pod, publish);
        let has_hostname = service.is_some_and(|service| membership::has_hostname(pod, service));
        let endpoint = PodEndpoint {
            addresses,
            conditions: conditions(pod, publish),
            hostname: has_hostname.then(|| pod.view().hostname),
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
        Some(self.pod.view().node_name).filter(|name| !name.is_empty())
    }
}

/// Returns the endpoint of a Pod at other addresses than those of its status, for example on a secondary network. Its
/// conditions, node name and target are those that the slice controller writes for a Service that does not publish
/// addresses of Pods that are not ready; it has neither host name nor zone. For one that does, set `conditions.ready` to
/// `Some(true)`: [`membership::unready`](kube_endpoint_model::membership::unready) is the rule.
///
/// Every Pod gets an endpoint, also one that has failed, has succeeded or is not scheduled, which the slice controller
/// leaves out. Leave those out that [`membership::exclusion`] returns a reason for.
///
/// The addresses are written as they are. One that the API server rejects makes every write of its slice fail, and so
/// leaves all endpoints of that slice out of date: create addresses of foreign origin, such as those of an annotation,
/// with [`Address::checked`](kube_endpoint_model::Address::checked).
pub fn endpoint_at(pod: &impl PodFields, addresses: Addresses) -> Endpoint {
    let node = None;
    let addresses = Cow::Owned(addresses);
    PodEndpoint { addresses, conditions: conditions(pod, false), hostname: None, pod, node }.to_endpoint()
}

fn conditions(pod: &impl PodFields, publish_not_ready: bool) -> EndpointConditions {
    EndpointConditions {
        ready: Some(membership::unready(pod, publish_not_ready).is_none()),
        serving: Some(pod.view().ready),
        terminating: Some(pod.view().terminating),
    }
}

impl<P: PodFields> View for PodEndpoint<'_, P> {
    fn identity(&self) -> Identity<'_> {
        Identity {
            namespace: self.pod.namespace(),
            name: self.pod.name(),
            hostname: self.hostname.map(|text| &**text).unwrap_or_default(),
            addresses: &self.addresses,
        }
    }

    fn is_met_by(&self, existing: &Endpoint) -> bool {
        self.conditions == existing.conditions
            && self.node_name() == existing.node_name.as_ref()
            && self.zone() == existing.zone.as_ref()
            // Namespace and name need no comparison: they are part of the identity.
            && existing.target_ref.as_ref().is_some_and(|target| self.pod.uid() == *target.uid() && target.is_of_pod())
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

    fn ready(&self) -> bool {
        self.conditions.ready == Some(true)
    }
}
