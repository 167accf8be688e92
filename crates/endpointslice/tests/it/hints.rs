//! Hints that the reconciler computes for Services.

use std::collections::BTreeSet;
use std::sync::Arc;

use kube_endpoint_model::{AddressType, Endpoint, EndpointSlice, Node, Service};
use kube_endpointslice::{DesiredGroup, Hints, Input, Owner, Plan, ServiceHints, plan};
use kube_topology::{HintPolicy, ZoneRatios};
use rstest::rstest;

use crate::world::{IPV4, carry_out, endpoint, options, ports, service};

/// Returns one endpoint for each letter of `zones`, in that zone and on its own Node.
fn desired(zones: &str) -> Vec<DesiredGroup> {
    let endpoint = |(at, zone): (usize, char)| Endpoint {
        zone: Some(zone.to_string().into()),
        node_name: Some(format!("n{at}").into()),
        ..endpoint(at, true)
    };
    let endpoints = zones.chars().enumerate().map(endpoint).collect();
    vec![DesiredGroup { address_type: AddressType::IPv4, ports: ports(80), endpoints }]
}

fn plan_with(zones: &str, existing: &[Arc<EndpointSlice>], policy: HintPolicy, enabled: bool) -> Plan {
    let nodes = ["a", "b"].map(|zone| Node { zone: zone.into(), cpu_milli: 1_000, ready: true, ..Node::default() });
    let ratios = ZoneRatios::from_nodes(&nodes);
    let enabled: BTreeSet<AddressType> = enabled.then_some(AddressType::IPv4).into_iter().collect();
    let hints = Hints::Decide(ServiceHints { policy, ratios: &ratios, enabled });
    plan(Input::new(&Owner::service(&service()), IPV4, desired(zones), existing), hints, &options(100))
}

/// Returns the hints of all endpoints: zones, and Nodes after a slash.
fn hints(slices: &[Arc<EndpointSlice>]) -> String {
    let hint = |endpoint: &Endpoint| match &endpoint.hints {
        None => "-".to_owned(),
        Some(hints) => {
            let nodes =
                if hints.for_nodes.is_empty() { String::new() } else { format!("/{}", hints.for_nodes.join("+")) };
            format!("{}{nodes}", hints.for_zones.join("+"))
        }
    };
    slices.iter().flat_map(|slice| &slice.endpoints).map(hint).collect::<Vec<_>>().join(" ")
}

fn policy(annotation: bool, field: Option<&str>) -> HintPolicy {
    let (topology_annotation, traffic_distribution) = (annotation.then(|| "Auto".into()), field.map(Into::into));
    HintPolicy::of(&Service { topology_annotation, traffic_distribution, ..Service::default() })
}

// upstream: TestReconcileTopology, TestReconcile_TrafficDistribution
#[rstest]
#[case::enabling(true, None, "aabb", "a a b b", &["TopologyAwareHintsEnabled"])]
#[case::more_in_one_zone(true, None, "aaab", "b a a b", &["TopologyAwareHintsEnabled"])]
#[case::beyond_the_threshold(true, None, "a", "-", &["TopologyAwareHintsDisabled"])]
#[case::disabled(false, None, "aabb", "- - - -", &[])]
#[case::prefer_close(false, Some("PreferClose"), "ab", "a b", &[])]
#[case::prefer_close_and_annotation(true, Some("PreferClose"), "a", "-", &["TopologyAwareHintsDisabled"])]
#[case::prefer_same_zone(false, Some("PreferSameZone"), "ab", "a b", &[])]
#[case::prefer_same_node(false, Some("PreferSameNode"), "ab", "a/n0 b/n1", &[])]
#[case::unknown(false, Some("PreferFar"), "ab", "- -", &[])]
fn decided(
    #[case] annotation: bool,
    #[case] field: Option<&str>,
    #[case] zones: &str,
    #[case] expected: &str,
    #[case] events: &[&str],
) {
    let policy = policy(annotation, field);
    let first = plan_with(zones, &[], policy, false);
    assert_eq!(first.types[0].events.iter().map(|event| event.reason).collect::<Vec<_>>(), events);
    let slices = carry_out(&[], &first, &mut 0);
    assert_eq!(hints(&slices), expected);
    let again = plan_with(zones, &slices, policy, first.types[0].hints.is_some());
    assert!(again.is_empty(), "settled: {again:?}");
}

// upstream: TestReconcileTopology, `topology enabled, hintsAnnotation==disabled, more slices and endpoints`; RC-33
#[test]
fn hints_that_are_not_asked_for_any_more_go_with_one_event() {
    let slices = carry_out(&[], &plan_with("aabb", &[], policy(true, None), false), &mut 0);
    let plan = plan_with("aabb", &slices, policy(false, None), true);
    assert_eq!(plan.types[0].updates().count(), 1);
    assert_eq!(hints(&carry_out(&slices, &plan, &mut 0)), "- - - -");
    let events: Vec<&str> = plan.types[0].events.iter().map(|event| event.message.as_str()).collect();
    assert_eq!(events, ["Topology Aware Hints has been disabled, addressType: IPv4"]);
}

// upstream: TestReconcileTopology, `no change, topologyCache disabled, annotation == auto`
#[test]
fn hints_may_be_left_alone() {
    let slices = carry_out(&[], &plan_with("aabb", &[], policy(true, None), false), &mut 0);
    let owner = Owner::service(&service());
    assert!(plan(Input::new(&owner, IPV4, desired("aabb"), &slices), Hints::Leave, &options(100)).is_empty());
}

// RC-31
#[test]
fn slices_to_delete_do_not_count_for_hints() {
    let slices = carry_out(&[], &plan_with("aabb", &[], policy(true, None), false), &mut 0);
    let mut old = EndpointSlice::clone(&slices[0]);
    old.ports = ports(81);
    let plan = plan_with("aabb", &[Arc::new(old)], policy(true, None), true);
    let allocated = plan.types[0].hints.iter().flatten();
    assert_eq!(allocated.map(|(zone, count)| (&**zone, *count)).collect::<Vec<_>>(), [("a", 2), ("b", 2)]);
}
