//! Properties of mirroring, for random Endpoints.

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
        // Either all subsets have ports or none has: repacking merges a subset without ports into one that has the same
        // addresses with ports, so that the slices do not show the former (RP-1, RP-5).
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

/// Readiness by port and address. A port is formatted as `name number application-protocol`.
type Readiness = BTreeMap<(String, IpAddr), bool>;

/// Returns the readiness in Endpoints. Invalid addresses are left out, and not ready takes precedence over ready.
fn in_endpoints(endpoints: &Endpoints) -> Readiness {
    let mut readiness = Readiness::new();
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
                    *readiness.entry((port.clone(), ip)).or_insert(ready) &= ready;
                }
            }
        }
    }
    readiness
}

/// Returns the readiness in slices. Fails if an address occurs twice with the same port.
fn in_slices(slices: &[Arc<EndpointSlice>]) -> Result<Readiness, TestCaseError> {
    let mut readiness = Readiness::new();
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
            prop_assert!(readiness.insert((port.clone(), ip), ready).is_none(), "{} occurs twice at {:?}", ip, port);
        }
    }
    Ok(readiness)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_valid_address_and_port_is_mirrored(endpoints in endpoints()) {
        let slices = carry_out(&[], &mirror(&endpoints, &[], 1_000).plan, &mut 0);
        prop_assert_eq!(in_slices(&slices)?, in_endpoints(&endpoints));
    }

    #[test]
    fn successive_syncs_give_the_result_of_a_fresh_one(steps in prop::collection::vec(endpoints(), 1..5), max in 1..8usize) {
        let (mut slices, mut created) = (Vec::new(), 0);
        for step in &steps {
            let first = mirror(step, &slices, max);
            let mut reversed = slices.clone();
            reversed.reverse();
            prop_assert_eq!(&mirror(step, &reversed, max), &first, "the order of slices must not matter");
            slices = carry_out(&slices, &first.plan, &mut created);
            prop_assert_eq!(writes(&mirror(step, &slices, max).plan), (0, 0, 0), "a second sync must not write");
            let fresh = carry_out(&[], &mirror(step, &[], max).plan, &mut 0);
            prop_assert_eq!(in_slices(&slices)?, in_slices(&fresh)?);
            prop_assert_eq!(slices.len(), fresh.len());
        }
    }
}
