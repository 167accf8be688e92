//! Compares with recorded bytes of a real server. The recordings of Nodes and of the Pod watch are reduced to one
//! object of each shape.

use rstest::rstest;
use serde_json::Value;

use super::*;

fn fixture(name: &str) -> Vec<u8> {
    let path = format!("{}/fixtures/{name}", env!("CARGO_MANIFEST_DIR"));
    std::fs::read(&path).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// Panics with the first difference of two byte strings and 60 bytes around it.
#[track_caller]
fn same(got: &[u8], expect: &[u8], what: &str) {
    if got == expect {
        return;
    }
    let at = got.iter().zip(expect).take_while(|(a, b)| a == b).count();
    let around =
        |bytes: &[u8]| String::from_utf8_lossy(&bytes[at.saturating_sub(60)..bytes.len().min(at + 60)]).into_owned();
    panic!("{what} differs at {at} of {} and {}:\n{:?}\n{:?}", got.len(), expect.len(), around(got), around(expect));
}

#[rstest]
#[case("pod", "v1", "Pod")]
#[case("node", "v1", "Node")]
#[case("service", "v1", "Service")]
#[case("endpoints", "v1", "Endpoints")]
#[case("endpointslice", "discovery.k8s.io/v1", "EndpointSlice")]
fn encoded_lists_match_a_real_server(#[case] file: &str, #[case] api_version: &str, #[case] kind: &str) {
    assert!(is_supported(api_version, kind));
    let list: Value = serde_json::from_slice(&fixture(&format!("{file}.list.json"))).unwrap();
    let items: Vec<u8> = list["items"]
        .as_array()
        .unwrap()
        .iter()
        .flat_map(|item| list_item(api_version, kind, item.as_object().unwrap()))
        .collect();
    let ListEnvelope { head, tail } = ListEnvelope::new(api_version, kind, &list["metadata"], items.len());
    let got = [head, items, tail].concat();
    same(&got, &fixture(&format!("{file}.list.pb")), file);
}

#[rstest]
#[case("pod", "v1", "Pod")]
#[case("service", "v1", "Service")]
#[case("node", "v1", "Node")]
#[case("endpoints", "v1", "Endpoints")]
#[case("endpointslice", "discovery.k8s.io/v1", "EndpointSlice")]
fn encoded_events_match_a_real_server(#[case] file: &str, #[case] api_version: &str, #[case] kind: &str) {
    let mut recorded = &fixture(&format!("{file}.watch.pb"))[..];
    for line in fixture(&format!("{file}.watch.json")).split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
        let event: Value = serde_json::from_slice(line).unwrap();
        let object = envelope(api_version, kind, event["object"].as_object().unwrap());
        let got = watch_frame(event["type"].as_str().unwrap(), &object);
        let length = 4 + u32::from_be_bytes(recorded[..4].try_into().unwrap()) as usize;
        let (expect, rest) = recorded.split_at(length);
        same(&got, expect, &format!("{file} {}", event["type"]));
        // Decoding and encoding again must not lose anything.
        let read = Envelope::open(&object).unwrap().read(api_version, kind).unwrap();
        same(&envelope(api_version, kind, &read), &object, &format!("{file} {} read", event["type"]));
        recorded = rest;
    }
    assert!(recorded.is_empty());
}
