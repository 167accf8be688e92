//! Groups of endpoints and slices with the same ports.

use std::cmp::Ordering;
use std::sync::Arc;

use kube_endpoint_model::{EndpointPort, EndpointSlice};

use crate::desired_group::DesiredGroup;

/// Merges groups with the same ports in any order (RC-7), and returns the groups sorted by their ports.
pub(crate) fn merge<E>(mut groups: Vec<DesiredGroup<E>>) -> Vec<DesiredGroup<E>> {
    for group in &mut groups {
        for port in &mut group.ports {
            // The API server's defaults. Without them, the group would not match the slice that the server returns.
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

/// Returns the slices of each merged group, and the slices whose ports no group has (RC-24).
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
