//! What a plan is to bring about.

use std::sync::Arc;

use kube_endpoint_model::{
    AddressType, Endpoint, EndpointConditions, EndpointPort, IpFamily, Node, Pod, Service, Text, membership,
    sort_slice_ports,
};

/// Endpoints that share their address type and ports, and so may share slices.
#[derive(Clone, Debug, PartialEq)]
pub struct DesiredGroup {
    /// Kind of their addresses.
    pub address_type: AddressType,
    /// Ports they all serve, in any order.
    pub ports: Vec<EndpointPort>,
    /// The endpoints in any order. Of two with the same identity the later one counts. May be empty: slices of these
    /// ports that exist without endpoints are then left alone.
    pub endpoints: Vec<Endpoint>,
}

/// The endpoints of a Service.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct ServiceEndpoints {
    /// Grouped by address type and ports.
    pub groups: Vec<DesiredGroup>,
    /// Pods left out because the Node they name is not known (yet): write the rest, then try again.
    pub missing_nodes: Vec<MissingNode>,
}

/// A Pod on a Node that is not known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MissingNode {
    /// The Pod.
    pub pod: Text,
    /// The Node it names; may be empty.
    pub node: Text,
}

/// Builds the desired endpoints of a Service from the Pods it selects, as the slice controller does (RC-8 to RC-14).
///
/// `node` finds a Node by name. Terminating Pods are endpoints too, marked as such. A Pod on an unknown Node is left
/// out, unless the Service publishes unready addresses.
pub fn desired_endpoints_from_service_pods(
    service: &Service,
    pods: &[Arc<Pod>],
    node: impl Fn(&str) -> Option<Arc<Node>>,
) -> ServiceEndpoints {
    let mut result = ServiceEndpoints::default();
    let types = service.address_types();
    for pod in pods.iter().filter(|pod| membership::is_endpoint(pod, true)) {
        let ports = ports(service, pod);
        let found = node(&pod.node_name);
        let missing = found.is_none() && !service.publish_not_ready_addresses;
        if missing {
            result.missing_nodes.push(MissingNode { pod: pod.name.clone(), node: pod.node_name.clone() });
        }
        for address_type in &types {
            // The group is claimed even by a Pod that adds nothing to it (RC-10).
            let group = group_of(&mut result.groups, address_type, &ports);
            if !missing && let Some(endpoint) = endpoint(service, pod, found.as_deref(), address_type) {
                group.endpoints.push(endpoint);
            }
        }
    }
    result
}

fn group_of<'a>(
    groups: &'a mut Vec<DesiredGroup>,
    address_type: &AddressType,
    ports: &[EndpointPort],
) -> &'a mut DesiredGroup {
    // Few groups exist: a Service has one for each way its Pods name their ports.
    let found = groups.iter().position(|group| group.address_type == *address_type && group.ports == ports);
    let at = found.unwrap_or_else(|| {
        groups.push(DesiredGroup { address_type: address_type.clone(), ports: ports.to_vec(), endpoints: Vec::new() });
        groups.len() - 1
    });
    &mut groups[at]
}

/// The ports a Pod serves for a Service (RC-9), in the order of the wire. A port the Pod does not declare is left out.
fn ports(service: &Service, pod: &Pod) -> Vec<EndpointPort> {
    let mut ports: Vec<EndpointPort> = service
        .ports
        .iter()
        .filter_map(|port| {
            Some(EndpointPort {
                name: Some(port.name.clone()),
                protocol: Some(port.protocol.clone()),
                port: Some(membership::find_port(pod, port)?),
                app_protocol: port.app_protocol.clone(),
            })
        })
        .collect();
    sort_slice_ports(&mut ports);
    ports
}

/// The endpoint of a Pod (RC-12); `None` without an address of the type (RC-13).
fn endpoint(service: &Service, pod: &Pod, node: Option<&Node>, address_type: &AddressType) -> Option<Endpoint> {
    let family = match address_type {
        AddressType::IPv4 => IpFamily::V4,
        AddressType::IPv6 => IpFamily::V6,
        AddressType::Fqdn | AddressType::Other(_) => return None,
    };
    let mut addresses = membership::addresses(pod, family);
    if addresses.is_empty() {
        return None;
    }
    addresses.sort(); // EC-44: several addresses come out in the order of their text.
    let serving = pod.ready;
    Some(Endpoint {
        addresses,
        conditions: EndpointConditions {
            ready: Some(service.publish_not_ready_addresses || (serving && !pod.terminating)),
            serving: Some(serving),
            terminating: Some(pod.terminating),
        },
        hostname: membership::hostname(pod, service),
        node_name: (!pod.node_name.is_empty()).then(|| pod.node_name.clone()),
        target_ref: Some(membership::target(pod)),
        zone: node.filter(|node| !node.zone.is_empty()).map(|node| node.zone.clone()),
        ..Endpoint::default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use kube_endpoint_model::{ServicePort, TargetPort};
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
            pod_ips: vec!["10.0.0.1".into(), "fd00::1".into()],
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
        let pod = Pod { ready, terminating, ..pod("p") };
        let desired = desired_endpoints_from_service_pods(&service, &[Arc::new(pod)], node);
        let [group] = &desired.groups[..] else { panic!("one group: {desired:?}") };
        assert_eq!(
            group.endpoints[0].conditions,
            EndpointConditions { ready: Some(is_ready), serving: Some(serving), terminating: Some(is_terminating) }
        );
        assert_eq!(group.endpoints[0].zone.as_deref(), Some("a"));
    }

    #[test]
    fn a_pod_on_an_unknown_node_is_left_out_and_its_group_stays() {
        let lost = Arc::new(Pod { node_name: "ghost".into(), ..pod("lost") });
        let desired = desired_endpoints_from_service_pods(&service(), &[Arc::clone(&lost)], node);
        assert_eq!(desired.missing_nodes, [MissingNode { pod: "lost".into(), node: "ghost".into() }]);
        assert_eq!(desired.groups.iter().map(|it| it.endpoints.len()).collect::<Vec<_>>(), [0]);

        let publish = Service { publish_not_ready_addresses: true, ..service() };
        let desired = desired_endpoints_from_service_pods(&publish, &[lost], node);
        assert!(desired.missing_nodes.is_empty());
        assert_eq!(desired.groups[0].endpoints[0].zone, None);
    }

    #[test]
    fn each_family_has_its_own_group() {
        let service = Service { ip_families: vec![IpFamily::V6, IpFamily::V4], ..service() };
        let desired = desired_endpoints_from_service_pods(&service, &[Arc::new(pod("p"))], node);
        let shown: Vec<String> = desired.groups.iter().map(|it| format!("{:?}", it.endpoints[0].addresses)).collect();
        assert_eq!(shown, ["[10.0.0.1]", "[fd00::1]"]);
    }
}
