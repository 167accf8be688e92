//! Plans, with the numbers of upstream's tests as tables.

use std::num::NonZeroUsize;
use std::sync::Arc;

use kube_endpoint_model::well_known::{SERVICE_NAME_LABEL, SLICE_MANAGED_BY_LABEL};
use kube_endpoint_model::{AddressType, Endpoint, EndpointPort, EndpointSlice, Labels, ObjectMeta, Service, TargetRef};
use kube_endpointslice::{
    DesiredGroup, Hints, Input, Options, Owner, Packing, Plan, SliceLabels, TriggerTime, TypePlan, plan,
};
use rstest::rstest;

use crate::world::{IPV4, carry_out, endpoint, group, options, plan_for, ports, service, slices_of};

fn sizes(slices: &[Arc<EndpointSlice>]) -> Vec<usize> {
    let mut sizes: Vec<usize> = slices.iter().map(|slice| slice.endpoints.len()).collect();
    sizes.sort_by_key(|size| std::cmp::Reverse(*size));
    sizes
}

fn writes(plan: &TypePlan) -> (usize, usize, usize) {
    (plan.creates().count(), plan.updates().count(), plan.deletes().count())
}

fn update(plan: &Plan) -> &EndpointSlice {
    plan.types[0].updates().next().expect("an update")
}

// RC-23. upstream: TestReconcileManyPods, TestReconcileEndpointSlicesSomePreexisting,
// TestReconcileEndpointSlicesSomePreexistingWorseAllocation, TestReconcileEndpointSlicesUpdating,
// TestReconcileEndpointSlicesUpdatePacking, TestReconcileMaxEndpointsPerSlice
#[rstest]
#[case::many(&[], 250, true, 100, &[100, 100, 50], (3, 0, 0))]
#[case::some_existing(&[62, 61], 250, true, 100, &[100, 89, 61], (1, 1, 0))]
#[case::worse_allocation(&[74, 74], 300, true, 100, &[100, 74, 74, 52], (2, 0, 0))]
#[case::all_updated(&[100, 100, 50], 250, false, 100, &[100, 100, 50], (0, 3, 0))]
#[case::dirty_ones_are_filled_fuller_first(&[80, 20], 115, false, 100, &[95, 20], (0, 2, 0))]
#[case::max_50(&[], 250, true, 50, &[50, 50, 50, 50, 50], (5, 0, 0))]
#[case::max_80(&[], 250, true, 80, &[80, 80, 80, 10], (4, 0, 0))]
#[case::max_150(&[], 250, true, 150, &[150, 100], (2, 0, 0))]
#[case::max_250(&[], 250, true, 250, &[250], (1, 0, 0))]
#[case::max_500(&[], 250, true, 500, &[250], (1, 0, 0))]
#[case::steady(&[100, 50], 150, true, 100, &[100, 50], (0, 0, 0))]
fn packing(
    #[case] existing: &[usize],
    #[case] desired: usize,
    #[case] ready: bool,
    #[case] max: usize,
    #[case] expected: &[usize],
    #[case] expected_writes: (usize, usize, usize),
) {
    let existing = slices_of(existing, true);
    let plan = plan_for(&service(), IPV4, vec![group(0..desired, 80, ready)], &existing, &options(max));
    assert_eq!(writes(&plan.types[0]), expected_writes);
    assert_eq!(sizes(&carry_out(&existing, &plan, &mut 1_000)), expected);
}

// upstream: TestReconcileEndpointSlicesRecycling: other ports, same slices. Unlike upstream's, the updates carry a
// resource version: the simulation found that a slice which another manager had taken over was overwritten (seed 550).
#[test]
fn slices_of_other_ports_are_recycled() {
    let existing = slices_of(&[100, 100, 50], true);
    let plan = plan_for(&service(), IPV4, vec![group(0..250, 8080, true)], &existing, &options(100));
    assert_eq!(writes(&plan.types[0]), (0, 3, 0));
    for new in plan.types[0].updates() {
        let old = existing.iter().find(|old| old.metadata.name == new.metadata.name).unwrap();
        assert_eq!(new.metadata.resource_version, old.metadata.resource_version);
        assert!(new.metadata.uid.is_empty());
    }
}

// Another client or release may have stored the ports in another order. Upstream sorts them before it copies the slice.
#[test]
fn the_ports_of_an_updated_slice_are_in_upstreams_order() {
    let ports: Vec<EndpointPort> =
        ["a", "b", "c"].map(|name| EndpointPort { name: Some(name.into()), ..ports(80).remove(0) }).into();
    let desired = |size| vec![DesiredGroup { ports: ports.clone(), ..group(0..size, 80, true) }];
    let created = carry_out(&[], &plan_for(&service(), IPV4, desired(1), &[], &options(100)), &mut 0);
    let sorted = created[0].ports.clone();
    let mut stored = EndpointSlice::clone(&created[0]);
    stored.ports.reverse();
    let stored = [Arc::new(stored)];
    assert!(plan_for(&service(), IPV4, desired(1), &stored, &options(100)).is_empty(), "the order alone is no reason");
    let plan = plan_for(&service(), IPV4, desired(2), &stored, &options(100));
    assert_eq!(update(&plan).ports, sorted);
}

// upstream: TestReconcileEmpty, TestReconcile1EndpointSlice
#[test]
fn a_service_without_endpoints_keeps_one_empty_slice() {
    let first = plan_for(&service(), IPV4, vec![], &[], &options(100));
    assert_eq!(writes(&first.types[0]), (1, 0, 0));
    let placeholder = carry_out(&[], &first, &mut 0);
    assert!(plan_for(&service(), IPV4, vec![], &placeholder, &options(100)).is_empty());

    let gone = plan_for(&service(), IPV4, vec![], &slices_of(&[3, 2], true), &options(100));
    assert_eq!(writes(&gone.types[0]), (0, 1, 1), "one becomes the placeholder");
    assert!(update(&gone).ports.is_empty());
}

// upstream: TestReconcile1EndpointSlice, TestPlaceHolderSliceCompare (without its nil cases); RC-26
#[rstest]
#[case::same(|_: &mut EndpointSlice| {}, (0, 0, 0))]
#[case::other_name(|it: &mut EndpointSlice| it.metadata.name = "other".into(), (0, 0, 0))]
#[case::other_annotations(
    |it: &mut EndpointSlice| it.metadata.annotations = [("a", "b")].into_iter().collect(), (0, 0, 0))]
#[case::created_at_another_time(
    |it: &mut EndpointSlice| it.metadata.creation_timestamp = Some(jiff::Timestamp::UNIX_EPOCH), (0, 0, 0))]
#[case::empty_label(|it: &mut EndpointSlice| it.metadata.labels = it.metadata.labels.with([("x", "")]), (0, 0, 0))]
#[case::other_labels(|it: &mut EndpointSlice| it.metadata.labels = it.metadata.labels.with([("x", "y")]), (0, 1, 0))]
#[case::other_ports(|it: &mut EndpointSlice| it.ports = ports(80), (0, 1, 0))]
#[case::with_endpoints(|it: &mut EndpointSlice| it.endpoints = vec![endpoint(1, true)], (0, 1, 0))]
#[case::of_an_earlier_service(
    |it: &mut EndpointSlice| it.metadata.owner_references[0].uid = "earlier".into(), (0, 0, 0))] // EC-47
fn placeholders(#[case] edit: fn(&mut EndpointSlice), #[case] expected: (usize, usize, usize)) {
    let first = plan_for(&service(), IPV4, vec![], &[], &options(100));
    let mut placeholder = EndpointSlice::clone(&carry_out(&[], &first, &mut 0)[0]);
    edit(&mut placeholder);
    let plan = plan_for(&service(), IPV4, vec![], &[Arc::new(placeholder)], &options(100));
    assert_eq!(writes(&plan.types[0]), expected);
}

// upstream: TestEndpointsEqualBeyondHash; RC-15
#[rstest]
#[case::nothing(|_: &mut Endpoint| {}, 0)]
#[case::node(|it: &mut Endpoint| it.node_name = Some("other".into()), 1)]
#[case::zone(|it: &mut Endpoint| it.zone = Some("other".into()), 1)]
#[case::ready(|it: &mut Endpoint| it.conditions.ready = Some(false), 1)]
#[case::serving_from_nothing(|it: &mut Endpoint| it.conditions.serving = Some(true), 1)]
#[case::terminating_from_nothing(|it: &mut Endpoint| it.conditions.terminating = Some(false), 1)]
#[case::pod(|it: &mut Endpoint| it.target_ref = Some(TargetRef::pod("ns".into(), "other".into(), "u".into())), 1)]
#[case::pod_uid(|it: &mut Endpoint| it.target_ref = Some(TargetRef::pod("ns".into(), "p00000".into(), "v".into())), 1)]
#[case::hints_are_decided_apart(|it: &mut Endpoint| it.hints = Some(Arc::default()), 0)]
fn what_counts_as_a_change(#[case] edit: fn(&mut Endpoint), #[case] updates: usize) {
    let existing = slices_of(&[1], true);
    let mut desired = group(0..1, 80, true);
    edit(&mut desired.endpoints[0]);
    let plan = plan_for(&service(), IPV4, vec![desired], &existing, &options(100));
    // An endpoint of another Pod is in a new slice, which takes over the name of the deleted one.
    assert_eq!(writes(&plan.types[0]), (0, updates, 0));
}

// upstream: TestDeepHashObject, TestDeepObjectPointer: identity is by value, and addresses have no order.
#[test]
fn addresses_in_another_order_are_the_same() {
    let two = |addresses: [&str; 2]| {
        let mut desired = group(0..1, 80, true);
        desired.endpoints[0].addresses = addresses.into();
        vec![desired]
    };
    let first = plan_for(&service(), IPV4, two(["10.0.0.1", "10.0.0.2"]), &[], &options(100));
    let existing = carry_out(&[], &first, &mut 0);
    assert!(plan_for(&service(), IPV4, two(["10.0.0.2", "10.0.0.1"]), &existing, &options(100)).is_empty());
    let other = plan_for(&service(), IPV4, two(["10.0.0.2", "10.0.0.3"]), &existing, &options(100));
    assert_eq!((other.types[0].added, other.types[0].removed), (1, 1));
}

// upstream: TestNewPortMapKey_NilVsEmptySlice; RC-7
#[test]
fn no_ports_are_one_group_however_they_are_written() {
    let without = |json: &str| -> Arc<EndpointSlice> {
        let mut slice = EndpointSlice::clone(&slices_of(&[1], true)[0]);
        slice.ports = serde_json::from_str::<EndpointSlice>(json).expect("a slice").ports;
        Arc::new(slice)
    };
    let desired = || vec![DesiredGroup { ports: vec![], ..group(0..1, 80, true) }];
    for json in [r#"{"ports": null}"#, r#"{"ports": []}"#, "{}"] {
        assert!(plan_for(&service(), IPV4, desired(), &[without(json)], &options(100)).is_empty(), "{json}");
    }
}

// upstream: TestReconcileEndpointSlicesReplaceDeprecated
#[test]
fn slices_of_address_types_the_service_lacks_are_deleted() {
    let mut legacy = EndpointSlice::clone(&slices_of(&[2], true)[0]);
    legacy.address_type = AddressType::from("IP");
    let plan = plan_for(&service(), IPV4, vec![group(0..2, 80, true)], &[Arc::new(legacy)], &options(100));
    assert_eq!((writes(&plan.types[0]), plan.unsupported.len()), ((1, 0, 0), 1));
}

// A create that succeeded without a response and was repeated under another name leaves two equal slices.
#[test]
fn of_twins_one_is_deleted_and_nothing_else_is_written() {
    let one = slices_of(&[3], true);
    let mut twin = EndpointSlice::clone(&one[0]);
    twin.metadata.name = "web-twin".into();
    let both = [Arc::clone(&one[0]), Arc::new(twin)];
    let plan = plan_for(&service(), IPV4, vec![group(0..3, 80, true)], &both, &options(100));
    assert_eq!(writes(&plan.types[0]), (0, 0, 1));
}

// The API server defaults these fields, so slices that it returns must match ports without them.
#[test]
fn ports_without_protocol_and_name_are_those_the_server_makes_of_them() {
    let mut desired = group(0..3, 80, true);
    let bare = || EndpointPort { port: Some(80), ..EndpointPort::default() };
    desired.ports = vec![bare()];
    let first = plan_for(&service(), IPV4, vec![desired.clone()], &[], &options(100));
    let full = EndpointPort { name: Some("".into()), protocol: Some("TCP".into()), ..bare() };
    assert_eq!(first.types[0].creates().next().expect("a create").ports, [full]);
    let existing = carry_out(&[], &first, &mut 0);
    assert!(plan_for(&service(), IPV4, vec![desired], &existing, &options(100)).is_empty());
}

// upstream: TestReconcileEndpointSlicesRecreation
#[test]
fn slices_of_an_earlier_service_are_replaced_and_not_recycled() {
    let mut old = EndpointSlice::clone(&slices_of(&[2], true)[0]);
    old.metadata.owner_references[0].uid = "earlier".into();
    let plan = plan_for(&service(), IPV4, vec![group(0..2, 80, true)], &[Arc::new(old)], &options(100));
    assert_eq!(writes(&plan.types[0]), (1, 0, 1));
}

// RC-20, RC-40: the slice is not filled again. A new slice replaces it under its name, without its annotations.
#[test]
fn a_slice_that_loses_all_endpoints_is_replaced_under_its_name() {
    let mut old = EndpointSlice::clone(&slices_of(&[2], true)[0]);
    old.metadata.annotations = [("note", "mine")].into_iter().collect();
    let name = old.metadata.name.clone();
    let plan = plan_for(&service(), IPV4, vec![group(10..12, 80, true)], &[Arc::new(old)], &options(100));
    assert_eq!(writes(&plan.types[0]), (0, 1, 0));
    let new = update(&plan);
    assert_eq!((&new.metadata.name, new.endpoints.len()), (&name, 2));
    assert!(new.metadata.annotations.is_empty() && new.metadata.uid.is_empty());
}

// upstream: TestReconcilerFinalizeSvcDeletionTimestamp
#[test]
fn nothing_is_created_for_a_terminating_owner() {
    let service = Service { terminating: true, ..service() };
    let plan = plan_for(&service, IPV4, vec![group(0..2, 80, true)], &[], &options(100));
    assert!(plan.is_empty());
    let existing = slices_of(&[2], true);
    let plan = plan_for(&service, IPV4, vec![group(0..2, 80, false)], &existing, &options(100));
    assert_eq!(writes(&plan.types[0]), (0, 1, 0), "updates go on");
    // Recycled slices are updates, surplus slices are deleted, and creates are counted as withheld.
    let existing = slices_of(&[2, 2], true);
    let plan = plan_for(&service, IPV4, vec![group(10..12, 81, true)], &existing, &options(100));
    assert_eq!((writes(&plan.types[0]), plan.types[0].withheld), ((0, 1, 1), 0));
    let plan = plan_for(&service, IPV4, vec![group(0..12, 80, false)], &existing, &options(3));
    assert_eq!((writes(&plan.types[0]), plan.types[0].withheld), ((0, 2, 0), 2));
}

// upstream: TestReconcileEndpointSlicesServicesLabelsUpdating, TestReconcileEndpointSlicesServicesReservedLabels
#[test]
fn labels_of_the_service_are_carried() {
    let existing = slices_of(&[2], true);
    let labelled = Service { labels: [("team", "a")].into_iter().collect(), ..service() };
    let plan = plan_for(&labelled, IPV4, vec![group(0..2, 80, true)], &existing, &options(100));
    assert_eq!(writes(&plan.types[0]), (0, 1, 0));
    assert_eq!(update(&plan).metadata.labels.get("team"), Some("a"));

    let reserved = Service {
        labels: [(SLICE_MANAGED_BY_LABEL, "evil"), (SERVICE_NAME_LABEL, "x")].into_iter().collect(),
        ..service()
    };
    assert!(plan_for(&reserved, IPV4, vec![group(0..2, 80, true)], &existing, &options(100)).is_empty());
}

// RC-10: the ports of a Pod that adds no endpoint keep their empty slice.
#[test]
fn an_empty_group_keeps_its_empty_slice() {
    let mut empty = EndpointSlice::clone(&slices_of(&[1], true)[0]);
    empty.endpoints.clear();
    let existing = [Arc::new(empty)];
    assert!(plan_for(&service(), IPV4, vec![group([], 80, true)], &existing, &options(100)).is_empty());
    assert!(!plan_for(&service(), IPV4, vec![], &existing, &options(100)).is_empty(), "without it, a placeholder");
}

#[test]
fn the_trigger_time_is_written_on_what_is_written_anyway() {
    let existing = slices_of(&[2], true);
    let time: jiff::Timestamp = "2026-02-03T04:00:01.5Z".parse().expect("a time");
    let desired = || vec![group(0..2, 80, false)];
    let write = |desired, trigger_time| {
        let (owner, labels) = (Owner::service(&service()), SliceLabels::for_service(&service()));
        let input = Input::new(&owner, IPV4, desired, &existing).labels(&labels).trigger_time(trigger_time);
        plan(input, Hints::Leave, &options(100)).types[0].updates().cloned().collect::<Vec<_>>()
    };
    let stamped = write(desired(), TriggerTime::Write(Some(time)));
    let annotation = "endpoints.kubernetes.io/last-change-trigger-time";
    assert_eq!(stamped[0].metadata.annotations.get(annotation), Some("2026-02-03T04:00:01.5Z"));
    assert!(write(vec![group(0..2, 80, true)], TriggerTime::Write(Some(time))).is_empty());
}

mod single {
    use super::*;

    fn plan_single(desired: Vec<DesiredGroup>, existing: &[Arc<EndpointSlice>], annotations: &Labels) -> Plan {
        let metadata =
            ObjectMeta { namespace: "ns".into(), name: "web".into(), uid: "u-web".into(), ..ObjectMeta::default() };
        let owner = Owner::new("v1", "Endpoints", &metadata);
        let input = Input::new(&owner, IPV4, desired, existing).annotations(annotations);
        let options =
            Options::for_services("mirror").placeholder(false).enforce_ownership(false).packing(Packing::Single);
        plan(input, Hints::Leave, &options.max_endpoints_per_slice(NonZeroUsize::new(1_000).expect("not zero")))
    }

    // upstream: TestReconcile (mirroring), the cases about existing slices
    #[test]
    fn one_slice_a_group_written_anew_when_anything_differs() {
        let none = Labels::default();
        assert!(plan_single(vec![], &[], &none).is_empty(), "no placeholder");
        let first = plan_single(vec![group(0..3, 80, true)], &[], &none);
        let existing = carry_out(&[], &first, &mut 0);
        assert_eq!(sizes(&existing), [3]);
        assert!(plan_single(vec![group(0..3, 80, true)], &existing, &none).is_empty());

        let annotated: Labels = [("note", "x")].into_iter().collect();
        let plan = plan_single(vec![group(0..3, 80, true)], &existing, &annotated);
        assert_eq!(writes(&plan.types[0]), (0, 1, 0));
        assert_eq!(update(&plan).metadata.annotations, annotated);

        let changed = plan_single(vec![group(0..4, 80, false)], &existing, &none);
        assert_eq!((writes(&changed.types[0]), changed.types[0].added, changed.types[0].removed), ((0, 1, 0), 1, 0));
        assert_eq!(writes(&plan_single(vec![], &existing, &none).types[0]), (0, 0, 1));
    }

    // MI-14
    #[test]
    fn surplus_slices_of_a_group_are_deleted() {
        let existing = carry_out(&[], &plan_single(vec![group(0..3, 80, true)], &[], &Labels::default()), &mut 0);
        let mut twin = EndpointSlice::clone(&existing[0]);
        twin.metadata.name = "web-twin".into();
        twin.endpoints.truncate(1);
        let both = [Arc::clone(&existing[0]), Arc::new(twin)];
        let plan = plan_single(vec![group(0..3, 80, true)], &both, &Labels::default());
        assert_eq!(writes(&plan.types[0]), (0, 0, 1));
        assert_eq!(&*plan.types[0].deletes().next().expect("a delete").metadata.name, "web-twin");
    }

    // MI-15
    #[test]
    fn a_slice_of_an_earlier_owner_is_taken_over() {
        let existing = carry_out(&[], &plan_single(vec![group(0..3, 80, true)], &[], &Labels::default()), &mut 0);
        let mut old = EndpointSlice::clone(&existing[0]);
        old.metadata.owner_references[0].uid = "earlier".into();
        let plan = plan_single(vec![group(0..3, 80, true)], &[Arc::new(old)], &Labels::default());
        assert_eq!(writes(&plan.types[0]), (0, 1, 0));
    }
}

/// Of the endpoints 0 to 4, which are not desired any more, 1 and 3 stay; 7 is added.
#[rstest]
#[case::same_ports(80, &[(80, "1,3,7")])]
#[case::other_ports(81, &[(80, "1,3"), (81, "7")])]
fn kept_endpoints_stay_in_their_slices(#[case] port: i32, #[case] expected: &[(i32, &str)]) {
    let (service, options) = (service(), options(100));
    let existing = slices_of(&[5], true);
    let (owner, labels) = (Owner::service(&service), SliceLabels::for_service(&service));
    let is_kept = |it: &Endpoint| [1, 3].iter().any(|number| it.target_ref == endpoint(*number, true).target_ref);
    let input =
        |existing| Input::new(&owner, IPV4, vec![group(7..8, port, true)], existing).labels(&labels).keep(is_kept);
    let planned = plan(input(&existing), Hints::Leave, &options);
    let after = carry_out(&existing, &planned, &mut 1_000);
    let mut shown: Vec<(i32, String)> = Vec::new();
    for slice in &after {
        let name =
            |it: &Endpoint| it.target_ref.as_ref().expect("a Pod").name().trim_start_matches(['p', '0']).to_owned();
        let mut names: Vec<String> = slice.endpoints.iter().map(name).collect();
        names.sort();
        shown.push((slice.ports[0].port.expect("a port"), names.join(",")));
    }
    shown.sort();
    let shown: Vec<(i32, &str)> = shown.iter().map(|(port, names)| (*port, names.as_str())).collect();
    assert_eq!(shown, expected);
    assert!(plan(input(&after), Hints::Leave, &options).is_empty(), "nothing is written again");
}
