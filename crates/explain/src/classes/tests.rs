//! Table of the classes.

use rstest::rstest;
use serde_json::json;

use super::*;
use crate::report::{Kind, ObjectRef};

fn endpoint(ip: &str) -> Value {
    json!({"addresses": [ip], "conditions": {"ready": true}, "targetRef": {"name": ip, "resourceVersion": "1"}})
}

fn slice(endpoints: &[Value]) -> Value {
    let metadata = json!({"labels": {"a": "1"}, "annotations": {TRIGGER_TIME_ANNOTATION: "2026-01-01T00:00:00Z"}});
    json!({"addressType": "IPv4", "metadata": metadata, "endpoints": endpoints, "ports": [{"port": 80}, {"port": 81}]})
}

fn with(object: &Value, pointer: &str, value: Value) -> Value {
    let mut object = object.clone();
    *object.pointer_mut(pointer).expect("a field") = value;
    object
}

fn hinted(ip: &str, zone: &str) -> Value {
    let mut endpoint = endpoint(ip);
    endpoint["hints"] = json!({"forZones": [{"name": zone}]});
    endpoint
}

/// Endpoints of subsets with ready addresses, unready addresses and ports.
fn subsets(subsets: &[(&[&str], &[&str], &[u16])]) -> Value {
    let list = |ips: &[&str]| ips.iter().map(|ip| json!({"ip": ip})).collect::<Vec<_>>();
    let subset = |(ready, unready, ports): &(&[&str], &[&str], &[u16])| {
        let ports: Vec<Value> = ports.iter().map(|port| json!({"port": port})).collect();
        json!({"addresses": list(ready), "notReadyAddresses": list(unready), "ports": ports})
    };
    json!({"metadata": {}, "subsets": subsets.iter().map(subset).collect::<Vec<_>>()})
}

type Write = (Option<Value>, Option<Value>);

fn update(before: &Value, after: &Value) -> Write {
    (Some(before.clone()), Some(after.clone()))
}

fn one() -> Value {
    slice(&[endpoint("10.0.0.1")])
}

fn two() -> Value {
    slice(&[endpoint("10.0.0.1"), endpoint("10.0.0.2")])
}

#[rstest]
#[case::missing_endpoint(vec![update(&one(), &two())], &["content"])]
#[case::superfluous_endpoint(vec![update(&two(), &one())], &["content"])]
#[case::condition(vec![update(&one(), &with(&one(), "/endpoints/0/conditions/ready", json!(false)))], &["content"])]
#[case::address(vec![update(&one(), &slice(&[endpoint("10.0.0.9")]))], &["content"])]
#[case::port(vec![update(&one(), &with(&one(), "/ports/0/port", json!(8080)))], &["content"])]
#[case::port_without_endpoints(vec![update(&slice(&[]), &with(&slice(&[]), "/ports", json!([])))], &["content"])]
#[case::label(vec![update(&one(), &with(&one(), "/metadata/labels/a", json!("2")))], &["metadata"])]
#[case::no_labels(vec![update(&one(), &with(&one(), "/metadata/labels", json!({})))], &["metadata"])]
#[case::hint(vec![update(&slice(&[hinted("10.0.0.1", "a")]), &slice(&[hinted("10.0.0.1", "b")]))], &["hints"])]
#[case::missing_hint(vec![update(&one(), &slice(&[hinted("10.0.0.1", "b")]))], &["hints"])]
#[case::merged(
    vec![update(&one(), &two()), (Some(slice(&[endpoint("10.0.0.2")])), None)],
    &["packing", "packing"]
)]
#[case::split(
    vec![(None, Some(slice(&[endpoint("10.0.0.2")]))), update(&two(), &one())],
    &["packing", "packing"]
)]
#[case::empty_slice(vec![(Some(slice(&[])), None)], &["packing"])]
#[case::missing_slice_of_several(vec![(None, Some(two()))], &["content"])]
#[case::content_and_label(
    vec![update(&one(), &with(&two(), "/metadata/labels/a", json!("2")))],
    &["content,metadata"]
)]
#[case::content_and_packing(
    vec![update(&one(), &two()), (Some(slice(&[endpoint("10.0.0.2"), endpoint("10.0.0.3")])), None)],
    &["packing", "content,packing"]
)]
#[case::hints_and_packing(
    vec![update(&one(), &slice(&[endpoint("10.0.0.1"), hinted("10.0.0.2", "a")])), (Some(slice(&[endpoint("10.0.0.2")])), None)],
    &["hints,packing", "hints,packing"]
)]
#[case::ready(
    vec![update(&subsets(&[(&[], &["10.0.0.1"], &[80])]), &subsets(&[(&["10.0.0.1"], &[], &[80])]))],
    &["content"]
)]
#[case::subset_port(
    vec![update(&subsets(&[(&["10.0.0.1"], &[], &[80])]), &subsets(&[(&["10.0.0.1"], &[], &[80, 81])]))],
    &["content"]
)]
#[case::repacked(
    vec![update(
        &subsets(&[(&["10.0.0.1"], &[], &[80]), (&["10.0.0.2"], &[], &[80])]),
        &subsets(&[(&["10.0.0.1", "10.0.0.2"], &[], &[80])])
    )],
    &["packing"]
)]
fn writes_of_a_service_with_another_slice(#[case] plan: Vec<Write>, #[case] expect: &[&str]) {
    assert_eq!(classes(&plan, &["IPv4"]), expect);
}

#[rstest]
#[case::no_slices(vec![(None, Some(one()))], &[], &["objects"])]
#[case::no_slices_of_a_type(vec![(None, Some(with(&one(), "/addressType", json!("IPv6"))))], &["IPv4"], &["objects"])]
#[case::unsupported_type(vec![(Some(with(&one(), "/addressType", json!("FQDN"))), None)], &["IPv4"], &["objects"])]
#[case::nothing_to_mirror(vec![(Some(one()), None), (Some(two()), None)], &[], &["objects", "objects"])]
#[case::no_endpoints(vec![(None, Some(subsets(&[])))], &[], &["objects"])]
#[case::endpoints_without_a_service(vec![(Some(subsets(&[])), None)], &[], &["objects"])]
#[case::objects_and_content(
    vec![update(&one(), &two()), (Some(with(&one(), "/addressType", json!("IPv6"))), None)],
    &[],
    &["content", "objects"]
)]
fn missing_and_superfluous_objects(#[case] plan: Vec<Write>, #[case] unchanged: &[&str], #[case] expect: &[&str]) {
    assert_eq!(classes(&plan, unchanged), expect);
}

/// Returns the classes of each write, separated by commas.
fn classes(plan: &[Write], unchanged: &[&str]) -> Vec<String> {
    let object = ObjectRef { kind: Kind::EndpointSlice, namespace: String::new(), name: String::new() };
    let change = |(before, after): &Write| {
        let (object, before, after) = (object.clone(), before.clone(), after.clone());
        Change { object, before, after, classes: BTreeSet::new(), reasons: Vec::new() }
    };
    let mut plan: Vec<Change> = plan.iter().map(change).collect();
    classify(&mut plan, &unchanged.iter().copied().collect());
    let names = |it: &Change| it.classes.iter().map(|class| class.as_str()).collect::<Vec<_>>().join(",");
    plan.iter().map(names).collect()
}

#[test]
fn names_are_those_of_json() {
    for class in DifferenceClass::ALL {
        assert_eq!(json!(class), json!(class.as_str()));
    }
}
