//! Whether the slices of a Service show the current state of a Pod.

use std::collections::HashMap;

use kube_endpoint_model::well_known::SLICE_CONTROLLER;
use kube_endpoint_model::{Address, AddressType, EndpointSlice, IpFamily, Pod, Service, Uid, membership};

/// The parts of an endpoint that follow the state of its Pod.
#[derive(Debug, PartialEq)]
struct PodEndpoint {
    address_type: AddressType,
    address: Address,
    uid: Uid,
    ready: bool,
    serving: bool,
    terminating: bool,
}

/// Endpoints of Pods in the slices that the slice controller manages, by Pod name.
#[derive(Debug, Default)]
pub(crate) struct PodEndpoints<'a>(HashMap<&'a str, Vec<PodEndpoint>>);

impl<'a> PodEndpoints<'a> {
    /// Collects the endpoints of the Pods for whose name `include` returns true.
    pub(crate) fn collect(
        slices: impl IntoIterator<Item = &'a EndpointSlice>,
        include: impl Fn(&str) -> bool,
    ) -> PodEndpoints<'a> {
        let mut pods = HashMap::<&str, Vec<PodEndpoint>>::new();
        for slice in slices.into_iter().filter(|slice| slice.is_managed_by(SLICE_CONTROLLER)) {
            for endpoint in &slice.endpoints {
                let target = endpoint.target_ref.as_ref().filter(|target| target.is_of_pod() && include(target.name()));
                let (Some(target), Some(address)) = (target, endpoint.addresses.first()) else { continue };
                let conditions = &endpoint.conditions;
                pods.entry(target.name()).or_default().push(PodEndpoint {
                    address_type: slice.address_type.clone(),
                    address: address.clone(),
                    uid: target.uid().clone(),
                    ready: conditions.counts_as_ready(),
                    serving: conditions.counts_as_serving(),
                    terminating: conditions.counts_as_terminating(),
                });
            }
        }
        PodEndpoints(pods)
    }

    /// Returns whether the endpoints of a Pod are those that the slice controller writes for its state (RC-8 to RC-12).
    /// `pod` is `None` if the Service does not select the Pod, so that it must have no endpoint.
    ///
    /// While endpoints move between slices, one may be in two of them.
    pub(crate) fn show(&self, name: &str, pod: Option<&Pod>, service: &Service) -> bool {
        let seen = self.0.get(name).map_or(&[][..], Vec::as_slice);
        let expected = pod.map_or_else(Vec::new, |pod| expected(pod, service));
        expected.iter().all(|it| seen.contains(it)) && seen.iter().all(|it| expected.contains(it))
    }
}

/// Returns the endpoints of a Pod that the Service selects.
fn expected(pod: &Pod, service: &Service) -> Vec<PodEndpoint> {
    if service.external_name || membership::exclusion(pod, true).is_some() {
        return Vec::new();
    }
    let ready = membership::unready(pod, service.publish_not_ready_addresses).is_none();
    let endpoint = |address_type: AddressType| {
        let family = match address_type {
            AddressType::IPv4 => IpFamily::V4,
            AddressType::IPv6 => IpFamily::V6,
            AddressType::Fqdn | AddressType::Other(_) => return None,
        };
        let address = membership::addresses(pod, family).ok()?.first()?.clone();
        let (uid, serving, terminating) = (pod.uid.clone(), pod.ready, pod.terminating);
        Some(PodEndpoint { address_type, address, uid, ready, serving, terminating })
    };
    service.address_types().into_iter().filter_map(endpoint).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::top::objects::{pod, service, slice};
    use rstest::rstest;

    #[rstest]
    #[case::ready(Some(pod("p", 1, true)), &[("p", 1, true)], true)]
    #[case::not_ready(Some(pod("p", 1, false)), &[("p", 1, false)], true)]
    #[case::readiness_differs(Some(pod("p", 1, false)), &[("p", 1, true)], false)]
    #[case::address_differs(Some(pod("p", 1, true)), &[("p", 2, true)], false)]
    #[case::no_endpoint(Some(pod("p", 1, true)), &[("other", 1, true)], false)]
    #[case::without_address(Some(pod("p", 0, true)), &[], true)]
    #[case::not_selected(None, &[("p", 1, true)], false)]
    #[case::removed(None, &[("other", 1, true)], true)]
    #[case::two_states(Some(pod("p", 1, true)), &[("p", 1, true), ("p", 1, false)], false)]
    #[case::twice(Some(pod("p", 1, true)), &[("p", 1, true), ("p", 1, true)], true)]
    #[case::terminating(Some(Pod { terminating: true, ..pod("p", 1, true) }), &[("p", 1, true)], false)]
    #[case::replaced(Some(Pod { uid: "new".into(), ..pod("p", 1, true) }), &[("p", 1, true)], false)]
    fn slices_show_a_pod(#[case] pod: Option<Pod>, #[case] endpoints: &[(&str, u8, bool)], #[case] expected: bool) {
        let slice = slice("web-1", "web", endpoints);
        let found = PodEndpoints::collect([&slice], |_| true);
        assert_eq!(found.show("p", pod.as_ref(), &service("web")), expected);
    }

    #[test]
    fn slices_of_other_managers_are_ignored() {
        let mut foreign = slice("web-1", "web", &[("p", 1, true)]);
        foreign.metadata.labels = foreign.metadata.labels.with([("endpointslice.kubernetes.io/managed-by", "other")]);
        assert!(PodEndpoints::collect([&foreign], |_| true).show("p", None, &service("web")));
    }
}
