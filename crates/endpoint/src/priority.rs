//! The priority of the writes of a sync.

use kube_controller_client::RequestPriority;
use kube_endpoint_model::{Endpoints, Write};

/// Returns the priority of the writes of one sync, from the ready addresses and their ports.
pub(crate) fn priority(writes: &[&Write<Endpoints>]) -> RequestPriority {
    let before = writes.iter().filter_map(|write| write.before());
    let after = writes.iter().filter_map(|write| write.after());
    RequestPriority::of_change(before.flat_map(Endpoints::ready_addresses), after.flat_map(Endpoints::ready_addresses))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use kube_endpoint_model::{EndpointAddress, EndpointSubset, SubsetPort};
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
        assert_eq!(priority(&[&Write::Update { stored: Arc::new(before), desired: after }]), expect);
    }

    #[test]
    fn creates_add_and_deletes_remove() {
        let object = endpoints(&["10.0.0.1"], &[]);
        assert_eq!(priority(&[&Write::Create(object.clone())]), Addition);
        assert_eq!(priority(&[&Write::Delete(Arc::new(object))]), Removal);
        assert_eq!(priority(&[]), Other);
    }
}
