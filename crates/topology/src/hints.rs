//! Topology aware hints: endpoints are allocated to zones in proportion to the zones' CPU.

use std::collections::BTreeMap;
use std::mem;

use kube_endpoint_model::{AddressType, Endpoint, EndpointHints, EndpointSlice, Text};

use crate::allocation::Allocations;
use crate::balance::Quotas;
use crate::event::DisabledReason;
use crate::tally::Tally;
use crate::{SliceSet, TopologyEvent, ZoneRatios, strip_hints};

/// Result of computing the hints of one Service and address type.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HintsOutcome {
    /// Number of endpoints with a hint for each zone; `None` if there are no topology hints. To be passed to
    /// [`TopologyCache::record`](crate::TopologyCache::record) in both cases.
    pub allocated: Option<BTreeMap<Text, usize>>,
    /// Events to record on the Service.
    pub events: Vec<TopologyEvent>,
}

/// Gives every ready endpoint a zone hint so that each zone's number of endpoints matches its share of the CPU; if that
/// is impossible, removes all hints (TP-5 to TP-12).
///
/// An unchanged slice whose hints satisfy the bounds stays unchanged, even if other hints were closer to the ideal.
/// Endpoints that are not ready keep their hints unless all hints are stripped (EC-17). `was_enabled` is whether any
/// address type of the Service has topology hints already; if it has none, success emits an event. Failure always emits
/// one.
///
/// Unlike upstream, a slice whose hints stay the same is not moved to the updates.
pub fn add_hints(
    ratios: &ZoneRatios,
    was_enabled: bool,
    address_type: &AddressType,
    slices: &mut SliceSet,
) -> HintsOutcome {
    match assign(ratios, slices) {
        Ok(counts) => HintsOutcome {
            allocated: Some(counts),
            events: if was_enabled { Vec::new() } else { vec![TopologyEvent::enabled(address_type)] },
        },
        Err(reason) => {
            strip_hints(slices);
            HintsOutcome { allocated: None, events: vec![TopologyEvent::failed(reason, address_type)] }
        }
    }
}

/// Implements [`add_hints`]. On failure `slices` is not modified.
///
/// Success implies at least one hint: there are at least as many ready endpoints as zones, and each of them has one or
/// gets one. Upstream's event "no hints allocated" (TP-11) is therefore unreachable and not implemented.
fn assign(ratios: &ZoneRatios, slices: &mut SliceSet) -> Result<BTreeMap<Text, usize>, DisabledReason> {
    let allocations = Allocations::new(ratios, slices.ready_endpoints())?;
    let mut tally = Tally::new(&allocations);
    let mut copies: Vec<Option<EndpointSlice>> =
        slices.unchanged.iter().map(|slice| (!tally.keep(slice)).then(|| EndpointSlice::clone(slice))).collect();

    let mut assignable: Vec<&mut Endpoint> = (slices.create.iter_mut())
        .chain(&mut slices.update)
        .chain(copies.iter_mut().flatten())
        .flat_map(|slice| &mut slice.endpoints)
        .filter(|endpoint| endpoint.is_ready())
        .collect();
    if assignable.iter().any(|endpoint| zone(endpoint).is_none()) {
        return Err(DisabledReason::NoZoneSpecified);
    }
    hint_own_zones(&mut assignable, &mut tally);
    let quotas = Quotas::new(&allocations, tally.hinted());
    redistribute(&mut assignable, &allocations, quotas, &mut tally);

    for (slice, copy) in mem::take(&mut slices.unchanged).into_iter().zip(copies) {
        match copy {
            Some(copy) if copy != *slice => slices.update.push(copy),
            _ => slices.unchanged.push(slice),
        }
    }
    Ok(tally.into_counts())
}

/// Starts with a hint of every endpoint for its own zone (TP-9).
fn hint_own_zones(assignable: &mut [&mut Endpoint], tally: &mut Tally<'_>) {
    for endpoint in assignable {
        if let Some(own) = zone(endpoint).cloned() {
            tally.add(&own);
            set_hint(endpoint, own);
        }
    }
}

/// Moves hints from zones with a surplus to zones with a deficit, in the order of the endpoints (TP-10).
fn redistribute(
    assignable: &mut [&mut Endpoint],
    allocations: &Allocations,
    mut quotas: Quotas,
    tally: &mut Tally<'_>,
) {
    for endpoint in assignable {
        if quotas.is_done() {
            break;
        }
        let Some(giver) = zone(endpoint).and_then(|own| allocations.position(own)) else { continue };
        if let Some(receiver) = quotas.take(giver) {
            set_hint(endpoint, allocations.as_slice()[receiver].zone.clone());
            tally.shift(giver, receiver);
        }
    }
}

/// Returns the zone of an endpoint; an empty name counts as none.
fn zone(endpoint: &Endpoint) -> Option<&Text> {
    endpoint.zone.as_ref().filter(|zone| !zone.is_empty())
}

/// Replaces all hints, those for Nodes included, by one hint for `zone`.
fn set_hint(endpoint: &mut Endpoint, zone: Text) {
    endpoint.hints = Some(EndpointHints { for_nodes: Vec::new(), for_zones: vec![zone] }.into());
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;
    use crate::notation::{assert_set, set};

    const HALVES: &[(&str, f64)] = &[("a", 0.5), ("b", 0.5)];

    fn ratios(shares: &[(&str, f64)]) -> ZoneRatios {
        if shares.is_empty() { ZoneRatios::from_nodes([]) } else { ZoneRatios::of(shares) }
    }

    fn counts(pairs: &[(&str, usize)]) -> BTreeMap<Text, usize> {
        pairs.iter().map(|(zone, count)| (Text::from(*zone), *count)).collect()
    }

    /// Runs `add_hints` for a Service without hints; returns the allocation and the message of the only event.
    fn hint(shares: &[(&str, f64)], slices: &mut SliceSet) -> (Option<BTreeMap<Text, usize>>, String) {
        let mut outcome = add_hints(&ratios(shares), false, &AddressType::IPv4, slices);
        let event = outcome.events.pop().unwrap();
        assert!(outcome.events.is_empty());
        assert_eq!(event.normal, outcome.allocated.is_some());
        (outcome.allocated, event.message)
    }

    // upstream: TestAddHints (topologycache/topologycache_test.go)
    #[rstest]
    #[case::empty(&[], "", "", &[], "Insufficient Node information")]
    #[case::slice_to_create_no_zone_ratios(&[], "a", "a", &[], "Insufficient Node information")]
    #[case::slice_to_create_with_2_endpoints_zone_ratios_require_3(
        &[("a", 0.3), ("b", 0.4), ("c", 0.3)],
        "a b",
        "a b",
        &[],
        "Insufficient number of endpoints (2 endpoints, 3 zones)",
    )]
    #[case::slice_to_create_with_2_endpoints_zone_ratios_only_require_2(
        &[("a", 0.45), ("b", 0.55)],
        "a b",
        "a>a b>b",
        &[("a", 1), ("b", 1)],
        "Topology Aware Hints has been enabled",
    )]
    #[case::slice_to_create_with_2_ready_1_unready_1_unknown_endpoints_zone_ratios_only_require_2(
        &[("a", 0.45), ("b", 0.55)],
        "a b !b ?b",
        "a>a b>b !b ?b",
        &[("a", 1), ("b", 1)],
        "Topology Aware Hints has been enabled",
    )]
    #[case::slices_to_create_and_update_within_3_zone_threshold(
        &[("a", 0.35), ("b", 0.35), ("c", 0.30)],
        "a b, c c a | a a, b c a",
        "a>b b>b, c>c c>c a>a | a>a a>a, b>b c>c a>a",
        &[("a", 4), ("b", 3), ("c", 3)],
        "Topology Aware Hints has been enabled",
    )]
    // Not in upstream's tests.
    #[case::too_uneven(
        &[("a", 0.9), ("b", 0.05), ("c", 0.05)],
        "| | a>a a b>b c>c",
        "| a a b c |",
        &[],
        "Unable to allocate minimum required endpoints to each zone without exceeding overload threshold \
         (4 endpoints, 3 zones)",
    )]
    #[case::tp_8_slices_that_fit_stay(
        HALVES,
        "| | a>a a>b, b>a b>b, ()",
        "| | a>a a>b, b>a b>b, ()",
        &[("a", 2), ("b", 2)],
        "Topology Aware Hints has been enabled",
    )]
    #[case::tp_8_slices_beyond_the_maximum_move(
        HALVES,
        "| | a>a a>a, a>a a>a",
        "| a>b a>b | a>a a>a",
        &[("a", 2), ("b", 2)],
        "Topology Aware Hints has been enabled",
    )]
    #[case::tp_9_node_hints_are_replaced(
        HALVES,
        "a@n>a/n | b@n>b/n | a@n>a/n b>b",
        "a@n>a | b@n>b | a@n>a/n b>b",
        &[("a", 2), ("b", 2)],
        "Topology Aware Hints has been enabled",
    )]
    #[case::zones_without_a_share_keep_their_endpoints(
        HALVES,
        "a b c c",
        "a>a b>b c>c c>c",
        &[("a", 1), ("b", 1), ("c", 2)],
        "Topology Aware Hints has been enabled",
    )]
    #[case::tp_10_the_first_endpoints_move(
        &[("a", 0.34), ("b", 0.33), ("c", 0.33)],
        "!a a a | a a a a",
        "!a a>b a>b | a>c a>c a>a a>a",
        &[("a", 2), ("b", 2), ("c", 2)],
        "Topology Aware Hints has been enabled",
    )]
    fn cases(
        #[case] shares: &[(&str, f64)],
        #[case] given: &str,
        #[case] expected: &str,
        #[case] allocated: &[(&str, usize)],
        #[case] message: &str,
    ) {
        let mut slices = set(given);
        let outcome = hint(shares, &mut slices);
        assert_set(&slices, expected);
        assert_eq!(outcome.0, (!allocated.is_empty()).then(|| counts(allocated)));
        assert!(outcome.1.starts_with(message), "{}", outcome.1);
        assert!(outcome.1.ends_with(", addressType: IPv4"), "{}", outcome.1);
    }

    // upstream: Test_redistributeHints (topologycache/utils_test.go): quotas by zone, expected hints, and expected
    // counts that start at 9.
    #[rstest]
    #[case::empty("", ([0, 0, 0], [0, 0, 0]), "", [9, 9, 9])]
    #[case::single_endpoint("a>a", ([1, 0, 0], [0, 1, 0]), "a>b", [8, 10, 9])]
    #[case::endpoints_from_1_zone_redistributed_to_2_other_zones(
        "a>a a>a a>a",
        ([2, 0, 0], [0, 1, 1]),
        "a>b a>c a>a",
        [7, 10, 10],
    )]
    fn redistribute_hints(
        #[case] given: &str,
        #[case] quotas: ([usize; 3], [usize; 3]),
        #[case] expected: &str,
        #[case] counts: [usize; 3],
    ) {
        let allocations = Allocations::new(&ratios(&[("a", 0.34), ("b", 0.33), ("c", 0.33)]), 99).unwrap();
        let mut tally = Tally::new(&allocations);
        for zone in ["a", "b", "c"] {
            (0..9).for_each(|_| tally.add(&Text::from(zone)));
        }
        let mut slices = set(given);
        let mut assignable: Vec<&mut Endpoint> = slices.create.iter_mut().flat_map(|it| &mut it.endpoints).collect();
        let quotas = Quotas { give: quotas.0.to_vec(), receive: quotas.1.to_vec() };
        redistribute(&mut assignable, &allocations, quotas, &mut tally);
        assert_set(&slices, expected);
        assert_eq!(tally.hinted(), counts);
    }

    #[test]
    fn enabled_event_is_emitted_once_and_disabled_event_every_time() {
        let events = |was_enabled, text| {
            add_hints(&ratios(HALVES), was_enabled, &AddressType::IPv6, &mut set(text)).events.len()
        };
        assert_eq!((events(false, "a b"), events(true, "a b")), (1, 0));
        assert_eq!((events(false, "a"), events(true, "a")), (1, 1));
    }

    #[test]
    fn ec_15_before_the_first_node_the_reason_differs() {
        let mut slices = set("a b");
        let outcome = add_hints(&ZoneRatios::default(), false, &AddressType::IPv4, &mut slices);
        assert_eq!(outcome.events[0].message, "Nodes only ready in one zone, addressType: IPv4");
    }

    #[test]
    fn ec_17_endpoints_that_are_not_ready_keep_their_hints_until_all_are_stripped() {
        let mut slices = set("a b !a>b ?b>gone | | a b !b>a");
        hint(HALVES, &mut slices);
        assert_set(&slices, "a>a b>b !a>b ?b>gone | a>a b>b !b>a |");
        hint(&[], &mut slices);
        assert_set(&slices, "a b !a ?b | a b !b |");
    }

    // TP-9
    #[rstest]
    #[case::created("a>a b b -", "a b b - | |")]
    #[case::empty_name("a b b _", "a b b _ | |")]
    #[case::updated("| a b>a - | a>a !a", "| a b -, a !a |")]
    // Upstream moves the last two slices to the updates before it finds the missing zone, and writes them at every
    // sync.
    #[case::unchanged_without_hints("| | a b, b -", "| | a b, b -")]
    fn endpoint_without_zone_removes_all_hints(#[case] given: &str, #[case] expected: &str) {
        let mut slices = set(given);
        let (allocated, message) = hint(HALVES, &mut slices);
        assert_set(&slices, expected);
        assert_eq!(allocated, None);
        assert_eq!(message, "One or more endpoints do not have a zone specified, addressType: IPv4");
    }

    #[test]
    fn endpoint_without_zone_in_an_unchanged_slice_is_allowed() {
        let mut slices = set("a b | | ->a !- ->b");
        assert_eq!(hint(HALVES, &mut slices).0, Some(counts(&[("a", 2), ("b", 2)])));
        assert_set(&slices, "a>a b>b | | ->a !- ->b");
    }

    // The allocation of zone a is 3.55 with a maximum of 3, but a surplus below 0.5 moves no endpoint. Upstream writes
    // this slice at every sync without a change.
    #[test]
    fn slice_whose_hints_do_not_change_stays_unchanged() {
        let shares = &[("a", 0.71), ("b", 0.145), ("c", 0.145)];
        let mut slices = set("| | a>a a>a a>a a>a b>b");
        assert_eq!(hint(shares, &mut slices).0, Some(counts(&[("a", 4), ("b", 1)])));
        assert_set(&slices, "| | a>a a>a a>a a>a b>b");
    }
}
