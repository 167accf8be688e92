//! Upstream's test cases about the slices of an Endpoints object.

use std::sync::Arc;

use kube_endpoint_model::well_known::{
    LAST_APPLIED_ANNOTATION, MIRRORING_CONTROLLER, SERVICE_NAME_LABEL, SLICE_MANAGED_BY_LABEL, TRIGGER_TIME_ANNOTATION,
};
use kube_endpoint_model::{EndpointSlice, Endpoints, Index as _, Labels, SliceIndex};
use kube_endpointslice::{Plan, TypePlan};
use kube_endpointslice_mirroring::desired;
use rstest::rstest;
use serde_json::{Value, json};

use crate::server::{carry_out, mirror, read, writes};

/// `ready ready|unready|name:port name:port`; subsets are separated by `;`.
fn endpoints(subsets: &str) -> Endpoints {
    let list = |part: &str| part.split_whitespace().map(|ip| json!({"ip": ip})).collect::<Value>();
    let ports = |part: &str| {
        let port = |port: &str| {
            let (name, number) = port.split_once(':').expect("a name");
            json!({"name": name, "port": number.parse::<u16>().expect("a number"), "protocol": "TCP"})
        };
        part.split_whitespace().map(port).collect::<Value>()
    };
    let subset = |subset: &str| {
        let parts: Vec<&str> = subset.split('|').collect();
        json!({"addresses": list(parts[0]), "notReadyAddresses": list(parts[1]), "ports": ports(parts[2])})
    };
    let subsets: Value = subsets.split(';').filter(|it| !it.is_empty()).map(subset).collect();
    read(&json!({
        "metadata": {"namespace": "ns", "name": "db", "uid": "u-db", "labels": {"team": "a"}, "annotations": {"note": "x"}},
        "subsets": subsets
    }))
}

/// Slices as `type name:port...=address[!]...`; `!` marks what is not ready.
fn shown(slices: &[Arc<EndpointSlice>]) -> Vec<String> {
    let mut shown: Vec<String> = slices
        .iter()
        .map(|slice| {
            let mut ports: Vec<String> = slice
                .ports
                .iter()
                .map(|it| format!("{}:{}", it.name.as_deref().unwrap_or_default(), it.port.unwrap_or_default()))
                .collect();
            ports.sort();
            let mut addresses: Vec<String> = slice
                .endpoints
                .iter()
                .map(|it| format!("{}{}", it.addresses[0], if it.is_ready() { "" } else { "!" }))
                .collect();
            addresses.sort();
            format!("{} {}={}", slice.address_type.as_str(), ports.join(" "), addresses.join(" "))
        })
        .collect();
    shown.sort();
    shown
}

fn check_metadata(slices: &[Arc<EndpointSlice>], endpoints: &Endpoints) {
    for slice in slices {
        let ours = [(SERVICE_NAME_LABEL, "db"), (SLICE_MANAGED_BY_LABEL, MIRRORING_CONTROLLER)];
        assert_eq!(slice.metadata.labels, endpoints.metadata.labels.with(ours));
        let theirs = endpoints
            .metadata
            .annotations
            .without(|key| [TRIGGER_TIME_ANNOTATION, LAST_APPLIED_ANNOTATION].contains(&key));
        assert_eq!(slice.metadata.annotations, theirs);
        let [owner] = &slice.metadata.owner_references[..] else { panic!("one owner") };
        assert_eq!(
            (&*owner.kind, &*owner.api_version, &*owner.name, &owner.uid),
            ("Endpoints", "v1", "db", &endpoints.metadata.uid)
        );
        assert_eq!((owner.controller, owner.block_owner_deletion), (Some(true), Some(true)));
    }
}

/// New and recycled slices have `generateName`; slices updated in place lose it, as upstream.
fn check_prefixes(plan: &Plan, existing: &[Arc<EndpointSlice>]) {
    for slice in plan.types.iter().flat_map(|plan| plan.creates().chain(plan.updates())) {
        let in_place = existing.iter().any(|old| old.metadata.name == slice.metadata.name && old.ports == slice.ports);
        assert_eq!(slice.metadata.generate_name.as_deref(), (!in_place).then_some("db-"));
    }
}

// upstream: TestReconcile, the cases without slices before, and those of TestSyncEndpoints about addresses
#[rstest]
#[case::no_subsets("", &[])]
#[case::no_addresses("||http:80", &[])]
#[case::one("10.0.0.1||http:80", &["IPv4 http:80=10.0.0.1"])]
#[case::two_different("10.0.0.1||http:80;10.0.0.2||https:443", &["IPv4 http:80=10.0.0.1", "IPv4 https:443=10.0.0.2"])]
#[case::two_with_the_same_address("10.0.0.1||http:80;10.0.0.1||https:443", &["IPv4 http:80 https:443=10.0.0.1"])]
#[case::two_with_the_same_port("10.0.0.1||http:80;10.0.0.2||http:80", &["IPv4 http:80=10.0.0.1 10.0.0.2"])]
#[case::two_ports_two_addresses("10.0.0.1 10.0.0.2||http:80 https:443", &["IPv4 http:80 https:443=10.0.0.1 10.0.0.2"])]
#[case::not_ready("|10.0.0.1 10.0.0.2|http:80 https:443", &["IPv4 http:80 https:443=10.0.0.1! 10.0.0.2!"])]
#[case::ready_and_not("10.1.1.1 10.1.1.2|10.1.1.3 10.1.1.4|http:80 https:443",
    &["IPv4 http:80 https:443=10.1.1.1 10.1.1.2 10.1.1.3! 10.1.1.4!"])]
#[case::two_subsets("10.0.0.1 10.0.0.2||http:80 https:443;10.0.1.1 10.0.1.2 10.0.1.3||http:3000 https:3001",
    &["IPv4 http:3000 https:3001=10.0.1.1 10.0.1.2 10.0.1.3", "IPv4 http:80 https:443=10.0.0.1 10.0.0.2"])]
#[case::two_families("2001:db8:2222:3333:4444:5555:6666:7777 10.0.0.2||http:80;10.0.1.1 2001:db8:3333:4444:5555:6666:7777:8888||http:3000",
    &["IPv4 http:3000=10.0.1.1", "IPv4 http:80=10.0.0.2",
      "IPv6 http:3000=2001:db8:3333:4444:5555:6666:7777:8888", "IPv6 http:80=2001:db8:2222:3333:4444:5555:6666:7777"])]
#[case::only_ipv6("2001:db8::1||http:80;2001:db8::2 2001:db8::3||http:3000",
    &["IPv6 http:3000=2001:db8::2 2001:db8::3", "IPv6 http:80=2001:db8::1"])]
#[case::some_invalid("2001:db8::1 nonsense||http:80;this-is-not-an-ip 10.0.1.2||http:3000",
    &["IPv4 http:3000=10.0.1.2", "IPv6 http:80=2001:db8::1"])]
#[case::all_invalid("nonsense||http:80;this-is-not-an-ip||http:3000", &[])]
#[case::no_ports("10.0.0.1||", &["IPv4 =10.0.0.1"])]
fn new_slices(#[case] subsets: &str, #[case] expected: &[&str]) {
    let endpoints = endpoints(subsets);
    let mirrored = mirror(&endpoints, &[], 1_000);
    let slices = carry_out(&[], &mirrored.plan, &mut 0);
    assert_eq!(shown(&slices), expected);
    assert_eq!(writes(&mirrored.plan), (expected.len(), 0, 0));
    check_metadata(&slices, &endpoints);
    assert!(mirror(&endpoints, &slices, 1_000).plan.is_empty(), "a second sync writes nothing");
}

/// Mirrors `now` over the edited slices of `before`.
#[rstest]
#[case::same("10.0.0.1||http:80", "10.0.0.1||http:80", |_: &mut EndpointSlice| {}, (0, 0, 0))]
#[case::other_owner("10.0.0.1||http:80", "10.0.0.1||http:80",
    |it: &mut EndpointSlice| it.metadata.owner_references[0].uid = "earlier".into(), (0, 1, 0))]
#[case::more_annotations("10.0.0.1||http:80", "10.0.0.1||http:80",
    |it: &mut EndpointSlice| it.metadata.annotations = it.metadata.annotations.with([("foo", "bar")]), (0, 1, 0))]
#[case::fewer_labels("10.0.0.1||http:80", "10.0.0.1||http:80",
    |it: &mut EndpointSlice| it.metadata.labels = it.metadata.labels.without(|key| key == "team"), (0, 1, 0))]
#[case::last_applied_goes("10.0.0.1||http:80", "10.0.0.1||http:80",
    |it: &mut EndpointSlice| it.metadata.annotations = it.metadata.annotations.with([(LAST_APPLIED_ANNOTATION, "{}")]), (0, 1, 0))]
#[case::empty_before("10.0.0.1||http:80", "10.0.0.1||http:80;10.0.1.1||http:3000", |it: &mut EndpointSlice| it.endpoints.clear(), (1, 1, 0))]
#[case::some_of_the_addresses("10.0.0.1||http:80", "10.0.0.1 10.0.0.2||http:80;10.0.1.1||http:3000", |_: &mut EndpointSlice| {}, (1, 1, 0))]
#[case::identical_to_one_subset("10.0.0.1||http:80", "10.0.0.1||http:80;10.0.1.1||http:3000", |_: &mut EndpointSlice| {}, (1, 0, 0))]
#[case::ports_changed("10.0.0.1||http:80", "10.0.0.1||http:81", |_: &mut EndpointSlice| {}, (0, 1, 0))]
#[case::nothing_left("10.0.0.1||http:80", "||http:80", |_: &mut EndpointSlice| {}, (0, 0, 1))]
#[case::readiness_changed("10.0.0.1||http:80", "|10.0.0.1|http:80", |_: &mut EndpointSlice| {}, (0, 1, 0))]
// upstream: TestReconcile, the cases with slices before; TestSyncEndpoints, "Existing EndpointSlices that need to be cleaned up"
fn existing_slices(
    #[case] before: &str,
    #[case] now: &str,
    #[case] edit: fn(&mut EndpointSlice),
    #[case] expected: (usize, usize, usize),
) {
    let mut existing = carry_out(&[], &mirror(&endpoints(before), &[], 1_000).plan, &mut 0);
    edit(Arc::make_mut(&mut existing[0]));
    let now = endpoints(now);
    let mirrored = mirror(&now, &existing, 1_000);
    assert_eq!(writes(&mirrored.plan), expected);
    let after = carry_out(&existing, &mirrored.plan, &mut 100);
    check_metadata(&after, &now);
    check_prefixes(&mirrored.plan, &existing);
    assert_eq!(shown(&after), shown(&carry_out(&[], &mirror(&now, &[], 1_000).plan, &mut 0)));
    assert!(mirror(&now, &after, 1_000).plan.is_empty(), "a second sync writes nothing");
}

// upstream: TestReconcile, "... pending deletion"; MI-23
#[test]
fn nothing_is_created_for_terminating_endpoints() {
    let mut going = endpoints("10.0.0.1||http:80");
    let mut object = serde_json::to_value(&going).expect("JSON");
    object["metadata"]["deletionTimestamp"] = "2026-02-03T04:00:00Z".into();
    going = read(&object);
    assert_eq!(writes(&mirror(&going, &[], 1_000).plan), (0, 0, 0));
    let existing = carry_out(&[], &mirror(&endpoints("10.0.0.9||http:80"), &[], 1_000).plan, &mut 0);
    assert_eq!(writes(&mirror(&going, &existing, 1_000).plan), (0, 1, 0), "existing slices are still updated");
}

// upstream: TestReconcile, the cases about annotations; TestNewEndpointSlice
#[rstest]
#[case::none(&[], &[])]
#[case::others(&[("foo", "bar"), ("foo2", "bar2")], &[("foo", "bar"), ("foo2", "bar2")])]
#[case::last_applied(&[("foo", "bar"), (LAST_APPLIED_ANNOTATION, "{}")], &[("foo", "bar")])]
#[case::last_applied_empty(&[("foo", "bar"), (LAST_APPLIED_ANNOTATION, "")], &[("foo", "bar")])]
#[case::last_applied_alone(&[(LAST_APPLIED_ANNOTATION, "{}")], &[])]
#[case::trigger_time(&[("foo", "bar"), (TRIGGER_TIME_ANNOTATION, "t")], &[("foo", "bar")])]
fn annotations_and_labels(#[case] annotations: &[(&str, &str)], #[case] expected: &[(&str, &str)]) {
    let mut endpoints = endpoints("10.0.0.1||http:80");
    endpoints.metadata.annotations = annotations.iter().copied().collect();
    for labels in [Labels::default(), [("foo", "bar")].into_iter().collect()] {
        endpoints.metadata.labels = labels;
        let slices = carry_out(&[], &mirror(&endpoints, &[], 1_000).plan, &mut 0);
        assert_eq!(slices[0].metadata.annotations, expected.iter().copied().collect());
        check_metadata(&slices, &endpoints);
    }
}

// upstream: TestReconcile, "Endpoints with 2 subsets, 1 exceeding maxEndpointsPerSubset"; TestSyncEndpoints, 1000 and 1001
#[rstest]
#[case::below(2, 3, &[3], 0)]
#[case::at(3, 3, &[3], 0)]
#[case::beyond(4, 3, &[3, 3], 1)]
#[case::a_thousand(1_000, 1_000, &[1_000], 0)]
#[case::one_more(1_001, 1_000, &[1_000], 1)]
fn the_limit_applies_to_each_subset(
    #[case] count: usize,
    #[case] max: usize,
    #[case] sizes: &[usize],
    #[case] skipped: usize,
) {
    let addresses: Vec<String> = (0..count).map(|number| format!("10.0.{}.{}", number / 250, number % 250)).collect();
    let mut subsets = format!("{}||http:80", addresses.join(" "));
    if sizes.len() > 1 {
        subsets.push_str(";10.9.0.1 10.9.0.2 10.9.0.3||http:3000");
    } else if count < max {
        subsets = format!("{}||http:80", ["10.0.0.0", "10.0.0.1", "10.0.0.2"].join(" "));
    }
    let mirrored = mirror(&endpoints(&subsets), &[], max);
    assert_eq!((mirrored.skipped, mirrored.invalid), (skipped, 0));
    let slices = carry_out(&[], &mirrored.plan, &mut 0);
    assert_eq!(slices.iter().map(|it| it.endpoints.len()).collect::<Vec<_>>(), sizes);
}

// upstream: TestAddressToEndpoint. The target keeps its resource version, and there is no zone (MI-9).
#[test]
fn an_endpoint_copies_the_fields_of_its_address() {
    let target = json!({"kind": "Pod", "namespace": "default", "name": "p", "uid": "u", "resourceVersion": "7"});
    let address = json!({"ip": "1.2.3.4", "hostname": "foo", "nodeName": "node-abc", "targetRef": target});
    let ports = json!([{"name": "a", "port": 80, "protocol": "TCP", "appProtocol": "http"}]);
    let endpoints: Endpoints = read(&json!({"metadata": {"namespace": "ns", "name": "db"},
        "subsets": [{"addresses": [address], "ports": ports}]}));
    let mirrored = desired(&endpoints, std::num::NonZeroUsize::MIN);
    let slice = &carry_out(&[], &mirror(&endpoints, &[], 1).plan, &mut 0)[0];
    assert_eq!(mirrored.skipped, 0);
    let expected = json!([{"addresses": ["1.2.3.4"], "conditions": {"ready": true}, "hostname": "foo",
        "nodeName": "node-abc", "targetRef": target}]);
    assert_eq!(serde_json::to_value(&slice.endpoints).expect("JSON"), expected);
    assert_eq!(slice.ports[0].app_protocol.as_deref(), Some("http"));
}

// MI-10
#[test]
fn addresses_of_one_identity_count_twice_and_are_written_once() {
    let address = |ip: &str, uid: &str| {
        let target = json!({"kind": "Pod", "namespace": "ns", "name": "p", "uid": uid});
        json!({"ip": ip, "targetRef": target})
    };
    let addresses = [address("10.0.0.1", "u1"), address("10.0.0.1", "u2"), address("10.0.0.2", "u3")];
    let ports = json!([{"name": "a", "port": 80, "protocol": "TCP"}]);
    let endpoints: Endpoints = read(&json!({"metadata": {"namespace": "ns", "name": "db"},
        "subsets": [{"addresses": addresses, "ports": ports}]}));
    let mirrored = mirror(&endpoints, &[], 2);
    assert_eq!((mirrored.skipped, mirrored.invalid), (1, 0));
    assert_eq!(shown(&carry_out(&[], &mirrored.plan, &mut 0)), ["IPv4 a:80=10.0.0.1"]);
}

// MI-18
#[test]
fn reserved_labels_of_endpoints_are_no_difference() {
    let mut endpoints = endpoints("10.0.0.1||http:80");
    endpoints.metadata.labels = [(SERVICE_NAME_LABEL, "evil"), (SLICE_MANAGED_BY_LABEL, "evil")].into_iter().collect();
    let slices = carry_out(&[], &mirror(&endpoints, &[], 1_000).plan, &mut 0);
    check_metadata(&slices, &endpoints);
    assert!(mirror(&endpoints, &slices, 1_000).plan.is_empty());
}

// upstream: TestEndpointSlicesMirroredForService
#[rstest]
#[case::matching("ns", Some("db"), Some(MIRRORING_CONTROLLER), 1)]
#[case::other_namespace("other", Some("db"), Some(MIRRORING_CONTROLLER), 0)]
#[case::other_service("ns", Some("other"), Some(MIRRORING_CONTROLLER), 0)]
#[case::other_controller("ns", Some("db"), Some("other"), 0)]
#[case::no_controller("ns", Some("db"), None, 0)]
#[case::no_service("ns", None, Some(MIRRORING_CONTROLLER), 0)]
fn slices_of_a_service(
    #[case] namespace: &str,
    #[case] service: Option<&str>,
    #[case] controller: Option<&str>,
    #[case] expected: usize,
) {
    let slice: EndpointSlice = read(&json!({
        "metadata": {"namespace": namespace, "name": "db-1",
            "labels": {SERVICE_NAME_LABEL: service, SLICE_MANAGED_BY_LABEL: controller}},
        "addressType": "IPv4", "endpoints": []
    }));
    let mut index = SliceIndex::default();
    index.update(None, Some(&Arc::new(slice)));
    assert_eq!(index.managed_slices("ns", "db", MIRRORING_CONTROLLER).len(), expected);
}

// upstream: TestRecycleSlices. Unlike upstream, each delete is recycled once, for a create of its own family (EC-40).
#[rstest]
#[case::nothing("", "", (0, 0, 0))]
#[case::one_and_one("10.0.0.1||a:1", "10.0.0.1||b:2", (0, 1, 0))]
#[case::one_of_each("10.0.0.1||a:1;10.0.0.2||c:3", "10.0.0.1||b:2;10.0.0.3||c:3", (0, 2, 0))]
#[case::two_to_create("10.0.0.1||a:1", "10.0.0.1||b:2;10.0.0.2||c:3", (1, 1, 0))]
#[case::two_to_delete("10.0.0.1||a:1;10.0.0.2||c:3", "10.0.0.1||b:2", (0, 1, 1))]
#[case::each_family("10.0.0.1 fd00::1||a:1", "10.0.0.1 fd00::1||b:2", (0, 2, 0))]
#[case::wrong_family("10.0.0.1||a:1", "fd00::1||b:2", (1, 0, 1))]
#[case::creations_of_two_families("10.0.0.1||a:1", "10.0.0.1 fd00::1||b:2", (1, 1, 0))]
fn recycling(#[case] before: &str, #[case] now: &str, #[case] expected: (usize, usize, usize)) {
    let existing = carry_out(&[], &mirror(&endpoints(before), &[], 1_000).plan, &mut 0);
    let plan = mirror(&endpoints(now), &existing, 1_000).plan;
    assert_eq!(writes(&plan), expected);
    for slice in plan.types.iter().flat_map(TypePlan::creates) {
        assert!(slice.metadata.name.is_empty(), "a recycled slice is not created too");
    }
}
