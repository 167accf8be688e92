//! Desired endpoints, and their computation from Pods.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use educe::Educe;
use kube_endpoint_model::membership::{self, PodOutcome, PodReason};
use kube_endpoint_model::{
    Address, AddressType, EndpointPort, IpFamily, Node, Pod, PodFields, Service, TargetPort, Text, sort_slice_ports,
};

use crate::desired_group::DesiredGroup;
use crate::pod_endpoint::PodEndpoint;

/// Maximum number of ports of a slice, which the API server enforces (EC-52). A Service may have more.
pub const MAX_PORTS: usize = 20_000;

/// Desired endpoints of a Service, and the Pods that are left out of them. `P` is the projection of the Pods.
#[derive(Clone, Debug, Educe)]
#[educe(Default(bound(false)))]
#[non_exhaustive]
pub struct ServiceEndpoints<'a, P = Pod> {
    /// Endpoints, grouped by address type and ports.
    pub groups: Vec<DesiredGroup<PodEndpoint<'a, P>>>,
    /// Pods that are left out because their Node is not in the cache (RC-11). Write the other endpoints, then fail the
    /// sync, so that it is retried.
    pub missing_nodes: Vec<MissingNode>,
}

/// Pod whose Node is not in the cache.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MissingNode {
    /// Name of the Pod.
    pub pod: Text,
    /// Name of the Node, from `spec.nodeName` of the Pod; may be empty.
    pub node: Text,
}

/// Computes the desired endpoints of a Service from the Pods that it selects, like the slice controller (RC-8 to
/// RC-14).
///
/// `P` is [`Pod`] or any other projection of Pods. `node` returns the Node with the given name. Terminating Pods are endpoints with the condition `terminating`. A Pod
/// on an unknown Node is left out, unless the Service publishes unready addresses.
pub fn desired_endpoints_from_service_pods<'a, P: PodFields>(
    service: &Service,
    pods: &'a [Arc<P>],
    node: impl Fn(&str) -> Option<Arc<Node>>,
) -> ServiceEndpoints<'a, P> {
    desired_endpoints_explained(service, pods, node, |_| {})
}

/// Computes the desired endpoints of Pods that no Service selects, in one group for each IP family: those of a custom
/// resource with a selector, for example. Terminating Pods are endpoints with the condition `terminating`.
///
/// `ports` are those of the groups. `node` returns the Node with the given name, for the zone of its endpoints; `None` for
/// endpoints without a zone.
pub fn desired_endpoints_from_pods<'a, P: PodFields>(
    pods: &'a [Arc<P>],
    ports: &[EndpointPort],
    node: impl Fn(&str) -> Option<Arc<Node>>,
) -> Vec<DesiredGroup<PodEndpoint<'a, P>>> {
    let members: Vec<&'a Arc<P>> = pods.iter().filter(|pod| membership::exclusion(&***pod, true).is_none()).collect();
    let group = |family: IpFamily| {
        let endpoint = |pod: &&'a Arc<P>| {
            let (endpoint, _) = PodEndpoint::new(None, &***pod, node(pod.view().node_name), family).ok()?;
            Some(endpoint)
        };
        let endpoints = members.iter().filter_map(endpoint).collect();
        DesiredGroup { address_type: family.into(), ports: ports.to_vec(), endpoints }
    };
    [IpFamily::V4, IpFamily::V6].map(group).into()
}

/// Decision about one Pod in the slices of one address type.
#[derive(Educe)]
#[educe(Clone(bound(false)), Copy(bound(false)))]
#[non_exhaustive]
pub struct PodDecision<'a, P = Pod> {
    /// The Pod.
    pub pod: &'a Arc<P>,
    /// Address type of the slices.
    pub address_type: &'a AddressType,
    /// Whether the Pod is an endpoint of these slices, and why.
    pub outcome: PodOutcome,
    /// Addresses of the endpoint; empty if the Pod is left out.
    pub addresses: &'a [Address],
}

impl<P: PodFields> fmt::Debug for PodDecision<'_, P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let PodDecision { pod, address_type, outcome, addresses } = self;
        f.debug_struct("PodDecision")
            .field("pod", &pod.key())
            .field("address_type", address_type)
            .field("outcome", outcome)
            .field("addresses", addresses)
            .finish()
    }
}

impl<'a, P> PodDecision<'a, P> {
    fn left_out(pod: &'a Arc<P>, address_type: &'a AddressType, reason: PodReason) -> Self {
        PodDecision { pod, address_type, outcome: PodOutcome::LeftOut(reason), addresses: &[] }
    }
}

/// Returns the same as [`desired_endpoints_from_service_pods`], and passes the decision about each Pod and address type
/// to `observe`.
pub fn desired_endpoints_explained<'a, P: PodFields>(
    service: &Service,
    pods: &'a [Arc<P>],
    node: impl Fn(&str) -> Option<Arc<Node>>,
    mut observe: impl FnMut(PodDecision<'_, P>),
) -> ServiceEndpoints<'a, P> {
    let types = service.address_types();
    let mut result = ServiceEndpoints::default();
    let mut variants = PortVariants::new(service);
    for pod in pods {
        if let Some(reason) = membership::exclusion(&**pod, true) {
            for address_type in &types {
                observe(PodDecision::left_out(pod, address_type, reason));
            }
            continue;
        }
        let variant = variants.of(&**pod);
        // A Pod that adds no endpoint still creates the groups of its ports (RC-10).
        if result.groups.len() == variant * types.len() {
            result.groups.extend(types.iter().map(|address_type| DesiredGroup {
                address_type: address_type.clone(),
                ports: variants.ports(variant),
                endpoints: Vec::with_capacity(if variant == 0 { pods.len() } else { 0 }),
            }));
        }
        let mut found = node(pod.view().node_name);
        if found.is_none() && !service.publish_not_ready_addresses {
            let reason = PodReason::NodeMissing;
            for address_type in &types {
                observe(PodDecision::left_out(pod, address_type, reason));
            }
            result.missing_nodes.push(MissingNode { pod: pod.key().name, node: pod.view().node_name.clone() });
            continue;
        }
        for (left, group) in (0..types.len()).rev().zip(&mut result.groups[variant * types.len()..]) {
            let Some(family) = family(&group.address_type) else { continue };
            // Cloning the `Arc` takes longer than the rest of the loop, so the last group gets the original.
            let node = if left == 0 { found.take() } else { found.clone() };
            let address_type = &group.address_type;
            match PodEndpoint::new(Some(service), &**pod, node, family) {
                Ok((endpoint, unready)) => {
                    let outcome = unready.map_or(PodOutcome::Ready, PodOutcome::NotReady);
                    observe(PodDecision { pod, address_type, outcome, addresses: endpoint.addresses() });
                    group.endpoints.push(endpoint);
                }
                Err(reason) => observe(PodDecision::left_out(pod, address_type, reason)),
            }
        }
    }
    result
}

/// Returns the IP family of the addresses of a type.
pub(crate) fn family(address_type: &AddressType) -> Option<IpFamily> {
    match address_type {
        AddressType::IPv4 => Some(IpFamily::V4),
        AddressType::IPv6 => Some(IpFamily::V6),
        AddressType::Fqdn | AddressType::Other(_) => None,
    }
}

/// Distinct lists of port numbers with which Pods serve the ports of a Service, in the order of the Pods. Most Services
/// have one variant; only the numbers of named target ports differ between Pods.
struct PortVariants<'a> {
    service: &'a Service,
    named: bool,
    known: HashMap<Vec<Option<i32>>, usize>,
    /// Port numbers of each variant, in the order of the Service's ports; `None` if the Pod does not declare the port.
    numbers: Vec<Vec<Option<i32>>>,
    current: usize,
    scratch: Vec<Option<i32>>,
}

impl<'a> PortVariants<'a> {
    fn new(service: &'a Service) -> Self {
        let named = service.ports.iter().any(|port| matches!(port.target, TargetPort::Name(_)));
        let (known, numbers) = (HashMap::new(), Vec::new());
        PortVariants { service, named, known, numbers, current: 0, scratch: Vec::new() }
    }

    fn of(&mut self, pod: &impl PodFields) -> usize {
        if !self.named && !self.numbers.is_empty() {
            return 0;
        }
        self.scratch.clear();
        self.scratch.extend(self.service.ports.iter().map(|port| membership::find_port(pod, port).ok()));
        // Consecutive Pods usually have the same variant.
        if self.numbers.get(self.current) != Some(&self.scratch) {
            self.current = *self.known.entry(self.scratch.clone()).or_insert_with(|| {
                self.numbers.push(self.scratch.clone());
                self.numbers.len() - 1
            });
        }
        self.current
    }

    /// Returns the ports of a variant in upstream's order. A port that its Pods do not declare is left out (RC-9), and
    /// so are those beyond [`MAX_PORTS`].
    fn ports(&self, variant: usize) -> Vec<EndpointPort> {
        let resolved = self.service.ports.iter().zip(&self.numbers[variant]);
        let mut ports: Vec<EndpointPort> =
            resolved.filter_map(|(port, number)| Some(port.endpoint_port((*number)?))).take(MAX_PORTS).collect();
        sort_slice_ports(&mut ports);
        ports
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::DesiredEndpoint as _;
    use kube_endpoint_model::{Endpoint, EndpointConditions, ServicePort};
    use rstest::rstest;

    fn service() -> Service {
        Service {
            namespace: "ns".into(),
            name: "web".into(),
            cluster_ip: "10.96.0.1".into(),
            ip_families: vec![IpFamily::V4],
            ports: vec![ServicePort {
                name: "http".into(),
                protocol: "TCP".into(),
                target: TargetPort::Number(80),
                app_protocol: None,
            }],
            ..Service::default()
        }
    }

    fn pod(name: &str) -> Pod {
        Pod {
            namespace: "ns".into(),
            name: name.into(),
            node_name: "n1".into(),
            pod_ips: ["10.0.0.1", "fd00::1"].into(),
            ready: true,
            ..Pod::default()
        }
    }

    fn node(name: &str) -> Option<Arc<Node>> {
        (name == "n1").then(|| Arc::new(Node { name: name.into(), zone: "a".into(), ..Node::default() }))
    }

    // upstream: TestPodToEndpoint
    #[rstest]
    #[case::ready(true, false, false, (true, true, false))]
    #[case::ready_published(true, false, true, (true, true, false))]
    #[case::unready(false, false, false, (false, false, false))]
    #[case::unready_published(false, false, true, (true, false, false))]
    #[case::ready_terminating(true, true, false, (false, true, true))]
    #[case::ready_terminating_published(true, true, true, (true, true, true))]
    #[case::unready_terminating(false, true, false, (false, false, true))]
    fn conditions(
        #[case] ready: bool,
        #[case] terminating: bool,
        #[case] publish: bool,
        #[case] (is_ready, serving, is_terminating): (bool, bool, bool),
    ) {
        let service = Service { publish_not_ready_addresses: publish, ..service() };
        let pods = [Arc::new(Pod { ready, terminating, ..pod("p") })];
        let desired = desired_endpoints_from_service_pods(&service, &pods, node);
        let [group] = &desired.groups[..] else { panic!("one group: {desired:?}") };
        assert_eq!(
            group.endpoints[0].endpoint().conditions,
            EndpointConditions { ready: Some(is_ready), serving: Some(serving), terminating: Some(is_terminating) }
        );
        assert_eq!(group.endpoints[0].endpoint().zone.as_deref(), Some("a"));
    }

    #[test]
    fn a_pod_on_an_unknown_node_is_left_out_and_its_group_stays() {
        let lost = [Arc::new(Pod { node_name: "ghost".into(), ..pod("lost") })];
        let desired = desired_endpoints_from_service_pods(&service(), &lost, node);
        assert_eq!(desired.missing_nodes, [MissingNode { pod: "lost".into(), node: "ghost".into() }]);
        assert_eq!(desired.groups.iter().map(|it| it.endpoints.len()).collect::<Vec<_>>(), [0]);

        let publish = Service { publish_not_ready_addresses: true, ..service() };
        let desired = desired_endpoints_from_service_pods(&publish, &lost, node);
        assert!(desired.missing_nodes.is_empty());
        assert_eq!(desired.groups[0].endpoints[0].endpoint().zone, None);
    }

    #[test]
    fn pods_without_a_service_have_endpoints() {
        let pods = [
            Arc::new(pod("ready")),
            Arc::new(Pod { ready: false, hostname: "h".into(), subdomain: "web".into(), ..pod("unready") }),
            Arc::new(Pod { terminating: true, pod_ips: ["fd00::2"].into(), ..pod("going") }),
            Arc::new(Pod { finished: true, ..pod("finished") }),
            Arc::new(Pod { node_name: "elsewhere".into(), pod_ips: ["10.0.0.4"].into(), ..pod("lost") }),
        ];
        let ports = [EndpointPort { port: Some(80), ..EndpointPort::default() }];
        let groups = desired_endpoints_from_pods(&pods, &ports, node);
        let shown: Vec<Vec<String>> = groups
            .iter()
            .map(|group| {
                let endpoints = group.endpoints.iter().map(PodEndpoint::endpoint);
                let shown = endpoints.map(|it| {
                    assert!(it.hostname.is_none(), "a host name is one within a Service");
                    let Endpoint { conditions: EndpointConditions { ready, terminating, .. }, zone, .. } = &it;
                    format!("{} {:?} {:?} {:?}", it.addresses[0], ready, terminating, zone.as_deref())
                });
                shown.collect()
            })
            .collect();
        let (yes, no) = ("Some(true)", "Some(false)");
        assert_eq!(
            shown,
            [
                vec![
                    format!(r#"10.0.0.1 {yes} {no} Some("a")"#),
                    format!(r#"10.0.0.1 {no} {no} Some("a")"#),
                    format!("10.0.0.4 {yes} {no} None"),
                ],
                vec![
                    format!(r#"fd00::1 {yes} {no} Some("a")"#),
                    format!(r#"fd00::1 {no} {no} Some("a")"#),
                    format!(r#"fd00::2 {no} {yes} Some("a")"#),
                ],
            ]
        );
        assert!(groups.iter().all(|group| group.ports == ports));
    }

    #[test]
    fn each_family_has_its_own_group() {
        let service = Service { ip_families: vec![IpFamily::V6, IpFamily::V4], ..service() };
        let pods = [Arc::new(pod("p"))];
        let desired = desired_endpoints_from_service_pods(&service, &pods, node);
        let shown: Vec<String> =
            desired.groups.iter().map(|it| format!("{:?}", it.endpoints[0].endpoint().addresses)).collect();
        assert_eq!(shown, ["[10.0.0.1]", "[fd00::1]"]);
    }
}
