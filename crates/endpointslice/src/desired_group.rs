//! Groups of desired endpoints.

use kube_endpoint_model::{AddressType, Endpoint, EndpointPort};

use crate::desired_endpoint::DesiredEndpoint;

/// Desired endpoints with the same address type and ports, which may share slices.
#[derive(Clone, Debug, PartialEq)]
pub struct DesiredGroup<E = Endpoint> {
    /// Address type of the endpoints.
    pub address_type: AddressType,
    /// Ports of the endpoints, in any order; slices have them in upstream's, by a hash. Without a name or protocol, a port
    /// has the API server's defaults, the empty name and `TCP`.
    pub ports: Vec<EndpointPort>,
    /// The endpoints, in any order. Of two with the same identity the later one counts (RC-14). In a group without
    /// endpoints, existing slices with these ports are kept if they are empty already (RC-10).
    pub endpoints: Vec<E>,
}

impl<E: DesiredEndpoint> DesiredGroup<E> {
    /// Returns the number of endpoints that are ready, for example for the status of a custom resource.
    ///
    /// A Pod of two IP families is an endpoint of two groups. So without named ports, where each family has one group,
    /// the number of ready Pods is the maximum:
    ///
    /// ```
    /// use std::sync::Arc;
    ///
    /// use kube_endpoint_model::Pod;
    /// use kube_endpointslice::{DesiredGroup, desired_endpoints_from_pods};
    ///
    /// let pod = |name: &str, ready: bool| Pod {
    ///     name: name.into(),
    ///     node_name: "n1".into(),
    ///     pod_ips: ["10.0.0.1", "fd00::1"].into(),
    ///     ready,
    ///     ..Pod::default()
    /// };
    /// let pods = [Arc::new(pod("a", true)), Arc::new(pod("b", false))];
    /// let desired = desired_endpoints_from_pods(&pods, &[], |_| None);
    /// assert_eq!(desired.iter().map(DesiredGroup::ready_count).collect::<Vec<_>>(), [1, 1]);
    /// assert_eq!(desired.iter().map(DesiredGroup::ready_count).max(), Some(1));
    /// ```
    pub fn ready_count(&self) -> usize {
        self.endpoints.iter().filter(|endpoint| endpoint.is_ready()).count()
    }
}
