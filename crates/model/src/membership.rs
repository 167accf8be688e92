//! Which Pods are endpoints of a Service, and with which addresses, ports and host name.
//!
//! The rules apply to any type that implements [`PodFields`].

use std::borrow::Cow;

use crate::{
    Address, Addresses, Code, IpFamily, ObjectKey, PodFields, Service, ServicePort, TargetPort, TargetRef, Text,
};

/// Why a Pod is not an endpoint of a Service, why its endpoint is not ready, or why it lacks a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum PodReason {
    /// The phase is `Failed` or `Succeeded`.
    Finished,
    /// The condition Ready is not `True`.
    NotReady,
    /// The Pod has a deletion timestamp.
    Terminating,
    /// `status.podIPs` and `status.podIP` are empty.
    WithoutAddress,
    /// The named target port is not a port of any container or sidecar.
    TargetPortUnknown,
    /// A container has a port of that name, but of another protocol.
    TargetPortProtocol,
    /// The Pod serves no port of the Service.
    NoPort,
    /// No address of the Pod has the IP family.
    NoAddressOfFamily,
    /// No address of the Pod has the IP family, and at least one does not parse.
    InvalidAddress,
    /// No address of the Pod with the IP family is one that an endpoint can have: the API server rejects each of them.
    UnusableAddress,
    /// The Node of the Pod is not in the cache.
    NodeMissing,
}

impl PodReason {
    /// Returns the stable code of the reason.
    pub fn code(self) -> Code {
        match self {
            PodReason::Finished => Code::PodFinished,
            PodReason::NotReady => Code::PodNotReady,
            PodReason::Terminating => Code::PodTerminating,
            PodReason::WithoutAddress => Code::PodWithoutAddress,
            PodReason::TargetPortUnknown => Code::TargetPortUnknown,
            PodReason::TargetPortProtocol => Code::TargetPortProtocol,
            PodReason::NoPort => Code::NoPort,
            PodReason::NoAddressOfFamily => Code::NoAddressOfFamily,
            PodReason::InvalidAddress => Code::InvalidAddress,
            PodReason::UnusableAddress => Code::UnusableAddress,
            PodReason::NodeMissing => Code::NodeMissing,
        }
    }
}

/// Decision of a controller about one Pod that a Service selects.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PodOutcome {
    /// The Pod is an endpoint that receives traffic.
    Ready,
    /// The Pod is an endpoint that is not ready.
    NotReady(PodReason),
    /// The Pod is not an endpoint.
    LeftOut(PodReason),
}

/// Returns why a Pod is not an endpoint (PD-1): its phase is final, it has no address, or it is terminating and
/// `include_terminating` is not set. `None` if it is one.
pub fn exclusion(pod: &impl PodFields, include_terminating: bool) -> Option<PodReason> {
    let pod = pod.view();
    if pod.finished {
        Some(PodReason::Finished)
    } else if pod.pod_ip_family.is_none() && pod.pod_ips.is_empty() {
        Some(PodReason::WithoutAddress)
    } else if pod.terminating && !include_terminating {
        Some(PodReason::Terminating)
    } else {
        None
    }
}

/// Returns why an endpoint receives no traffic: its Pod is terminating or not ready, and `publish_not_ready` is not set
/// ([`Service::publish_not_ready_addresses`]). `None` if it is ready.
///
/// Upstream writes this rule twice: `podToEndpoint` (EndpointSlices, RC-12) and `addEndpointSubset` (Endpoints, EP-12).
pub fn unready(pod: &impl PodFields, publish_not_ready: bool) -> Option<PodReason> {
    if publish_not_ready {
        None
    } else if pod.view().terminating {
        Some(PodReason::Terminating)
    } else {
        (!pod.view().ready).then_some(PodReason::NotReady)
    }
}

/// Returns the addresses of a Pod of one family, canonical, in the order of `status.podIPs` (RC-12).
///
/// Borrowed if the Pod has a single address that is canonical and of that family. An address that does not parse (EC-5),
/// or that the API server rejects in slices and Endpoints (EC-50), is skipped.
///
/// # Errors
///
/// [`PodReason::NoAddressOfFamily`], [`PodReason::InvalidAddress`] or [`PodReason::UnusableAddress`] if there is none.
pub fn addresses(pod: &impl PodFields, family: IpFamily) -> Result<Cow<'_, Addresses>, PodReason> {
    let of_family = |it: &Address| it.usable().ok().filter(|it| it.family() == Some(family));
    let pod_ips = pod.view().pod_ips;
    match &**pod_ips {
        [one] if of_family(one).as_ref() == Some(one) => Ok(Cow::Borrowed(pod_ips)),
        several => {
            let found: Addresses = several.iter().filter_map(of_family).collect();
            if !found.is_empty() {
                Ok(Cow::Owned(found))
            } else if several.iter().any(|it| it.family() == Some(family)) {
                Err(PodReason::UnusableAddress)
            } else if several.iter().any(|it| it.ip().is_none()) {
                Err(PodReason::InvalidAddress)
            } else {
                Err(PodReason::NoAddressOfFamily)
            }
        }
    }
}

/// Returns the address of a Pod in the Endpoints object of a Service (EP-24 to EP-27).
///
/// The family is the first of `spec.ipFamilies`; without it, that of the cluster IP; without both, that of the Pod's
/// `status.podIP`.
///
/// # Errors
///
/// As for [`addresses`], if the Pod has no address of the family.
pub fn primary_address(pod: &impl PodFields, service: &Service) -> Result<Address, PodReason> {
    let family = service
        .ip_families
        .first()
        .copied()
        .or_else(|| service.cluster_ip_family())
        .unwrap_or(pod.view().pod_ip_family.unwrap_or(IpFamily::V4));
    addresses(pod, family).map(|found| found[0].clone())
}

/// Returns the host name of a Pod within a Service (PD-3); `None` unless the Pod has a host name, its subdomain is the
/// Service's name, and both are in the same namespace.
pub fn hostname(pod: &impl PodFields, service: &Service) -> Option<Text> {
    has_hostname(pod, service).then(|| pod.view().hostname.clone())
}

/// Returns whether [`hostname`] returns a name.
pub fn has_hostname(pod: &impl PodFields, service: &Service) -> bool {
    let view = pod.view();
    !view.hostname.is_empty() && *view.subdomain == service.name && *pod.namespace() == *service.namespace
}

/// Returns the target reference of a Pod's endpoint (EP-9), without API version and resource version.
pub fn target(pod: &impl PodFields) -> TargetRef {
    let ObjectKey { namespace, name } = pod.key();
    TargetRef::pod(namespace, name, pod.uid())
}

/// Returns the number at which a Pod serves a port of a Service (PD-4). A numeric target is returned as it is; a named
/// one is the first port with that name and the Service port's protocol among the Pod's containers, then among its
/// sidecars.
///
/// # Errors
///
/// [`PodReason::TargetPortUnknown`] or [`PodReason::TargetPortProtocol`] if the Pod does not serve the port.
pub fn find_port(pod: &impl PodFields, port: &ServicePort) -> Result<i32, PodReason> {
    let name = match &port.target {
        TargetPort::Number(number) => return Ok(*number),
        TargetPort::Name(name) => name,
    };
    let mut of_name = pod.view().named_ports.iter().filter(|declared| declared.name == *name).peekable();
    let missing = if of_name.peek().is_some() { PodReason::TargetPortProtocol } else { PodReason::TargetPortUnknown };
    of_name.find(|declared| declared.protocol == port.protocol).map(|declared| declared.port).ok_or(missing)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{NamedPort, Pod};
    use rstest::rstest;

    fn pod(edit: impl FnOnce(&mut Pod)) -> Pod {
        let mut pod = Pod { namespace: "ns".into(), name: "p".into(), pod_ips: ["1.2.3.4"].into(), ..Pod::default() };
        edit(&mut pod);
        pod
    }

    // upstream: TestShouldPodBeInEndpoints
    #[rstest]
    #[case::finished(pod(|it| it.finished = true), false, Some(PodReason::Finished))]
    #[case::no_address(pod(|it| it.pod_ips = Addresses::default()), false, Some(PodReason::WithoutAddress))]
    #[case::only_pod_ip(pod(|it| { it.pod_ips = Addresses::default(); it.pod_ip_family = Some(IpFamily::V4); }), false, None)]
    #[case::several_addresses(pod(|it| it.pod_ips = ["1.2.3.4", "1234::5678"].into()), false, None)]
    #[case::pending(pod(|_| {}), false, None)]
    #[case::terminating_excluded(pod(|it| it.terminating = true), false, Some(PodReason::Terminating))]
    #[case::terminating_included(pod(|it| it.terminating = true), true, None)]
    fn membership(#[case] pod: Pod, #[case] include_terminating: bool, #[case] expected: Option<PodReason>) {
        assert_eq!(exclusion(&pod, include_terminating), expected);
    }

    // RC-12, EP-12
    #[rstest]
    #[case::ready(true, false, false, None)]
    #[case::not_ready(false, false, false, Some(PodReason::NotReady))]
    #[case::terminating(true, true, false, Some(PodReason::Terminating))]
    #[case::both(false, true, false, Some(PodReason::Terminating))]
    #[case::published(false, true, true, None)]
    fn readiness(
        #[case] ready: bool,
        #[case] terminating: bool,
        #[case] publish: bool,
        #[case] expected: Option<PodReason>,
    ) {
        assert_eq!(unready(&pod(|it| (it.ready, it.terminating) = (ready, terminating)), publish), expected);
    }

    #[rstest]
    #[case::other_family(&["2000::1"], PodReason::NoAddressOfFamily)]
    #[case::invalid(&["bad", "2000::1"], PodReason::InvalidAddress)]
    #[case::unusable(&["127.0.0.1"], PodReason::UnusableAddress)]
    #[case::unusable_mapped(&["::ffff:169.254.9.9", "2000::1"], PodReason::UnusableAddress)]
    #[case::unusable_and_invalid(&["bad", "224.0.0.1"], PodReason::UnusableAddress)]
    #[case::unusable_of_the_other_family(&["fe80::1"], PodReason::NoAddressOfFamily)]
    fn missing_addresses(#[case] ips: &[&str], #[case] expected: PodReason) {
        let pod = pod(|it| it.pod_ips = ips.iter().copied().collect());
        assert_eq!(addresses(&pod, IpFamily::V4), Err(expected));
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
    #[case::number_needs_no_container(TargetPort::Number(93), "TCP", Ok(93))]
    #[case::first_container_wins(TargetPort::Name("p".into()), "TCP", Ok(11))]
    #[case::protocol_decides(TargetPort::Name("p".into()), "UDP", Ok(22))]
    #[case::sidecar(TargetPort::Name("side".into()), "TCP", Ok(33))]
    #[case::wrong_protocol(TargetPort::Name("side".into()), "SCTP", Err(PodReason::TargetPortProtocol))]
    #[case::unknown(TargetPort::Name("other".into()), "TCP", Err(PodReason::TargetPortUnknown))]
    fn ports(#[case] target: TargetPort, #[case] protocol: &str, #[case] expected: Result<i32, PodReason>) {
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
    #[case::unusable_is_skipped(&[IpFamily::V4], "10.0.0.1", &["127.0.0.1", "1.2.3.4"], Some("1.2.3.4"))]
    #[case::only_unusable(&[IpFamily::V6], "None", &["fe80::1"], None)]
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
        assert_eq!(primary_address(&pod, &service).ok().map(|it| it.to_string()).as_deref(), expected);
    }
}
