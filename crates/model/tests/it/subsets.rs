//! Repacking of Endpoints subsets: upstream's cases, and properties.

use std::collections::BTreeMap;

use kube_endpoint_model::subsets::{repack, repack_like_upstream};
use kube_endpoint_model::{
    Address, EndpointAddress, EndpointSubset, Endpoints, ObjectReference, SubsetPort, TargetRef,
};
use proptest::prelude::*;
use rstest::rstest;

/// Parses `1.2.3.4/uid`: an IP address, and optionally the UID of its object.
fn address(text: &str) -> EndpointAddress {
    let (ip, uid) = text.split_once('/').map_or((text, None), |(ip, uid)| (ip, Some(uid)));
    EndpointAddress {
        hostname: "".into(),
        ip: Address::new(ip),
        node_name: None,
        target_ref: uid.map(|uid| TargetRef::from(ObjectReference { uid: uid.into(), ..Default::default() })),
    }
}

/// Parses `ready ready|unready unready|port port`; subsets are separated by `;`.
fn subsets(text: &str) -> Vec<EndpointSubset> {
    text.split(';')
        .filter(|it| !it.is_empty())
        .map(|set| {
            let mut parts = set.split('|').map(|part| part.split_whitespace());
            EndpointSubset {
                addresses: parts.next().into_iter().flatten().map(address).collect(),
                not_ready_addresses: parts.next().into_iter().flatten().map(address).collect(),
                ports: parts
                    .next()
                    .into_iter()
                    .flatten()
                    .map(|port| SubsetPort { port: port.parse().expect("a number"), ..Default::default() })
                    .collect(),
            }
        })
        .collect()
}

/// Formats the subsets, sorted by text; their own order is tested elsewhere.
fn format_subsets(subsets: &[EndpointSubset]) -> Vec<String> {
    let list = |addresses: &[EndpointAddress]| {
        addresses
            .iter()
            .map(|it| match &it.target_ref {
                Some(target) => format!("{}/{}", it.ip, target.uid()),
                None => it.ip.to_string(),
            })
            .collect::<Vec<_>>()
            .join(" ")
    };
    let mut shown: Vec<String> = subsets
        .iter()
        .map(|set| {
            let mut ports: Vec<i32> = set.ports.iter().map(|it| it.port).collect();
            ports.sort_unstable();
            let ports: Vec<String> = ports.iter().map(ToString::to_string).collect();
            format!("{}|{}|{}", list(&set.addresses), list(&set.not_ready_addresses), ports.join(" "))
        })
        .collect();
    shown.sort();
    shown
}

// upstream: TestPackSubsets
#[rstest]
#[case::empty_everything("", "")]
#[case::empty_addresses("||111", "")]
#[case::empty_ports("1.2.3.4||", "1.2.3.4||")]
#[case::empty_ports_not_ready("|1.2.3.4|", "|1.2.3.4|")]
#[case::one_ip_one_port("1.2.3.4||111", "1.2.3.4||111")]
#[case::one_ipv6_one_port("beef::1:2:3:4||111", "beef::1:2:3:4||111")]
#[case::one_not_ready_ip("|1.2.3.4|111", "|1.2.3.4|111")]
#[case::one_uid("1.2.3.4/u1||111", "1.2.3.4/u1||111")]
#[case::one_not_ready_uid("|1.2.3.4/u1|111", "|1.2.3.4/u1|111")]
#[case::one_empty_uid("1.2.3.4/||111", "1.2.3.4/||111")]
#[case::one_not_ready_empty_uid("|1.2.3.4/|111", "|1.2.3.4/|111")]
#[case::two_ips("1.2.3.4 5.6.7.8||111", "1.2.3.4 5.6.7.8||111")]
#[case::two_mixed_ips("1.2.3.4|5.6.7.8|111", "1.2.3.4|5.6.7.8|111")]
#[case::not_ready_wins("1.2.3.4|1.2.3.4|111", "|1.2.3.4|111")]
#[case::two_ports("1.2.3.4||111 222", "1.2.3.4||111 222")]
#[case::dup_ips("1.2.3.4 1.2.3.4||111", "1.2.3.4||111")]
#[case::dup_ipv6("beef::1 beef::1||111", "beef::1||111")]
#[case::dup_ips_with_targets("1.2.3.4/u1 1.2.3.4/u1||111", "1.2.3.4/u1||111")]
#[case::dup_mixed_ips_with_targets("1.2.3.4/u1|1.2.3.4/u1|111", "|1.2.3.4/u1|111")]
#[case::dup_ports("1.2.3.4||222 222", "1.2.3.4||222")]
#[case::two_sets_dup_ip_dup_port("1.2.3.4||111;1.2.3.4||111", "1.2.3.4||111")]
#[case::two_sets_dup_mixed_ip("1.2.3.4||111;|1.2.3.4|111", "|1.2.3.4|111")]
#[case::two_sets_two_ports("1.2.3.4||111;1.2.3.4||222", "1.2.3.4||111 222")]
#[case::two_sets_dup_uids_two_ports("1.2.3.4/u1||111;1.2.3.4/u1||222", "1.2.3.4/u1||111 222")]
#[case::two_sets_dup_mixed_uids_two_ports("1.2.3.4/u1||111;|1.2.3.4/u1|222", "1.2.3.4/u1||111;|1.2.3.4/u1|222")]
#[case::two_sets_two_ips_dup_port("1.2.3.4||111;5.6.7.8||111", "1.2.3.4 5.6.7.8||111")]
#[case::two_uids_dup_ports("1.2.3.4/u1||111;1.2.3.4/u2||111", "1.2.3.4/u1 1.2.3.4/u2||111")]
#[case::with_and_without_uid("1.2.3.4||111;1.2.3.4/u2||111", "1.2.3.4 1.2.3.4/u2||111")]
#[case::wrong_order("5.6.7.8 1.2.3.4/u1||111;1.2.3.4/u1||111", "1.2.3.4/u1 5.6.7.8||111")]
#[case::wrong_order_split(
    "5.6.7.8||111;|5.6.7.8/u1|111;|1.2.3.4/u1|111;1.2.3.4||111",
    "1.2.3.4 5.6.7.8|1.2.3.4/u1 5.6.7.8/u1|111"
)]
#[case::two_ips_two_ports("1.2.3.4||111;5.6.7.8||222", "1.2.3.4||111;5.6.7.8||222")]
#[case::jumbled(
    "1.2.3.4/u1 1.2.3.5||222;1.2.3.6||111;1.2.3.5||111;1.2.3.6/u3||333",
    "1.2.3.4/u1 1.2.3.5||222;1.2.3.5 1.2.3.6||111;1.2.3.6/u3||333"
)]
#[case::jumbled_mixed(
    "1.2.3.4/u1|1.2.3.5|222;1.2.3.6||111;|1.2.3.5|111;1.2.3.6/u3||333",
    "1.2.3.4/u1|1.2.3.5|222;1.2.3.6|1.2.3.5|111;1.2.3.6/u3||333"
)]
#[case::port_zero_vanishes("1.2.3.4||0", "1.2.3.4||")]
#[case::sorted_by_text("10.0.0.9 10.0.0.10||1", "10.0.0.10 10.0.0.9||1")]
fn packs(#[case] input: &str, #[case] expected: &str) {
    let expected: Vec<String> = {
        let mut sets: Vec<String> = expected.split(';').filter(|it| !it.is_empty()).map(str::to_owned).collect();
        sets.sort();
        sets
    };
    assert_eq!(format_subsets(&repack(&subsets(input))), expected);
}

// EC-7, differs from upstream: equal application protocols are merged.
#[test]
fn equal_app_protocols_merge() {
    let with_protocol = |ip: &str| EndpointSubset {
        addresses: vec![address(ip)],
        ports: vec![SubsetPort { port: 80, app_protocol: Some("http".into()), ..Default::default() }],
        ..Default::default()
    };
    let subsets = [with_protocol("1.1.1.1"), with_protocol("1.1.1.2")];
    assert_eq!(repack(&subsets).len(), 1);
    assert_eq!(repack_like_upstream(&subsets).len(), 2, "as upstream");
}

// RP-2
#[test]
fn the_first_record_of_an_address_counts() {
    let on = |node: &str, port| EndpointSubset {
        addresses: vec![EndpointAddress { node_name: Some(node.into()), ..address("1.1.1.1/u") }],
        ports: vec![SubsetPort { port, ..Default::default() }],
        ..Default::default()
    };
    let packed = repack(&[on("a", 1), on("b", 2)]);
    assert_eq!(packed.len(), 1);
    assert_eq!(packed[0].addresses[0].node_name.as_deref(), Some("a"));
}

/// An object of 1.5 MB may have billions of pairs.
#[test]
fn ready_addresses_of_a_large_object_have_no_ports() {
    let pairs = |ports: usize| {
        let subset = EndpointSubset {
            addresses: vec![address("1.1.1.1"); 1_000],
            ports: vec![SubsetPort::default(); ports],
            ..Default::default()
        };
        let endpoints = Endpoints { subsets: vec![subset], ..Default::default() };
        (endpoints.ready_addresses().count(), endpoints.ready_addresses().any(|(_, port)| port.is_some()))
    };
    assert_eq!((pairs(100), pairs(101), pairs(0)), ((100_000, true), (1_000, false), (1_000, false)));
}

fn arbitrary_subset() -> impl Strategy<Value = EndpointSubset> {
    let addresses = || prop::collection::vec((0u8..12, prop::option::of(0u8..3)), 0..6);
    (addresses(), addresses(), prop::collection::vec(1..5i32, 0..4)).prop_map(|(ready, not_ready, ports)| {
        let to_addresses = |list: Vec<(u8, Option<u8>)>| {
            list.into_iter()
                .map(|(ip, uid)| match uid {
                    Some(uid) => address(&format!("10.0.0.{ip}/u{uid}")),
                    None => address(&format!("10.0.0.{ip}")),
                })
                .collect()
        };
        EndpointSubset {
            addresses: to_addresses(ready),
            not_ready_addresses: to_addresses(not_ready),
            ports: ports.into_iter().map(|port| SubsetPort { port, ..Default::default() }).collect(),
        }
    })
}

/// Returns the readiness of each address at each port, with not ready taking precedence.
fn readiness_by_port(subsets: &[EndpointSubset]) -> BTreeMap<(i32, String, Option<String>), bool> {
    let mut readiness = BTreeMap::new();
    for set in subsets {
        let ports = if set.ports.is_empty() { vec![-1] } else { set.ports.iter().map(|it| it.port).collect() };
        for (ready, addresses) in [(true, &set.addresses), (false, &set.not_ready_addresses)] {
            for (port, address) in ports.iter().flat_map(|port| addresses.iter().map(move |address| (port, address))) {
                let uid = address.target_ref.as_ref().map(|it| it.uid().to_string());
                let state = readiness.entry((*port, address.ip.to_string(), uid)).or_insert(ready);
                *state &= ready;
            }
        }
    }
    readiness
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn keeps_every_address_and_port(input in prop::collection::vec(arbitrary_subset(), 0..5)) {
        let (before, after) = (readiness_by_port(&input), readiness_by_port(&repack(&input)));
        prop_assert!(after.iter().all(|(key, ready)| before.get(key) == Some(ready)));
        for ((port, address, uid), ready) in before.iter().filter(|(key, _)| !after.contains_key(key)) {
            // RP-5: without ports, an address is dropped if it is also listed with ports in the same state.
            prop_assert_eq!(*port, -1);
            prop_assert!(before.iter().any(|(it, state)| it.0 > 0 && it.1 == *address && it.2 == *uid && state == ready));
        }
    }

    #[test]
    fn is_idempotent_and_order_independent(
        (input, shuffled) in prop::collection::vec(arbitrary_subset(), 0..5)
            .prop_flat_map(|input| (Just(input.clone()), Just(input).prop_shuffle()))
    ) {
        let packed = repack(&input);
        prop_assert_eq!(&repack(&packed), &packed);
        prop_assert_eq!(&repack(&shuffled), &packed);
    }
}
