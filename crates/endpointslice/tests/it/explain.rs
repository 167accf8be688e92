//! Explanations of plans, as they are displayed.

use std::sync::Arc;

use kube_endpoint_model::{EndpointSlice, Service};
use kube_endpointslice::{DesiredGroup, Hints, Input, Owner, SliceLabels, plan_explained};
use rstest::rstest;

use crate::world::{IPV4, carry_out, group, options, plan_for, service, slices_of};

/// Returns the explanation as one line and as one line per endpoint, after checking it against the plan.
fn explained(existing: &[Arc<EndpointSlice>], desired: Vec<DesiredGroup>, max: usize) -> (String, Vec<String>) {
    let service: Service = service();
    let (owner, labels) = (Owner::service(&service), SliceLabels::for_service(&service));
    let input = Input::new(&owner, IPV4, desired.clone(), existing).labels(&labels);
    let (plan, explanation) = plan_explained(input, Hints::Leave, &options(max));
    let plain = plan_for(&service, IPV4, desired, existing, &options(max));
    assert_eq!(plan, plain, "the same plan");
    let written: usize = carry_out(existing, &plan, &mut 100).iter().map(|slice| slice.endpoints.len()).sum();
    let placed =
        explanation.placements.iter().filter(|it| it.reason != kube_endpointslice::PlacementReason::Removed).count();
    assert_eq!(placed, written, "each written endpoint has one placement");
    (explanation.to_string(), explanation.placements.iter().map(ToString::to_string).collect())
}

#[rstest]
#[case::new(&[], 0..3, true, 2, "IPv4 new slice 1: 2 in a new slice; IPv4 new slice 2: 1 in a new slice")]
#[case::steady(&[2], 0..2, true, 2, "IPv4 web-00001: 2 kept")]
#[case::changed(&[2], 0..2, false, 2, "IPv4 web-00001: 2 updated in place")]
#[case::filled_fullest(&[2], 0..3, true, 4, "IPv4 web-00001: 2 kept, 1 added to the fullest slice with enough space")]
#[case::filled_in(
    &[3], 1..4, true, 4, "IPv4 web-00001: 2 kept, 1 added to a slice that is updated anyway, 1 removed")]
#[case::removed(&[3], 0..2, true, 4, "IPv4 web-00001: 2 kept, 1 removed")]
fn one_line(
    #[case] existing: &[usize],
    #[case] desired: std::ops::Range<usize>,
    #[case] ready: bool,
    #[case] max: usize,
    #[case] expected: &str,
) {
    let (line, _) = explained(&slices_of(existing, true), vec![group(desired, 80, ready)], max);
    assert_eq!(line, expected);
}

#[test]
fn recycled_names_and_single_endpoints() {
    let (line, placements) = explained(&slices_of(&[1], true), vec![group(0..1, 81, true)], 4);
    // The same address with another port: the old slice is deleted, and the new one takes over its name.
    assert_eq!(line, "IPv4 web-00001: 1 in a new slice under a recycled name, 1 removed");
    assert_eq!(placements[0], "10.0.0.0 (Pod ns/p00000), web-00001: in a new slice under a recycled name");
    assert_eq!(placements[1], "10.0.0.0 (Pod ns/p00000), web-00001: removed");
}
