//! The priority of the writes of a sync.

use kube_controller_client::RequestPriority;
use kube_endpoint_model::{AddressType, Addresses, EndpointPort, EndpointSlice, Write};

/// Returns the priority of the writes of one sync, from the ready endpoints that they remove and add. An endpoint is
/// its addresses and ports, so a move between slices is no change.
pub(crate) fn priority(writes: &[&Write<EndpointSlice>]) -> RequestPriority {
    let before = writes.iter().filter_map(|write| write.before());
    let after = writes.iter().filter_map(|write| write.after());
    RequestPriority::of_change(before.flat_map(ready), after.flat_map(ready))
}

fn ready(slice: &EndpointSlice) -> impl Iterator<Item = (&AddressType, &[EndpointPort], &Addresses)> {
    let ready = slice.endpoints.iter().filter(|endpoint| endpoint.is_ready());
    ready.map(|endpoint| (&slice.address_type, &*slice.ports, &endpoint.addresses))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use kube_endpoint_model::{Address, Endpoint, EndpointConditions};
    use rstest::rstest;

    use super::RequestPriority::{Addition, Other, Removal};
    use super::*;

    /// Returns a slice of endpoints with these addresses; an address that begins with `!` is not ready.
    fn slice(addresses: &[&str]) -> EndpointSlice {
        let endpoint = |address: &&str| Endpoint {
            addresses: Address::from(address.trim_start_matches('!')).into(),
            conditions: EndpointConditions { ready: Some(!address.starts_with('!')), ..EndpointConditions::default() },
            ..Endpoint::default()
        };
        let endpoints = addresses.iter().map(endpoint).collect();
        EndpointSlice { address_type: AddressType::IPv4, endpoints, ..EndpointSlice::default() }
    }

    #[rstest]
    #[case::gone(&["a", "b"], &["a"], Removal)]
    #[case::not_ready(&["a", "b"], &["a", "!b"], Removal)]
    #[case::not_ready_gone(&["a", "!b"], &["a"], Other)]
    #[case::becomes_ready(&["a", "!b"], &["a", "b"], Addition)]
    #[case::replaced(&["a"], &["b"], Removal)]
    #[case::same(&["a"], &["a"], Other)]
    fn updates(#[case] stored: &[&str], #[case] desired: &[&str], #[case] expect: RequestPriority) {
        let update = Write::Update { stored: Arc::new(slice(stored)), desired: slice(desired) };
        assert_eq!(priority(&[&update]), expect);
    }

    #[test]
    fn creates_add_deletes_remove_and_moves_do_neither() {
        let (create, delete) = (Write::Create(slice(&["a"])), Write::Delete(Arc::new(slice(&["a"]))));
        assert_eq!(priority(&[&create]), Addition);
        assert_eq!(priority(&[&delete]), Removal);
        assert_eq!(priority(&[&Write::Delete(Arc::new(slice(&["!a"])))]), Other);
        assert_eq!(priority(&[&create, &delete]), Other);
        assert_eq!(priority(&[]), Other);
    }
}
