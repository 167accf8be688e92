//! The priority of the writes of a sync.

use kube_controller_client::{PlannedWrite, RequestPriority};
use kube_endpoint_model::{AddressType, Addresses, EndpointPort, EndpointSlice};

/// Returns the priority of the writes of one sync, from the ready endpoints that they remove and add. An endpoint is
/// its addresses and ports, so a move between slices is no change.
pub(crate) fn priority(writes: &[PlannedWrite<'_, EndpointSlice>]) -> RequestPriority {
    let before = writes.iter().filter_map(|write| match write {
        PlannedWrite::Create(_) => None,
        PlannedWrite::Update { stored, .. } => Some(*stored),
        PlannedWrite::Delete(slice) => Some(*slice),
    });
    let after = writes.iter().filter_map(|write| match write {
        PlannedWrite::Create(slice) => Some(*slice),
        PlannedWrite::Update { desired, .. } => Some(*desired),
        PlannedWrite::Delete(_) => None,
    });
    RequestPriority::of_change(before.flat_map(ready), after.flat_map(ready))
}

fn ready(slice: &EndpointSlice) -> impl Iterator<Item = (&AddressType, &[EndpointPort], &Addresses)> {
    let ready = slice.endpoints.iter().filter(|endpoint| endpoint.is_ready());
    ready.map(|endpoint| (&slice.address_type, &*slice.ports, &endpoint.addresses))
}

#[cfg(test)]
mod tests {
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
        let (stored, desired) = (slice(stored), slice(desired));
        assert_eq!(priority(&[PlannedWrite::Update { stored: &stored, desired: &desired }]), expect);
    }

    #[test]
    fn creates_add_deletes_remove_and_moves_do_neither() {
        let (one, not_ready) = (slice(&["a"]), slice(&["!a"]));
        assert_eq!(priority(&[PlannedWrite::Create(&one)]), Addition);
        assert_eq!(priority(&[PlannedWrite::Delete(&one)]), Removal);
        assert_eq!(priority(&[PlannedWrite::Delete(&not_ready)]), Other);
        assert_eq!(priority(&[PlannedWrite::Create(&one), PlannedWrite::Delete(&one)]), Other);
        assert_eq!(priority(&[]), Other);
    }
}
