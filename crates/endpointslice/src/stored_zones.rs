//! Zones of endpoints whose Nodes are not known.

use std::collections::HashMap;

use kube_endpoint_model::Endpoint;

use crate::desired_endpoint::DesiredEndpoint;
use crate::desired_group::DesiredGroup;
use crate::input::Input;

/// Returns the input with the zones of the stored slices, and with their hints if `hints` is set: without Nodes, only
/// what does not depend on them can be planned. An endpoint that no slice has with this Node gets no zone.
pub(crate) fn with_stored_zones<E: DesiredEndpoint>(input: Input<'_, E>, hints: bool) -> Input<'_> {
    let Input { owner, address_types, desired, existing, tracked_as, labels, annotations, trigger_time } = input;
    let stored = existing.iter().flat_map(|slice| &slice.endpoints);
    let stored: HashMap<String, &Endpoint> =
        stored.filter_map(|endpoint| Some((endpoint.addresses.first()?.to_string(), endpoint))).collect();
    let with_zone = |desired: E| {
        let mut endpoint = desired.to_endpoint();
        let stored = endpoint.addresses.first().and_then(|address| stored.get(&address.to_string()));
        if let Some(stored) = stored.filter(|stored| stored.node_name == endpoint.node_name) {
            endpoint.zone = stored.zone.clone();
            if hints {
                endpoint.hints = stored.hints.clone();
            }
        }
        endpoint
    };
    let with_zones = |group: DesiredGroup<E>| {
        let DesiredGroup { address_type, ports, endpoints } = group;
        DesiredGroup { address_type, ports, endpoints: endpoints.into_iter().map(with_zone).collect() }
    };
    let desired = desired.into_iter().map(with_zones).collect();
    Input { owner, address_types, desired, existing, tracked_as, labels, annotations, trigger_time }
}
