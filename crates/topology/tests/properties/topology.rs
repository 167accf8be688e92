//! Properties of topology hints.

use std::collections::BTreeMap;
use std::sync::Arc;

use kube_endpoint_model::{AddressType, EndpointSlice, Text};
use kube_topology::{HintsOutcome, SliceSet, ZoneRatios};
use proptest::prelude::*;

use crate::reference;
use crate::strategies::{CASES, any_slices, endpoints, new_slices, ratios, settled, without_hints};

fn add_hints(ratios: &ZoneRatios, slices: &mut SliceSet) -> HintsOutcome {
    kube_topology::add_hints(ratios, false, &AddressType::IPv4, slices)
}

/// Returns the number of zone hints of ready endpoints by zone.
fn hinted(set: &SliceSet) -> BTreeMap<Text, usize> {
    let mut counts = BTreeMap::new();
    for endpoint in set.iter().flat_map(|slice| &slice.endpoints).filter(|it| it.is_ready()) {
        for zone in endpoint.hints.iter().flat_map(|hints| &hints.for_zones) {
            *counts.entry(zone.clone()).or_default() += 1;
        }
    }
    counts
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(CASES))]

    #[test]
    fn equals_the_reference_implementation(ratios in ratios(), given in any_slices()) {
        let mut slices = given.clone();
        let outcome = add_hints(&ratios, &mut slices);
        let Some((create, update, unchanged, counts)) = reference::add_hints(&ratios, &given) else {
            prop_assert_eq!(outcome.allocated, None);
            return Ok(());
        };
        prop_assert_eq!(&slices.create, &create);
        // Slices that upstream writes without a change stay unchanged here.
        let (written, moved) = update.split_at(given.update.len());
        let is_same = |it: &EndpointSlice| given.unchanged.iter().any(|old| **old == *it);
        let (same, moved): (Vec<_>, Vec<_>) = moved.iter().cloned().partition(is_same);
        prop_assert_eq!(&slices.update, &[written, &moved].concat());
        let by_content = |mut list: Vec<EndpointSlice>| {
            list.sort_by_key(|it| format!("{it:?}"));
            list
        };
        let expected = by_content(unchanged.into_iter().chain(same).collect());
        prop_assert_eq!(by_content(slices.unchanged.iter().map(|it| EndpointSlice::clone(it)).collect()), expected);
        let counts: BTreeMap<Text, usize> = counts.into_iter().map(|(zone, it)| (zone, it.try_into().unwrap())).collect();
        prop_assert_eq!(outcome.allocated, Some(counts));
    }

    #[test]
    fn success_hints_every_ready_endpoint_and_failure_none(ratios in ratios(), given in any_slices()) {
        let mut slices = given.clone();
        let outcome = add_hints(&ratios, &mut slices);
        let after = endpoints(&slices);
        match outcome.allocated {
            None => prop_assert!(after.values().all(|it| it.hints.is_none())),
            Some(counts) => {
                prop_assert_eq!(counts, hinted(&slices));
                for endpoint in after.values().filter(|it| it.is_ready()) {
                    prop_assert!(endpoint.hints.as_ref().is_some_and(|it| !it.for_zones.is_empty()));
                }
                let written = slices.create.iter().chain(&slices.update).flat_map(|slice| &slice.endpoints);
                for hints in written.filter(|it| it.is_ready()).filter_map(|it| it.hints.as_ref()) {
                    prop_assert_eq!((hints.for_zones.len(), hints.for_nodes.len()), (1, 0));
                }
                for (name, endpoint) in endpoints(&given).iter().filter(|(_, it)| !it.is_ready()) {
                    prop_assert_eq!(&after[name].hints, &endpoint.hints);
                }
            }
        }
    }

    #[test]
    fn nothing_but_hints_changes(ratios in ratios(), given in any_slices()) {
        let mut slices = given.clone();
        let copies: Vec<EndpointSlice> = given.unchanged.iter().map(|it| EndpointSlice::clone(it)).collect();
        add_hints(&ratios, &mut slices);
        // Shared slices are not modified, and every slice moved to the updates differs from the original.
        prop_assert!(given.unchanged.iter().zip(&copies).all(|(shared, copy)| **shared == *copy));
        prop_assert!(slices.unchanged.iter().all(|it| given.unchanged.iter().any(|old| Arc::ptr_eq(old, it))));
        let moved = &slices.update[given.update.len()..];
        prop_assert!(moved.iter().all(|it| !copies.contains(it)));
        prop_assert_eq!(moved.len() + slices.unchanged.len(), given.unchanged.len());

        let plain = |set: &SliceSet| -> Vec<_> { endpoints(set).values().map(without_hints).collect() };
        prop_assert_eq!(plain(&slices), plain(&given));
    }

    #[test]
    fn hints_stay_near_the_shares((ratios, given) in new_slices()) {
        let mut slices = given.clone();
        let Some(counts) = add_hints(&ratios, &mut slices).allocated else { return Ok(()) };
        let ready = given.ready_endpoints();
        prop_assert_eq!(counts.values().sum::<usize>(), ready);
        for (zone, share) in ratios.shares() {
            let own = endpoints(&given).values().filter(|it| it.is_ready() && it.zone.as_ref() == Some(zone)).count();
            let [count, own, ready] =
                [counts.get(zone).copied().unwrap_or(0), own, ready].map(|it| f64::from(u32::try_from(it).unwrap()));
            let desired = share * ready;
            let desired = desired.max((desired / 1.2).ceil());
            // Rounding moves a zone away from its share by at most half an endpoint.
            prop_assert!(count >= own.min(desired - 0.5) - 1e-9 && count <= own.max(desired + 0.5) + 1e-9);
        }
    }

    #[test]
    fn a_second_run_changes_nothing((ratios, given) in new_slices()) {
        let mut slices = given;
        let first = add_hints(&ratios, &mut slices);
        let before = settled(slices);
        let mut slices = before.clone();
        let second = add_hints(&ratios, &mut slices);
        prop_assert_eq!(&slices, &before);
        prop_assert_eq!(first, second);
    }

    #[test]
    fn without_shares_a_second_run_changes_nothing_either(given in any_slices()) {
        let mut slices = given;
        add_hints(&ZoneRatios::default(), &mut slices);
        let before = settled(slices);
        let mut slices = before.clone();
        add_hints(&ZoneRatios::default(), &mut slices);
        prop_assert_eq!(slices, before);
    }
}
