//! Rules for which changes of Services and Endpoints queue a Service.

use std::collections::HashSet;

use kube_endpoint_model::{Endpoints, NotMirrored, Service};
use kube_informer::States;

/// Returns whether a change of a Service queues it (MI-H1): a Service without a selector is added or deleted,
/// or a Service gains or loses its selector.
pub(crate) fn service_change_queues(states: States<'_, Service>) -> bool {
    match states {
        (Some(old), Some(new)) => old.selector.is_none() != new.selector.is_none(),
        (Some(service), None) | (None, Some(service)) => service.selector.is_none(),
        (None, None) => false,
    }
}

/// Returns whether a change of an Endpoints object queues its Service (MI-H4, MI-H6): the old or the new state is
/// mirrored.
pub(crate) fn endpoints_change_queues((old, new): States<'_, Endpoints>) -> bool {
    [old, new].into_iter().flatten().any(|endpoints| NotMirrored::opt_out(endpoints).is_none())
}

/// Returns whether a change of an Endpoints object removes a ready address, or a port of one, from the mirrored slices.
pub(crate) fn loses_ready_address((old, new): States<'_, Endpoints>) -> bool {
    let Some(old) = old.filter(|old| NotMirrored::opt_out(old).is_none()) else { return false };
    let Some(new) = new.filter(|new| NotMirrored::opt_out(new).is_none()) else {
        return old.ready_addresses().next().is_some();
    };
    let kept: HashSet<_> = new.ready_addresses().collect();
    old.ready_addresses().any(|address| !kept.contains(&address))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use kube_endpoint_model::well_known::{LEADER_ANNOTATION, SKIP_MIRROR_LABEL};
    use kube_endpoint_model::{Address, EndpointAddress, EndpointSubset, Labels, SubsetPort, not_mirrored};
    use rstest::rstest;

    fn endpoints(label: Option<&str>, leader: bool) -> Arc<Endpoints> {
        let mut endpoints = Endpoints::default();
        endpoints.metadata.labels = label.map(|value| (SKIP_MIRROR_LABEL, value)).into_iter().collect();
        endpoints.metadata.annotations = leader.then_some((LEADER_ANNOTATION, "")).into_iter().collect();
        Arc::new(endpoints)
    }

    // upstream: TestShouldMirror
    #[rstest]
    #[case::standard(endpoints(None, false), None)]
    #[case::skip(endpoints(Some("true"), false), Some(NotMirrored::Skipped))]
    #[case::skip_false(endpoints(Some("false"), false), None)]
    #[case::skip_invalid(endpoints(Some("True"), false), None)]
    #[case::leader(endpoints(None, true), Some(NotMirrored::LeaderLock))]
    fn mirrored(#[case] it: Arc<Endpoints>, #[case] expected: Option<NotMirrored>) {
        let service = |selector| Service { selector, ..Service::default() };
        assert_eq!(not_mirrored(&it, Some(&service(None))), expected);
        let selector = Some(Labels::default());
        assert_eq!(not_mirrored(&it, Some(&service(selector))), expected.or(Some(NotMirrored::Selector)));
        assert_eq!(not_mirrored(&it, None), expected.or(Some(NotMirrored::NoService)));
        assert_eq!(endpoints_change_queues((None, Some(&it))), expected.is_none());
        assert_eq!(endpoints_change_queues((Some(&it), None)), expected.is_none());
        assert!(endpoints_change_queues((Some(&endpoints(None, false)), Some(&it))), "the old state is mirrored");
    }

    const WITHOUT: Option<&str> = None;

    fn service(selector: Option<&str>) -> Arc<Service> {
        let selector = selector.map(|value| [("app", value)].into_iter().collect::<Labels>());
        Arc::new(Service { selector, ..Service::default() })
    }

    #[rstest]
    #[case::added_without(None, Some(service(WITHOUT)), true)]
    #[case::added_with(None, Some(service(Some("x"))), false)]
    #[case::deleted_without(Some(service(WITHOUT)), None, true)]
    #[case::deleted_with(Some(service(Some("x"))), None, false)]
    #[case::selector_gained(Some(service(WITHOUT)), Some(service(Some("x"))), true)]
    #[case::selector_lost(Some(service(Some("x"))), Some(service(WITHOUT)), true)]
    #[case::selector_changed(Some(service(Some("x"))), Some(service(Some("y"))), false)]
    fn services(#[case] old: Option<Arc<Service>>, #[case] new: Option<Arc<Service>>, #[case] expected: bool) {
        assert_eq!(service_change_queues((old.as_ref(), new.as_ref())), expected);
    }

    fn subset(addresses: &[&str], not_ready: &[&str], ports: &[i32]) -> EndpointSubset {
        let address = |ip: &&str| EndpointAddress { ip: Address::new(ip), ..EndpointAddress::default() };
        EndpointSubset {
            addresses: addresses.iter().map(address).collect(),
            not_ready_addresses: not_ready.iter().map(address).collect(),
            ports: ports.iter().map(|port| SubsetPort { port: *port, ..SubsetPort::default() }).collect(),
        }
    }

    fn with(subsets: Vec<EndpointSubset>) -> Arc<Endpoints> {
        Arc::new(Endpoints { subsets, ..Endpoints::default() })
    }

    #[rstest]
    #[case::created(None, Some(with(vec![subset(&["10.0.0.1"], &[], &[80])])), false)]
    #[case::deleted(Some(with(vec![subset(&["10.0.0.1"], &[], &[80])])), None, true)]
    #[case::deleted_without_ports(Some(with(vec![subset(&["10.0.0.1"], &[], &[])])), None, true)]
    #[case::deleted_while_not_ready(Some(with(vec![subset(&[], &["10.0.0.1"], &[80])])), None, false)]
    #[case::added(
        Some(with(vec![subset(&["10.0.0.1"], &[], &[80])])), Some(with(vec![subset(&["10.0.0.2", "10.0.0.1"], &[], &[80])])), false)]
    #[case::removed(
        Some(with(vec![subset(&["10.0.0.1", "10.0.0.2"], &[], &[80])])), Some(with(vec![subset(&["10.0.0.1"], &[], &[80])])), true)]
    #[case::not_ready(
        Some(with(vec![subset(&["10.0.0.1"], &[], &[80])])), Some(with(vec![subset(&[], &["10.0.0.1"], &[80])])), true)]
    #[case::ready(
        Some(with(vec![subset(&[], &["10.0.0.1"], &[80])])), Some(with(vec![subset(&["10.0.0.1"], &[], &[80])])), false)]
    #[case::other_port(
        Some(with(vec![subset(&["10.0.0.1"], &[], &[80])])), Some(with(vec![subset(&["10.0.0.1"], &[], &[81])])), true)]
    #[case::split_by_port(
        Some(with(vec![subset(&["10.0.0.1"], &[], &[80, 81])])),
        Some(with(vec![subset(&["10.0.0.1"], &[], &[80]), subset(&["10.0.0.1"], &[], &[81])])), false)]
    #[case::no_longer_mirrored(
        Some(with(vec![subset(&["10.0.0.1"], &[], &[80])])), Some(endpoints(Some("true"), false)), true)]
    #[case::mirrored_first(Some(endpoints(Some("true"), false)), Some(with(vec![])), false)]
    fn ready_addresses_are_lost(
        #[case] old: Option<Arc<Endpoints>>,
        #[case] new: Option<Arc<Endpoints>>,
        #[case] expected: bool,
    ) {
        assert_eq!(loses_ready_address((old.as_ref(), new.as_ref())), expected);
    }
}
