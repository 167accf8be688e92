//! Plans: upstream's figures as tables, and the laws as properties.

use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroUsize;
use std::sync::Arc;

use kube_endpoint_model::well_known::{SERVICE_NAME_LABEL, SLICE_CONTROLLER, SLICE_MANAGED_BY_LABEL};
use kube_endpoint_model::{
    Address, AddressType, Endpoint, EndpointConditions, EndpointPort, EndpointSlice, Labels, ObjectMeta, Service,
    TargetRef, Text, Uid,
};
use kube_endpointslice::{
    DesiredGroup, Input, Options, Owner, Packing, Plan, SliceLabels, TriggerTime, TypePlan, plan,
};
use proptest::prelude::*;
use rstest::rstest;

const IPV4: &[AddressType] = &[AddressType::IPv4];

fn service() -> Service {
    Service {
        namespace: "ns".into(),
        name: "web".into(),
        uid: "u-web".into(),
        cluster_ip: "10.96.0.1".into(),
        ..Service::default()
    }
}

fn endpoint(number: usize, ready: bool) -> Endpoint {
    let address = format!("10.{}.{}.{}", number >> 16, (number >> 8) & 255, number & 255);
    Endpoint {
        addresses: Address::new(&address).into(),
        conditions: EndpointConditions { ready: Some(ready), ..EndpointConditions::default() },
        target_ref: Some(TargetRef::pod("ns".into(), format!("p{number:05}").into(), Uid::default())),
        ..Endpoint::default()
    }
}

fn ports(number: i32) -> Vec<EndpointPort> {
    vec![EndpointPort { name: Some("http".into()), port: Some(number), ..EndpointPort::default() }]
}

fn group(numbers: impl IntoIterator<Item = usize>, port: i32, ready: bool) -> DesiredGroup {
    DesiredGroup {
        address_type: AddressType::IPv4,
        ports: ports(port),
        endpoints: numbers.into_iter().map(|number| endpoint(number, ready)).collect(),
    }
}

fn options(max: usize) -> Options {
    Options::new(SLICE_CONTROLLER).max_endpoints_per_slice(NonZeroUsize::new(max).expect("not zero"))
}

fn plan_for(
    service: &Service,
    types: &[AddressType],
    desired: Vec<DesiredGroup>,
    existing: &[Arc<EndpointSlice>],
    options: &Options,
) -> Plan {
    let (owner, labels) = (Owner::service(service), SliceLabels::for_service(service));
    let input = Input::new(&owner, types, desired, existing).labels(&labels).trigger_time(TriggerTime::Write(None));
    plan(input, options)
}

/// What an API server would hold after the plan was carried out. `next` numbers the names it makes.
fn carry_out(existing: &[Arc<EndpointSlice>], plan: &Plan, next: &mut usize) -> Vec<Arc<EndpointSlice>> {
    let mut slices: BTreeMap<Text, Arc<EndpointSlice>> =
        existing.iter().map(|slice| (slice.metadata.name.clone(), Arc::clone(slice))).collect();
    for plan in &plan.types {
        for slice in &plan.create {
            let mut slice = slice.clone();
            *next += 1;
            let prefix = slice.metadata.generate_name.clone().expect("new slices have a prefix");
            slice.metadata.name = format!("{prefix}{next:05}").into();
            slice.metadata.uid = format!("u{next}").into();
            assert!(slices.insert(slice.metadata.name.clone(), Arc::new(slice)).is_none());
        }
        for slice in &plan.update {
            let before = slices.insert(slice.metadata.name.clone(), Arc::new(slice.clone()));
            assert!(before.is_some_and(|before| before.address_type == slice.address_type), "updates what is there");
        }
        for slice in &plan.delete {
            assert!(slices.remove(&slice.metadata.name).is_some(), "deletes what is there");
        }
    }
    for slice in &plan.unsupported {
        slices.remove(&slice.metadata.name);
    }
    slices.into_values().collect()
}

/// Slices of the given sizes with consecutive endpoints, as an earlier plan would have left them.
fn slices_of(sizes: &[usize], ready: bool) -> Vec<Arc<EndpointSlice>> {
    let mut first = 0;
    let mut slices = Vec::new();
    for (at, size) in sizes.iter().enumerate() {
        let desired = vec![group(first..first + size, 80, ready)];
        slices.extend(carry_out(&[], &plan_for(&service(), IPV4, desired, &[], &options(1_000)), &mut (at * 10)));
        first += size;
    }
    slices
}

fn sizes(slices: &[Arc<EndpointSlice>]) -> Vec<usize> {
    let mut sizes: Vec<usize> = slices.iter().map(|slice| slice.endpoints.len()).collect();
    sizes.sort_by_key(|size| std::cmp::Reverse(*size));
    sizes
}

fn writes(plan: &TypePlan) -> (usize, usize, usize) {
    (plan.create.len(), plan.update.len(), plan.delete.len())
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

// upstream: TestReconcileEndpointSlicesRecycling: other ports, same slices.
#[test]
fn slices_of_other_ports_are_recycled() {
    let existing = slices_of(&[100, 100, 50], true);
    let plan = plan_for(&service(), IPV4, vec![group(0..250, 8080, true)], &existing, &options(100));
    assert_eq!(writes(&plan.types[0]), (0, 3, 0));
    assert!(plan.types[0].update.iter().all(|slice| slice.metadata.resource_version.is_empty()));
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
    assert!(gone.types[0].update[0].ports.is_empty());
}

// upstream: TestReconcileEndpointSlicesReplaceDeprecated
#[test]
fn slices_of_address_types_the_service_lacks_are_deleted() {
    let mut legacy = EndpointSlice::clone(&slices_of(&[2], true)[0]);
    legacy.address_type = AddressType::from("IP");
    let plan = plan_for(&service(), IPV4, vec![group(0..2, 80, true)], &[Arc::new(legacy)], &options(100));
    assert_eq!((writes(&plan.types[0]), plan.unsupported.len()), ((1, 0, 0), 1));
}

// upstream: TestReconcileEndpointSlicesRecreation
#[test]
fn slices_of_an_earlier_service_are_replaced_and_not_recycled() {
    let mut old = EndpointSlice::clone(&slices_of(&[2], true)[0]);
    old.metadata.owner_references[0].uid = "earlier".into();
    let plan = plan_for(&service(), IPV4, vec![group(0..2, 80, true)], &[Arc::new(old)], &options(100));
    assert_eq!(writes(&plan.types[0]), (1, 0, 1));
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
}

// upstream: TestReconcileEndpointSlicesServicesLabelsUpdating, TestReconcileEndpointSlicesServicesReservedLabels
#[test]
fn labels_of_the_service_are_carried() {
    let existing = slices_of(&[2], true);
    let labelled = Service { labels: [("team", "a")].into_iter().collect(), ..service() };
    let plan = plan_for(&labelled, IPV4, vec![group(0..2, 80, true)], &existing, &options(100));
    assert_eq!(writes(&plan.types[0]), (0, 1, 0));
    assert_eq!(plan.types[0].update[0].metadata.labels.get("team"), Some("a"));

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
        plan(input, &options(100)).types.remove(0).update
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
        let options = Options::new("mirror").placeholder(false).enforce_ownership(false).packing(Packing::Single);
        plan(input, &options.max_endpoints_per_slice(NonZeroUsize::new(1_000).expect("not zero")))
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
        assert_eq!(plan.types[0].update[0].metadata.annotations, annotated);

        let changed = plan_single(vec![group(0..4, 80, false)], &existing, &none);
        assert_eq!((writes(&changed.types[0]), changed.types[0].added, changed.types[0].removed), ((0, 1, 0), 1, 0));
        assert_eq!(writes(&plan_single(vec![], &existing, &none).types[0]), (0, 0, 1));
    }

    // EC-39, MI-14
    #[test]
    fn surplus_slices_of_a_group_are_deleted() {
        let existing = carry_out(&[], &plan_single(vec![group(0..3, 80, true)], &[], &Labels::default()), &mut 0);
        let mut twin = EndpointSlice::clone(&existing[0]);
        twin.metadata.name = "web-twin".into();
        twin.endpoints.truncate(1);
        let both = [Arc::clone(&existing[0]), Arc::new(twin)];
        let plan = plan_single(vec![group(0..3, 80, true)], &both, &Labels::default());
        assert_eq!(writes(&plan.types[0]), (0, 0, 1));
        assert_eq!(&*plan.types[0].delete[0].metadata.name, "web-twin");
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

/// What is desired: endpoint numbers with their readiness, for each of two ports.
fn desired() -> impl Strategy<Value = Vec<(i32, BTreeMap<usize, bool>)>> {
    let endpoints = || prop::collection::btree_map(0usize..60, any::<bool>(), 0..40);
    (endpoints(), endpoints()).prop_map(|(a, b)| vec![(80, a), (81, b)])
}

fn groups(desired: &[(i32, BTreeMap<usize, bool>)]) -> Vec<DesiredGroup> {
    desired
        .iter()
        .filter(|(_, endpoints)| !endpoints.is_empty())
        .map(|(port, endpoints)| DesiredGroup {
            address_type: AddressType::IPv4,
            ports: ports(*port),
            endpoints: endpoints.iter().map(|(number, ready)| endpoint(*number, *ready)).collect(),
        })
        .collect()
}

/// Every endpoint in the slices, as (port, address, ready); panics on one that is there twice.
fn shown(slices: &[Arc<EndpointSlice>]) -> BTreeSet<(i32, String, bool)> {
    let mut all = BTreeSet::new();
    for slice in slices {
        for endpoint in &slice.endpoints {
            let port = slice.ports[0].port.expect("a port");
            let it = (port, endpoint.addresses[0].to_string(), endpoint.conditions.ready == Some(true));
            assert!(all.insert(it.clone()), "{it:?} is there twice");
        }
    }
    all
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_walk_of_plans(steps in prop::collection::vec(desired(), 1..5), max in 1usize..12) {
        let mut slices: Vec<Arc<EndpointSlice>> = Vec::new();
        let mut next = 0;
        for step in steps {
            let first = plan_for(&service(), IPV4, groups(&step), &slices, &options(max));
            slices.reverse();
            let mut reversed = groups(&step);
            reversed.reverse();
            for group in &mut reversed {
                group.endpoints.reverse();
            }
            prop_assert_eq!(&plan_for(&service(), IPV4, reversed, &slices, &options(max)), &first, "order matters");

            slices = carry_out(&slices, &first, &mut next);
            let expected: BTreeSet<_> = step
                .iter()
                .flat_map(|(port, endpoints)| endpoints.iter().map(move |(number, ready)| (port, number, ready)))
                .map(|(port, number, ready)| (*port, endpoint(*number, true).addresses[0].to_string(), *ready))
                .collect();
            prop_assert_eq!(shown(&slices), expected, "every endpoint is in exactly one slice");
            prop_assert!(slices.iter().all(|slice| slice.endpoints.len() <= max));
            prop_assert!(!slices.is_empty(), "at least a placeholder");
            prop_assert!(plan_for(&service(), IPV4, groups(&step), &slices, &options(max)).is_empty(), "not settled");
        }
    }
}
