//! Explanations of plans.

use std::collections::BTreeMap;
use std::sync::Arc;

use kube_endpoint_model::Code::{
    self, PlacementFilledFullest, PlacementFilledIn, PlacementKept, PlacementNewSlice, PlacementRecycledName,
    PlacementRemoved, PlacementUpdated,
};
use kube_endpoint_model::{EndpointSlice, Service};
use kube_endpointslice::{DesiredGroup, Explanation, SliceName};
use rstest::rstest;

use crate::world::{IPV4, carry_out, group, options, plan_for, service, slices_of};

/// Returns the number of endpoints by slice and reason, after checking the explanation against the plan.
fn explained(existing: &[Arc<EndpointSlice>], desired: Vec<DesiredGroup>, max: usize) -> Vec<(String, Code, usize)> {
    let (service, options): (Service, _) = (service(), options(max));
    let plan = plan_for(&service, IPV4, desired, existing, &options);
    let explanation = Explanation::of(existing, &options.controller, &plan);
    let written: usize = carry_out(existing, &plan, &mut 100).iter().map(|slice| slice.endpoints.len()).sum();
    let placed = explanation.placements.iter().filter(|it| it.reason != PlacementRemoved).count();
    assert_eq!(placed, written, "each written endpoint has one placement");
    let mut counts: BTreeMap<(String, Code), usize> = BTreeMap::new();
    for placement in explanation.placements {
        let slice = match placement.slice {
            SliceName::Known(name) => name.to_string(),
            SliceName::New(number) => format!("new {number}"),
        };
        *counts.entry((slice, placement.reason)).or_default() += 1;
    }
    counts.into_iter().map(|((slice, reason), count)| (slice, reason, count)).collect()
}

#[rstest]
#[case::new(&[], 0..3, true, 2, &[("new 1", PlacementNewSlice, 2), ("new 2", PlacementNewSlice, 1)])]
#[case::steady(&[2], 0..2, true, 2, &[("web-00001", PlacementKept, 2)])]
#[case::changed(&[2], 0..2, false, 2, &[("web-00001", PlacementUpdated, 2)])]
#[case::filled_fullest(
    &[2], 0..3, true, 4, &[("web-00001", PlacementKept, 2), ("web-00001", PlacementFilledFullest, 1)])]
#[case::filled_in(&[3], 1..4, true, 4,
    &[("web-00001", PlacementKept, 2), ("web-00001", PlacementFilledIn, 1), ("web-00001", PlacementRemoved, 1)])]
#[case::removed(&[3], 0..2, true, 4, &[("web-00001", PlacementKept, 2), ("web-00001", PlacementRemoved, 1)])]
fn each_endpoint_has_a_reason(
    #[case] existing: &[usize],
    #[case] desired: std::ops::Range<usize>,
    #[case] ready: bool,
    #[case] max: usize,
    #[case] expected: &[(&str, Code, usize)],
) {
    let found = explained(&slices_of(existing, true), vec![group(desired, 80, ready)], max);
    let found: Vec<_> = found.iter().map(|(slice, reason, count)| (&**slice, *reason, *count)).collect();
    assert_eq!(found, expected);
}

/// The same address with another port: the old slice is deleted, and the new one takes over its name.
#[test]
fn recycled_name() {
    let found = explained(&slices_of(&[1], true), vec![group(0..1, 81, true)], 4);
    let name = || "web-00001".to_owned();
    assert_eq!(found, [(name(), PlacementRecycledName, 1), (name(), PlacementRemoved, 1)]);
}
