//! Comparison of snapshots under each tag.

use std::collections::BTreeSet;
use std::fmt::Debug;

use kube_endpoints_conformance::{Snapshot, Tag, compare};
use rstest::rstest;
use serde_json::{Value, json};

const TIME: &str = "endpoints.kubernetes.io/last-change-trigger-time";

fn slices(slices: &Value) -> Snapshot {
    serde_json::from_value(json!({ "endpoints": [], "slices": slices, "events": [] })).expect("the snapshot is valid")
}

/// Returns a slice with endpoints that are given as `address` or `address@zone`.
fn slice(endpoints: &[&str]) -> Value {
    let endpoint = |text: &&str| match text.split_once('@') {
        Some((address, zone)) => json!({ "addresses": [address], "hints": { "forZones": [{ "name": zone }] } }),
        None => json!({ "addresses": [text] }),
    };
    let endpoints: Vec<_> = endpoints.iter().map(endpoint).collect();
    json!({ "name": "web-*", "addressType": "IPv4", "endpoints": endpoints, "ports": [] })
}

#[track_caller]
fn check<S: Debug>(expected: &Snapshot, actual: &Snapshot, tags: &[Tag], differences: &[S])
where
    String: PartialEq<S>,
{
    let tags: BTreeSet<_> = tags.iter().copied().collect();
    assert_eq!(compare(expected, actual, &tags), differences);
    let back = compare(actual, expected, &tags);
    assert_eq!(back.is_empty(), differences.is_empty(), "the comparison is not symmetric: {back:?}");
}

#[rstest]
#[case::strict(&[], &["slices[0].endpoints[1].addresses[0]: expected \"2\", found \"4\"",
    "slices[1].endpoints[1].addresses[0]: expected \"4\", found \"2\""])]
#[case::hints(&[Tag::Hints], &["slices[0].endpoints[1].addresses[0]: expected \"2\", found \"4\"",
    "slices[1].endpoints[1].addresses[0]: expected \"4\", found \"2\""])]
#[case::loose(&[Tag::LoosePacking], &[])]
#[case::sizes_vary(&[Tag::LoosePacking, Tag::SizesVary], &[])]
#[case::hint_counts(&[Tag::HintCounts], &[])]
fn another_packing(#[case] tags: &[Tag], #[case] differences: &[&str]) {
    let expected = slices(&json!([slice(&["1", "2"]), slice(&["3", "4"])]));
    let actual = slices(&json!([slice(&["3", "2"]), slice(&["1", "4"])]));
    check(&expected, &actual, tags, differences);
}

const GROUP: &str = r#"slices{"addressType":"IPv4","name":"web-*","ports":[]}"#;

#[rstest]
#[case::loose(&[Tag::LoosePacking], &[".sizes[0]: expected 1, found 2", ".sizes[1]: expected 3, found 2"])]
#[case::sizes_vary(&[Tag::LoosePacking, Tag::SizesVary], &[])]
#[case::hint_counts(&[Tag::HintCounts], &[".sizes[0]: expected 1, found 2", ".sizes[1]: expected 3, found 2"])]
fn other_sizes(#[case] tags: &[Tag], #[case] differences: &[&str]) {
    let expected = slices(&json!([slice(&["1"]), slice(&["2", "3", "4"])]));
    let actual = slices(&json!([slice(&["1", "2"]), slice(&["3", "4"])]));
    let differences: Vec<_> = differences.iter().map(|it| format!("{GROUP}{it}")).collect();
    check(&expected, &actual, tags, &differences);
}

#[test]
fn another_number_of_slices() {
    let expected = slices(&json!([slice(&["1"]), slice(&["2"])]));
    let actual = slices(&json!([slice(&["1", "2"])]));
    let difference = format!("{GROUP}.count: expected 2, found 1");
    check(&expected, &actual, &[Tag::LoosePacking, Tag::SizesVary], &[difference]);
}

#[test]
fn another_endpoint() {
    let expected = slices(&json!([slice(&["1"]), slice(&["2"])]));
    let actual = slices(&json!([slice(&["1"]), slice(&["3"])]));
    let difference = format!(r#"{GROUP}.endpoints[1].addresses[0]: expected "2", found "3""#);
    check(&expected, &actual, &[Tag::LoosePacking], &[difference]);
}

#[test]
fn other_ports_are_another_group() {
    let of_two = |one: &str, other: &str| {
        let mut other = slice(&[other]);
        other["ports"] = json!([{ "port": 1 }]);
        slices(&json!([slice(&[one]), other]))
    };
    let (expected, actual) = (of_two("1", "2"), of_two("2", "1"));
    assert_eq!(compare(&expected, &actual, &BTreeSet::from([Tag::LoosePacking])).len(), 2);
}

#[rstest]
#[case::swapped(&["1@b", "2@a"], &[])]
#[case::counts_differ(&["1@a", "2@a"], &[r#".hints{"forZones":[{"name":"a"}]}: expected 1, found 2"#,
    r#".hints{"forZones":[{"name":"b"}]}: missing 1"#])]
#[case::none(&["1", "2"], &[r#".hints{"forZones":[{"name":"a"}]}: missing 1"#,
    r#".hints{"forZones":[{"name":"b"}]}: missing 1"#, ".hints.none: unexpected 2"])]
fn hint_counts(#[case] actual: &[&str], #[case] differences: &[&str]) {
    let expected = slices(&json!([slice(&["1@a", "2@b"])]));
    let actual = slices(&json!([slice(actual)]));
    let differences: Vec<_> = differences.iter().map(|it| format!("{GROUP}{it}")).collect();
    check(&expected, &actual, &[Tag::Hints, Tag::HintCounts], &differences);
}

#[test]
fn loose_packing_still_ties_hints_to_endpoints() {
    let expected = slices(&json!([slice(&["1@a", "2@b"])]));
    let actual = slices(&json!([slice(&["1@b", "2@a"])]));
    assert!(!compare(&expected, &actual, &BTreeSet::from([Tag::LoosePacking])).is_empty());
}

#[rstest]
#[case::another_value(json!({ TIME: "a" }), json!({ TIME: "b" }), true)]
#[case::absent(json!({ TIME: "a" }), Value::Null, true)]
#[case::beside_others(json!({ TIME: "a", "x": "y" }), json!({ "x": "y" }), true)]
#[case::others_count(json!({ TIME: "a", "x": "y" }), json!({ TIME: "a" }), false)]
fn trigger_time(#[case] expected: Value, #[case] actual: Value, #[case] equal: bool) {
    let snapshot = |annotations: &Value| {
        let mut object = json!({ "name": "web", "subsets": [] });
        if !annotations.is_null() {
            object["annotations"] = annotations.clone();
        }
        Snapshot { endpoints: vec![object.clone()], slices: vec![object], events: Vec::new() }
    };
    let (expected, actual) = (snapshot(&expected), snapshot(&actual));
    assert_eq!(compare(&expected, &actual, &BTreeSet::new()).is_empty(), equal);
    assert_eq!(compare(&expected, &actual, &BTreeSet::from([Tag::ExactTime])).len(), 2);
}

#[rstest]
#[case(&[], &["events: unexpected [\"Service\",\"web\"]"])]
#[case(&[Tag::Mended], &["events: unexpected [\"Service\",\"web\"]"])]
#[case(&[Tag::NoEvents], &[])]
fn events(#[case] tags: &[Tag], #[case] differences: &[&str]) {
    let actual = Snapshot { events: vec![json!(["Service", "web"])], ..Snapshot::default() };
    check(&Snapshot::default(), &actual, tags, differences);
}

#[rstest]
#[case::mended(Tag::Mended)]
#[case::hints(Tag::Hints)]
#[case::truncated(Tag::TruncatedEndpoints)]
fn tags_without_effect(#[case] tag: Tag) {
    let with =
        |address: &str| Snapshot { endpoints: vec![json!({ "name": "web", "ip": address })], ..Snapshot::default() };
    check(&with("1"), &with("2"), &[tag], &[r#"endpoints[0].ip: expected "1", found "2""#]);
}
