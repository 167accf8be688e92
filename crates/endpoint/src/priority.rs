//! The priority of the write of a sync.

use kube_controller_client::RequestPriority;
use kube_endpoint_model::{Address, Endpoints, SubsetPort};

/// Returns the priority of the write that replaces an object by another, from the ready addresses and their ports.
/// `None` is no object.
pub(crate) fn priority(before: Option<&Endpoints>, after: Option<&Endpoints>) -> RequestPriority {
    RequestPriority::of_change(before.into_iter().flat_map(ready), after.into_iter().flat_map(ready))
}

/// A headless Service may have addresses without ports.
fn ready(endpoints: &Endpoints) -> impl Iterator<Item = (&Address, Option<&SubsetPort>)> {
    endpoints.subsets.iter().flat_map(|subset| {
        let no_port = subset.ports.is_empty().then_some(None);
        let ports = move || no_port.into_iter().chain(subset.ports.iter().map(Some));
        subset.addresses.iter().flat_map(move |address| ports().map(move |port| (&address.ip, port)))
    })
}

#[cfg(test)]
mod tests {
    use kube_endpoint_model::{EndpointAddress, EndpointSubset};
    use rstest::rstest;

    use super::RequestPriority::{Addition, Other, Removal};
    use super::*;

    fn endpoints(ready: &[&str], not_ready: &[&str]) -> Endpoints {
        let addresses = |all: &[&str]| {
            all.iter().map(|ip| EndpointAddress { ip: (*ip).into(), ..EndpointAddress::default() }).collect()
        };
        let ports = vec![SubsetPort { port: 80, ..SubsetPort::default() }];
        let subset = EndpointSubset { addresses: addresses(ready), not_ready_addresses: addresses(not_ready), ports };
        Endpoints { subsets: [subset].into_iter().collect(), ..Endpoints::default() }
    }

    #[rstest]
    #[case::gone(endpoints(&["10.0.0.1", "10.0.0.2"], &[]), endpoints(&["10.0.0.1"], &[]), Removal)]
    #[case::not_ready(endpoints(&["10.0.0.1"], &[]), endpoints(&[], &["10.0.0.1"]), Removal)]
    #[case::becomes_ready(endpoints(&[], &["10.0.0.1"]), endpoints(&["10.0.0.1"], &[]), Addition)]
    #[case::same(endpoints(&["10.0.0.1"], &["10.0.0.2"]), endpoints(&["10.0.0.1"], &[]), Other)]
    fn updates(#[case] before: Endpoints, #[case] after: Endpoints, #[case] expect: RequestPriority) {
        assert_eq!(priority(Some(&before), Some(&after)), expect);
    }

    #[test]
    fn creates_add_and_deletes_remove() {
        let object = endpoints(&["10.0.0.1"], &[]);
        assert_eq!(priority(None, Some(&object)), Addition);
        assert_eq!(priority(Some(&object), None), Removal);
        assert_eq!(priority(None, None), Other);
    }
}
