//! The canonical form of Endpoints subsets (RP-1 to RP-7), upstream's `RepackSubsets`.
//!
//! Differs from upstream in EC-7: upstream compares the application protocol of ports by pointer, so equal ports that
//! were decoded separately are never merged. Here ports are compared by value.

use std::collections::HashMap;

use crate::endpoints::{EndpointAddress, EndpointSubset, SubsetPort};
use crate::upstream_order::{sort_subset_ports, sort_subsets};
use crate::{Address, TargetRef, Uid};

/// Identity of an address (RP-2): the IP address, and the UID of its object if there is one. Also its sort order
/// (RP-6): by text, then addresses without an object first.
type AddressKey<'a> = (&'a Address, Option<&'a Uid>);

/// Number of the placeholder port of a subset without ports; numbers up to 0 are removed from the result (RP-1).
const NO_PORT: i32 = -1;

/// Maximum number of addresses that [`repack`] compares: the addresses of each list of ports that are in the same
/// subsets.
///
/// An object of the size that the API server accepts has about a tenth at most, unless its subsets overlap: then its
/// canonical form may be thousands of times larger, since it repeats the addresses for each list of ports.
const MAX_COMPARED: usize = 1_000_000;

/// Returns subsets in canonical form: each address occurs once per port, with not ready taking precedence over ready;
/// ports with the same addresses in the same state share a subset; addresses, ports and subsets are in upstream's
/// order.
///
/// Of several records of an address, the first one (host name, Node, target) is used for all occurrences; apart from
/// that, the result does not depend on the order of the input. The function is idempotent. Subsets that overlap so much
/// that their canonical form may not fit into memory are returned as they are.
pub fn repack(subsets: &[EndpointSubset]) -> Vec<EndpointSubset> {
    repack_by(subsets, |_, _| None)
}

/// Like [`repack`], but never merges ports with an application protocol, as upstream (EC-7). For limits that count the
/// addresses of upstream's subsets.
pub fn repack_like_upstream(subsets: &[EndpointSubset]) -> Vec<EndpointSubset> {
    repack_by(subsets, |position, port| port.app_protocol.is_some().then_some(position))
}

/// Address numbers, each with its readiness.
type States = Vec<(usize, bool)>;

/// Position of a port: index of its subset, and index in the subset.
type PortPosition = (usize, usize);

fn repack_by(
    subsets: &[EndpointSubset],
    distinct: impl Fn(PortPosition, &SubsetPort) -> Option<PortPosition>,
) -> Vec<EndpointSubset> {
    let mut addresses: Vec<&EndpointAddress> = Vec::new();
    let mut numbers: HashMap<AddressKey<'_>, usize> = HashMap::new();
    // Per subset: its addresses and their readiness, duplicates included.
    let mut states: Vec<States> = Vec::with_capacity(subsets.len());
    // Per port: the subsets that it is in.
    let mut ports: HashMap<(&SubsetPort, Option<PortPosition>), Vec<usize>> = HashMap::new();
    let no_port = [SubsetPort { port: NO_PORT, ..SubsetPort::default() }];
    for (subset_number, subset) in subsets.iter().enumerate() {
        let ready = subset.addresses.iter().map(|address| (address, true));
        let numbered = ready.chain(subset.not_ready_addresses.iter().map(|address| (address, false)));
        let numbered = numbered.map(|(address, ready)| {
            let number = *numbers.entry(address_key(address)).or_insert_with(|| {
                addresses.push(address);
                addresses.len() - 1
            });
            (number, ready)
        });
        states.push(numbered.collect());
        if states[subset_number].is_empty() {
            continue;
        }
        let subset_ports = if subset.ports.is_empty() { &no_port[..] } else { &subset.ports };
        for (port_number, port) in subset_ports.iter().enumerate() {
            let position = distinct((subset_number, port_number), port);
            let in_subsets = ports.entry((port, position)).or_default();
            if in_subsets.last() != Some(&subset_number) {
                in_subsets.push(subset_number);
            }
        }
    }

    // A subset may have thousands of ports, all with the same addresses.
    let mut by_subsets: HashMap<Vec<usize>, Vec<&SubsetPort>> = HashMap::new();
    for ((port, _), in_subsets) in ports {
        by_subsets.entry(in_subsets).or_default().push(port);
    }
    let compared: usize = by_subsets.keys().flatten().map(|subset| states[*subset].len()).sum();
    if compared > MAX_COMPARED {
        return subsets.to_vec();
    }

    // Ranks make equal sets of states equal lists.
    let mut order: Vec<usize> = (0..addresses.len()).collect();
    order.sort_unstable_by_key(|number| address_key(addresses[*number]));
    let mut rank = vec![0; order.len()];
    for (position, number) in order.iter().enumerate() {
        rank[*number] = position;
    }
    let mut merged: HashMap<States, Vec<SubsetPort>> = HashMap::new();
    for (in_subsets, ports) in by_subsets {
        let states = in_subsets.iter().flat_map(|subset| &states[*subset]);
        let mut ranked: States = states.map(|(number, ready)| (rank[*number], *ready)).collect();
        // Not ready sorts before ready and is kept (RP-4).
        ranked.sort_unstable();
        ranked.dedup_by_key(|(position, _)| *position);
        let shared = merged.entry(ranked).or_default();
        shared.extend(ports.into_iter().filter(|port| port.port > 0).cloned());
    }

    let mut result: Vec<EndpointSubset> = merged
        .into_iter()
        .map(|(states, mut ports)| {
            sort_subset_ports(&mut ports);
            let with_readiness = |expected: bool| {
                states
                    .iter()
                    .filter(|(_, ready)| *ready == expected)
                    .map(|(position, _)| addresses[order[*position]].clone())
                    .collect()
            };
            EndpointSubset { addresses: with_readiness(true), not_ready_addresses: with_readiness(false), ports }
        })
        .collect();
    sort_subsets(&mut result);
    result
}

fn address_key(address: &EndpointAddress) -> AddressKey<'_> {
    // An object without UID counts as no object.
    (&address.ip, address.target_ref.as_ref().map(TargetRef::uid).filter(|uid| !uid.is_empty()))
}

/// Returns whether two lists of subsets are equal apart from the resource versions of target references.
pub fn equal_ignoring_versions(a: &[EndpointSubset], b: &[EndpointSubset]) -> bool {
    let same_addresses = |a: &[EndpointAddress], b: &[EndpointAddress]| {
        a.len() == b.len()
            && a.iter().zip(b).all(|(a, b)| {
                a.ip == b.ip
                    && a.hostname == b.hostname
                    && a.node_name == b.node_name
                    && crate::same_target(a.target_ref.as_ref(), b.target_ref.as_ref())
            })
    };
    a.len() == b.len()
        && a.iter().zip(b).all(|(a, b)| {
            a.ports == b.ports
                && same_addresses(&a.addresses, &b.addresses)
                && same_addresses(&a.not_ready_addresses, &b.not_ready_addresses)
        })
}
