//! Which Pods are endpoints of a Service, and with which addresses, ports and host name.

use std::borrow::Cow;

use crate::{Address, Addresses, IpFamily, Pod, Service, ServicePort, TargetPort, TargetRef, Text};

/// Returns whether a Pod is an endpoint (PD-1): its phase is not final, it has an address, and it is not terminating
/// unless `include_terminating` is set.
pub fn is_endpoint(pod: &Pod, include_terminating: bool) -> bool {
    let has_address = pod.pod_ip_family.is_some() || !pod.pod_ips.is_empty();
    !pod.finished && has_address && (include_terminating || !pod.terminating)
}

/// Returns whether an endpoint receives traffic: its Pod is ready and not terminating, or `publish_not_ready` is set
/// ([`Service::publish_not_ready_addresses`]).
///
/// Upstream writes this rule twice: `podToEndpoint` (EndpointSlices, RC-12) and `addEndpointSubset` (Endpoints, EP-8).
pub fn is_ready(pod: &Pod, publish_not_ready: bool) -> bool {
    publish_not_ready || (pod.ready && !pod.terminating)
}

/// Returns the addresses of a Pod of one family, canonical, in the order of `status.podIPs` (RC-12).
///
/// Borrowed if the Pod has a single address that is canonical and of that family. An address that does not parse is
/// skipped; upstream writes it as `<nil>` (EC-5).
pub fn addresses(pod: &Pod, family: IpFamily) -> Cow<'_, Addresses> {
    let of_family = |it: &Address| it.ip().filter(|ip| IpFamily::of(*ip) == family).map(Address::from);
    match &*pod.pod_ips {
        [one] if of_family(one).as_ref() == Some(one) => Cow::Borrowed(&pod.pod_ips),
        several => Cow::Owned(several.iter().filter_map(of_family).collect()),
    }
}

/// Returns the address of a Pod in the Endpoints object of a Service (EP-24 to EP-27); `None` if the Pod has none of
/// the family.
///
/// The family is the first of `spec.ipFamilies`; without it, that of the cluster IP; without both, that of the Pod's
/// `status.podIP`.
pub fn primary_address(pod: &Pod, service: &Service) -> Option<Address> {
    let family = service
        .ip_families
        .first()
        .copied()
        .or_else(|| service.cluster_ip_family())
        .unwrap_or(pod.pod_ip_family.unwrap_or(IpFamily::V4));
    addresses(pod, family).first().cloned()
}

/// Returns the host name of a Pod within a Service (PD-3); `None` unless the Pod has a host name, its subdomain is the
/// Service's name, and both are in the same namespace.
pub fn hostname(pod: &Pod, service: &Service) -> Option<Text> {
    has_hostname(pod, service).then(|| pod.hostname.clone())
}

/// Returns whether [`hostname`] returns a name.
pub fn has_hostname(pod: &Pod, service: &Service) -> bool {
    !pod.hostname.is_empty() && pod.subdomain == service.name && pod.namespace == service.namespace
}

/// Returns the target reference of a Pod's endpoint (EP-9), without API version and resource version.
pub fn target(pod: &Pod) -> TargetRef {
    TargetRef::pod(pod.namespace.clone(), pod.name.clone(), pod.uid.clone())
}

/// Returns the number at which a Pod serves a port of a Service (PD-4); `None` if the Pod does not serve it. A numeric
/// target is returned as it is; a named one is the first port with that name and the Service port's protocol among the
/// Pod's containers, then among its sidecars.
pub fn find_port(pod: &Pod, port: &ServicePort) -> Option<i32> {
    match &port.target {
        TargetPort::Number(number) => Some(*number),
        TargetPort::Name(name) => pod
            .named_ports
            .iter()
            .find(|declared| declared.name == *name && declared.protocol == port.protocol)
            .map(|declared| declared.port),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{NamedPort, ObjectKey};
    use rstest::rstest;

    fn pod(edit: impl FnOnce(&mut Pod)) -> Pod {
        let mut pod = Pod { namespace: "ns".into(), name: "p".into(), pod_ips: ["1.2.3.4"].into(), ..Pod::default() };
        edit(&mut pod);
        pod
    }

    // upstream: TestShouldPodBeInEndpoints
    #[rstest]
    #[case::finished(pod(|it| it.finished = true), false, false)]
    #[case::no_address(pod(|it| it.pod_ips = Addresses::default()), false, false)]
    #[case::only_pod_ip(pod(|it| { it.pod_ips = Addresses::default(); it.pod_ip_family = Some(IpFamily::V4); }), false, true)]
    #[case::several_addresses(pod(|it| it.pod_ips = ["1.2.3.4", "1234::5678"].into()), false, true)]
    #[case::pending(pod(|_| {}), false, true)]
    #[case::terminating_excluded(pod(|it| it.terminating = true), false, false)]
    #[case::terminating_included(pod(|it| it.terminating = true), true, true)]
    fn membership(#[case] pod: Pod, #[case] include_terminating: bool, #[case] expected: bool) {
        assert_eq!(is_endpoint(&pod, include_terminating), expected);
    }

    // upstream: TestShouldSetHostname
    #[rstest]
    #[case::all_matching("ns", "h", "s", true)]
    #[case::no_hostname("ns", "", "s", false)]
    #[case::other_subdomain("ns", "h", "other", false)]
    #[case::other_namespace("elsewhere", "h", "s", false)]
    fn hostnames(#[case] namespace: &str, #[case] host: &str, #[case] subdomain: &str, #[case] expected: bool) {
        let pod =
            pod(|it| (it.namespace, it.hostname, it.subdomain) = (namespace.into(), host.into(), subdomain.into()));
        let service = Service { namespace: "ns".into(), name: "s".into(), ..Service::default() };
        assert_eq!(hostname(&pod, &service).is_some(), expected);
    }

    // upstream: TestFindPort
    #[rstest]
    #[case::number_needs_no_container(TargetPort::Number(93), "TCP", Some(93))]
    #[case::first_container_wins(TargetPort::Name("p".into()), "TCP", Some(11))]
    #[case::protocol_decides(TargetPort::Name("p".into()), "UDP", Some(22))]
    #[case::sidecar(TargetPort::Name("side".into()), "TCP", Some(33))]
    #[case::wrong_protocol(TargetPort::Name("side".into()), "SCTP", None)]
    #[case::unknown(TargetPort::Name("other".into()), "TCP", None)]
    fn ports(#[case] target: TargetPort, #[case] protocol: &str, #[case] expected: Option<i32>) {
        let declared = [("p", "TCP", 11), ("p", "UDP", 22), ("p", "TCP", 12), ("side", "TCP", 33)];
        let pod = pod(|it| {
            it.named_ports = declared
                .iter()
                .map(|(name, protocol, port)| NamedPort {
                    name: (*name).into(),
                    protocol: (*protocol).into(),
                    port: *port,
                })
                .collect();
        });
        let port = ServicePort { protocol: protocol.into(), target, ..ServicePort::default() };
        assert_eq!(find_port(&pod, &port), expected);
    }

    // upstream: TestPodToEndpointAddressForService, TestPodToEndpointAddressForServiceEmptyIPFamilies
    #[rstest]
    #[case::v4_service(&[IpFamily::V4], "10.0.0.1", &["1.2.3.4"], Some("1.2.3.4"))]
    #[case::v4_service_dual_pod(&[IpFamily::V4], "10.0.0.1", &["1.2.3.4", "2000::1"], Some("1.2.3.4"))]
    #[case::v4_service_v6_first_pod(&[IpFamily::V4], "10.0.0.1", &["2000::1", "1.2.3.4"], Some("1.2.3.4"))]
    #[case::v6_service(&[IpFamily::V6], "3000::1", &["1.2.3.4", "2000::1"], Some("2000::1"))]
    #[case::v6_service_v4_pod(&[IpFamily::V6], "3000::1", &["1.2.3.4"], None)]
    #[case::v4_headless(&[IpFamily::V4], "None", &["1.2.3.4"], Some("1.2.3.4"))]
    #[case::v4_headless_dual_pod(&[IpFamily::V4], "None", &["1.2.3.4", "2000::1"], Some("1.2.3.4"))]
    #[case::v6_headless(&[IpFamily::V6], "None", &["2000::1"], Some("2000::1"))]
    #[case::v6_headless_dual_pod(&[IpFamily::V6], "None", &["1.2.3.4", "2000::1"], Some("2000::1"))]
    #[case::old_v4_service_v6_pod(&[], "10.0.0.1", &["2000::1"], None)]
    #[case::old_v4_service(&[], "10.0.0.1", &["1.2.3.4", "2000::1"], Some("1.2.3.4"))]
    #[case::old_v6_service(&[], "3000::1", &["1.2.3.4", "2000::1"], Some("2000::1"))]
    #[case::old_v6_service_v4_pod(&[], "3000::1", &["1.2.3.4"], None)]
    #[case::old_headless_v4_pod(&[], "None", &["1.2.3.4", "2000::1"], Some("1.2.3.4"))]
    #[case::old_headless_v6_pod(&[], "None", &["2000::1", "1.2.3.4"], Some("2000::1"))]
    #[case::unparsable_is_skipped(&[IpFamily::V4], "10.0.0.1", &["bad", "1.2.3.4"], Some("1.2.3.4"))]
    #[case::canonical(&[IpFamily::V4], "10.0.0.1", &["001.2.3.4"], Some("1.2.3.4"))]
    #[case::mapped_is_v4(&[IpFamily::V4], "10.0.0.1", &["::ffff:1.2.3.4"], Some("1.2.3.4"))]
    fn primary_addresses(
        #[case] families: &[IpFamily],
        #[case] cluster_ip: &str,
        #[case] ips: &[&str],
        #[case] expected: Option<&str>,
    ) {
        let pod = pod(|it| {
            it.pod_ips = ips.iter().copied().collect();
            it.pod_ip_family = it.pod_ips[0].family();
        });
        let service = Service { cluster_ip: cluster_ip.into(), ip_families: families.to_vec(), ..Service::default() };
        assert_eq!(primary_address(&pod, &service).map(|it| it.to_string()).as_deref(), expected);
    }

    #[test]
    fn key_shows_namespace_and_name() {
        assert_eq!(ObjectKey::new("ns", "p").to_string(), "ns/p");
    }
}
