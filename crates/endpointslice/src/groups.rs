//! Groups of endpoints and slices with the same ports.

use std::cmp::Ordering;
use std::sync::Arc;

use kube_endpoint_model::{EndpointPort, EndpointSlice};

use crate::desired::DesiredGroup;

/// Groups by their ports: order does not tell groups apart, and no ports are one group however they are written (RC-7).
/// Groups with the same ports become one. They come out in the order of their ports, whatever order they came in.
pub(crate) fn merge<E>(mut groups: Vec<DesiredGroup<E>>) -> Vec<DesiredGroup<E>> {
    for group in &mut groups {
        for port in &mut group.ports {
            // What the API server would fill in; otherwise the slice that comes back would look like another's.
            port.name.get_or_insert_default();
            port.protocol.get_or_insert_with(|| "TCP".into());
        }
        group.ports.sort_unstable();
    }
    groups.sort_by(|a, b| a.ports.cmp(&b.ports));
    groups.dedup_by(|later, group| {
        let same = later.ports == group.ports;
        if same {
            group.endpoints.append(&mut later.endpoints);
        }
        same
    });
    groups
}

/// The slices of each of the merged groups, and those whose ports nothing has any more (RC-24).
pub(crate) fn assign<'a, E>(
    groups: &[DesiredGroup<E>],
    slices: impl IntoIterator<Item = &'a Arc<EndpointSlice>>,
) -> (Vec<Vec<&'a Arc<EndpointSlice>>>, Vec<&'a Arc<EndpointSlice>>) {
    let mut assigned: Vec<Vec<&Arc<EndpointSlice>>> = groups.iter().map(|_| Vec::new()).collect();
    let mut orphaned = Vec::new();
    let mut sorted: Vec<&EndpointPort> = Vec::new();
    for slice in slices {
        sorted.clear();
        sorted.extend(&slice.ports);
        sorted.sort_unstable();
        let order = |group: &DesiredGroup<E>| -> Ordering { group.ports.iter().cmp(sorted.iter().copied()) };
        match groups.binary_search_by(order) {
            Ok(at) => assigned[at].push(slice),
            Err(_) => orphaned.push(slice),
        }
    }
    (assigned, orphaned)
}
