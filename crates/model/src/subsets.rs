//! The canonical form of Endpoints subsets (RP-1 to RP-8).
//!
//! **EC-7, mended**: upstream compares the application protocol of ports by pointer, so that equal ports decoded apart
//! never merge. Here ports are equal by value.

use std::collections::HashMap;

use crate::endpoints::{EndpointAddress, EndpointSubset, SubsetPort};
use crate::fingerprint::{sort_subset_ports, sort_subsets};
use crate::{Address, TargetRef, Uid};

/// What makes two addresses one (RP-2): the address and the identity of the object behind it. In this order they are
/// listed (RP-6): by text, and no object before any.
type AddressKey<'a> = (&'a Address, Option<&'a Uid>);

/// A port number that stands for "no ports"; numbers up to 0 vanish from the result (RP-1).
const NO_PORT: i32 = -1;

/// Brings subsets into their canonical form: every address once per port, not ready winning over ready; ports that are
/// served by the same addresses in the same state share a subset; everything in upstream's order.
///
/// The first record seen of an address (host name, Node, target) stands for all its occurrences. The result depends
/// on the order of the input in nothing else, and repacking it again changes nothing.
pub fn repack(subsets: &[EndpointSubset]) -> Vec<EndpointSubset> {
    repack_by(subsets, |_, _| None)
}

/// As [`repack`], but ports with an application protocol never merge, as upstream has it (EC-7): for limits that count
/// the addresses of upstream's subsets.
pub fn repack_apart(subsets: &[EndpointSubset]) -> Vec<EndpointSubset> {
    repack_by(subsets, |place, port| port.app_protocol.is_some().then_some(place))
}

/// Numbers of addresses and whether they are ready.
type States = Vec<(usize, bool)>;

/// Where a port stands: the number of its subset and its own in it.
type Place = (usize, usize);

fn repack_by(
    subsets: &[EndpointSubset],
    distinct: impl Fn(Place, &SubsetPort) -> Option<Place>,
) -> Vec<EndpointSubset> {
    let mut addresses: Vec<&EndpointAddress> = Vec::new();
    let mut numbers: HashMap<AddressKey<'_>, usize> = HashMap::new();
    // Per port: the numbers of its addresses and whether they are ready, as often as they come.
    let mut ports: HashMap<(&SubsetPort, Option<Place>), States> = HashMap::new();
    let no_port = [SubsetPort { port: NO_PORT, ..SubsetPort::default() }];

    for (subset_number, subset) in subsets.iter().enumerate() {
        let states = subset
            .addresses
            .iter()
            .map(|address| (address, true))
            .chain(subset.not_ready_addresses.iter().map(|address| (address, false)));
        let numbered: Vec<(usize, bool)> = states
            .map(|(address, ready)| {
                let number = *numbers.entry(address_key(address)).or_insert_with(|| {
                    addresses.push(address);
                    addresses.len() - 1
                });
                (number, ready)
            })
            .collect();
        if numbered.is_empty() {
            continue;
        }
        let subset_ports = if subset.ports.is_empty() { &no_port[..] } else { &subset.ports };
        for (port_number, port) in subset_ports.iter().enumerate() {
            let place = distinct((subset_number, port_number), port);
            ports.entry((port, place)).or_default().extend(&numbered);
        }
    }

    // Rank addresses by their order once, so that equal sets of states are equal lists.
    let mut order: Vec<usize> = (0..addresses.len()).collect();
    order.sort_unstable_by_key(|number| address_key(addresses[*number]));
    let mut rank = vec![0; order.len()];
    for (position, number) in order.iter().enumerate() {
        rank[*number] = position;
    }

    let mut merged: HashMap<States, Vec<SubsetPort>> = HashMap::new();
    for ((port, _), states) in ports {
        let mut ranked: States = states.into_iter().map(|(number, ready)| (rank[number], ready)).collect();
        // Not ready sorts before ready and wins, whichever came first (RP-4).
        ranked.sort_unstable();
        ranked.dedup_by_key(|(position, _)| *position);
        let shared = merged.entry(ranked).or_default();
        if port.port > 0 {
            shared.push(port.clone());
        }
    }

    let mut result: Vec<EndpointSubset> = merged
        .into_iter()
        .map(|(states, mut ports)| {
            sort_subset_ports(&mut ports);
            let with = |wanted: bool| {
                states
                    .iter()
                    .filter(|(_, ready)| *ready == wanted)
                    .map(|(position, _)| addresses[order[*position]].clone())
                    .collect()
            };
            EndpointSubset { addresses: with(true), not_ready_addresses: with(false), ports }
        })
        .collect();
    sort_subsets(&mut result);
    result
}

fn address_key(address: &EndpointAddress) -> AddressKey<'_> {
    // An object without identity is no different from no object when addresses are told apart.
    (&address.ip, address.target_ref.as_ref().map(TargetRef::uid).filter(|uid| !uid.is_empty()))
}

/// Whether two lists of subsets are equal, whatever the resource versions of the objects behind their addresses.
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
