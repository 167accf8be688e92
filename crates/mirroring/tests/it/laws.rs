//! Laws of mirroring, over random Endpoints.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::Arc;

use kube_endpoint_model::{EndpointSlice, Endpoints};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::server::{carry_out, mirror, read, writes};

fn subset() -> impl Strategy<Value = Value> {
    let ip = (0..10u8, prop::sample::select(vec!["10.0.0.", "fd00::", "bad"]))
        .prop_map(|(host, prefix)| json!({"ip": format!("{prefix}{host}")}));
    let port = (1..5u16, prop::option::of(Just("http")))
        .prop_map(|(port, protocol)| json!({"name": format!("n{port}"), "port": port, "protocol": "TCP", "appProtocol": protocol}));
    let addresses = || prop::collection::vec(ip.clone(), 0..6);
    (addresses(), addresses(), prop::collection::vec(port, 1..3)).prop_map(
        |(ready, not_ready, ports)| json!({"addresses": ready, "notReadyAddresses": not_ready, "ports": ports}),
    )
}

fn endpoints() -> impl Strategy<Value = Endpoints> {
    let labels = prop::collection::btree_map("[ab]", "[xy]", 0..3);
    let annotations = prop::collection::btree_map("[ab]", "[xy]", 0..3);
    let subsets = prop::collection::vec(subset(), 0..4);
    (subsets, prop::bool::weighted(0.2), labels, annotations).prop_map(|(mut subsets, portless, labels, annotations)| {
        // Subsets without ports are all or none: repacking merges one into a subset of the same addresses with ports, and
        // so loses that they were served at none as well (RP-1, RP-5).
        if portless {
            for subset in &mut subsets {
                subset["ports"] = json!([]);
            }
        }
        read(&json!({
            "metadata": {"namespace": "ns", "name": "db", "uid": "u-db", "labels": labels, "annotations": annotations},
            "subsets": subsets
        }))
    })
}

/// Which port, as `name number protocol`, is served at which address, and whether it is ready.
type Meaning = BTreeMap<(String, IpAddr), bool>;

/// As the specification reads: an address without a usable text is none, and not ready wins.
fn said(endpoints: &Endpoints) -> Meaning {
    let mut said = Meaning::new();
    for subset in &endpoints.subsets {
        let mut ports: Vec<String> = subset
            .ports
            .iter()
            .map(|it| format!("{} {} {}", it.name, it.port, it.app_protocol.as_deref().unwrap_or_default()))
            .collect();
        if ports.is_empty() {
            ports.push(String::new());
        }
        for (addresses, ready) in [(&subset.addresses, true), (&subset.not_ready_addresses, false)] {
            for address in addresses {
                let Ok(ip) = address.ip.to_string().parse::<IpAddr>() else { continue };
                for port in &ports {
                    *said.entry((port.clone(), ip)).or_insert(ready) &= ready;
                }
            }
        }
    }
    said
}

/// What the slices say; an address that is there twice for a port is an error.
fn mirrored(slices: &[Arc<EndpointSlice>]) -> Result<Meaning, TestCaseError> {
    let mut meaning = Meaning::new();
    for slice in slices {
        let mut ports: Vec<String> = slice
            .ports
            .iter()
            .map(|it| {
                let name = it.name.as_deref().unwrap_or_default();
                format!("{name} {} {}", it.port.unwrap_or_default(), it.app_protocol.as_deref().unwrap_or_default())
            })
            .collect();
        if ports.is_empty() {
            ports.push(String::new());
        }
        for (endpoint, port) in slice.endpoints.iter().flat_map(|it| ports.iter().map(move |port| (it, port))) {
            let ip: IpAddr = endpoint.addresses[0].to_string().parse().expect("canonical");
            prop_assert_eq!(ip.is_ipv6(), slice.address_type.as_str() == "IPv6");
            let ready = endpoint.conditions.ready == Some(true);
            prop_assert!(meaning.insert((port.clone(), ip), ready).is_none(), "{} at {:?} is there twice", ip, port);
        }
    }
    Ok(meaning)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_is_said_is_mirrored(endpoints in endpoints()) {
        let slices = carry_out(&[], &mirror(&endpoints, &[], 1_000).plan, &mut 0);
        prop_assert_eq!(mirrored(&slices)?, said(&endpoints));
    }

    #[test]
    fn a_walk_ends_where_a_fresh_start_does(steps in prop::collection::vec(endpoints(), 1..5), max in 1..8usize) {
        let (mut slices, mut created) = (Vec::new(), 0);
        for step in &steps {
            let first = mirror(step, &slices, max);
            let mut reversed = slices.clone();
            reversed.reverse();
            prop_assert_eq!(&mirror(step, &reversed, max), &first, "the order of slices matters");
            slices = carry_out(&slices, &first.plan, &mut created);
            prop_assert_eq!(writes(&mirror(step, &slices, max).plan), (0, 0, 0), "a second sync writes");
            let fresh = carry_out(&[], &mirror(step, &[], max).plan, &mut 0);
            prop_assert_eq!(mirrored(&slices)?, mirrored(&fresh)?);
            prop_assert_eq!(slices.len(), fresh.len());
        }
    }
}
