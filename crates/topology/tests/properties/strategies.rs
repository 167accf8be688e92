//! Strategies for clusters and slices.

use std::collections::BTreeMap;
use std::sync::Arc;

use kube_endpoint_model::{Endpoint, EndpointConditions, EndpointHints, EndpointSlice, Node, Text};
use kube_topology::{SliceSet, ZoneRatios};
use proptest::collection::vec;
use proptest::prelude::*;

/// Enough cases for rare combinations, such as an allocation that exceeds a zone's maximum.
pub(crate) const CASES: u32 = 2_000;

/// Zones of the cluster. Endpoints may also run in zone `x`, which has no ready Node.
const ZONES: [&str; 5] = ["a", "b", "c", "d", "e"];

/// Ratios of two to five zones, from even to very uneven.
pub(crate) fn ratios() -> impl Strategy<Value = ZoneRatios> {
    let cpu = prop_oneof![3 => Just(4_000_i64), 2 => 500_i64..8_000, 1 => 1_i64..100_000];
    vec(cpu, 2..=ZONES.len()).prop_map(|cpus| {
        let node = |(zone, cpu_milli): (&&str, i64)| Node {
            zone: Text::from(*zone),
            cpu_milli,
            ready: true,
            ..Node::default()
        };
        ZoneRatios::from_nodes(&ZONES.iter().zip(cpus).map(node).collect::<Vec<_>>())
    })
}

/// An endpoint in one of the zones, with arbitrary hints or none.
fn endpoint(zone: impl Strategy<Value = Option<Text>>) -> impl Strategy<Value = Endpoint> {
    let name = || prop::sample::select(vec!["a", "b", "c", "x"]).prop_map(Text::from);
    let hints = (vec(name(), 0..3), vec(name(), 0..2))
        .prop_map(|(for_zones, for_nodes)| EndpointHints { for_nodes, for_zones }.into());
    let ready = prop_oneof![8 => Just(Some(true)), 1 => Just(Some(false)), 1 => Just(None)];
    (ready, zone, prop::option::of(name()), prop::option::weighted(0.3, hints)).prop_map(
        |(ready, zone, node_name, hints)| Endpoint {
            conditions: EndpointConditions { ready, ..EndpointConditions::default() },
            zone,
            node_name,
            hints,
            ..Endpoint::default()
        },
    )
}

fn slices(endpoint: impl Strategy<Value = Endpoint>) -> impl Strategy<Value = Vec<EndpointSlice>> {
    vec(vec(endpoint, 0..14), 0..5).prop_map(|slices| {
        let slice = |endpoints| EndpointSlice {
            metadata: kube_endpoint_model::ObjectMeta::default(),
            address_type: "IPv4".into(),
            endpoints,
            ports: Vec::new(),
        };
        let mut slices: Vec<EndpointSlice> = slices.into_iter().map(slice).collect();
        number(&mut slices);
        slices
    })
}

/// Gives every endpoint a unique host name, by which tests identify it.
fn number(slices: &mut [EndpointSlice]) {
    for (at, endpoint) in slices.iter_mut().flat_map(|slice| &mut slice.endpoints).enumerate() {
        endpoint.hostname = Some(format!("e{at}").into());
    }
}

/// Slices to create, to update and unchanged, with arbitrary hints.
pub(crate) fn any_slices() -> impl Strategy<Value = SliceSet> {
    let zone = prop_oneof![
        60 => prop::sample::select(ZONES.to_vec()).prop_map(|it| Some(Text::from(it))),
        60 => Just(Some(Text::from("a"))),
        5 => Just(Some(Text::from("x"))),
        1 => prop::sample::select(vec![None, Some(Text::from(""))]),
    ];
    let states = vec(0_u8..3, 5);
    (slices(endpoint(zone)), states).prop_map(|(slices, states)| {
        let mut set = SliceSet::default();
        for (slice, state) in slices.into_iter().zip(states) {
            match state {
                0 => set.create.push(slice),
                1 => set.update.push(slice),
                _ => set.unchanged.push(Arc::new(slice)),
            }
        }
        set
    })
}

/// A cluster, and new slices without hints whose endpoints are in its zones.
pub(crate) fn new_slices() -> impl Strategy<Value = (ZoneRatios, SliceSet)> {
    let position = prop_oneof![0..ZONES.len(), Just(0), Just(1)];
    let zone = position.prop_map(|position| Some(Text::from(ZONES[position])));
    (ratios(), slices(endpoint(zone))).prop_map(|(ratios, mut create)| {
        for endpoint in create.iter_mut().flat_map(|slice| &mut slice.endpoints) {
            endpoint.hints = None;
            endpoint.zone = endpoint
                .zone
                .take()
                .filter(|zone| ratios.shares().iter().any(|(it, _)| it == zone))
                .or(Some("a".into()));
        }
        (ratios, SliceSet { create, ..SliceSet::default() })
    })
}

pub(crate) fn endpoints(set: &SliceSet) -> BTreeMap<Text, Endpoint> {
    set.iter()
        .flat_map(|slice| &slice.endpoints)
        .map(|it| (it.hostname.clone().unwrap_or_default(), it.clone()))
        .collect()
}

pub(crate) fn without_hints(endpoint: &Endpoint) -> Endpoint {
    Endpoint { hints: None, ..endpoint.clone() }
}

/// Returns the slices as the next sync sees them, all unchanged.
pub(crate) fn settled(set: SliceSet) -> SliceSet {
    let written = set.create.into_iter().chain(set.update).map(Arc::new);
    SliceSet { unchanged: written.chain(set.unchanged).collect(), ..SliceSet::default() }
}
