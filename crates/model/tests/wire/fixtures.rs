//! What a real API server sent, in JSON and in protobuf: the same objects, and what is written back.

use std::fmt::Debug;
use std::fs;

use k8s_openapi::api::{core::v1 as core, discovery::v1 as discovery};
use kube_endpoint_model::{EndpointSlice, Endpoints, LastWrite, Node, Pod, Service};
use kube_wire::{Decode, Encoding, ListReader, WatchEvent, WatchReader};
use rstest::rstest;
use serde::{Serialize, de::DeserializeOwned};

fn recorded(name: &str) -> Vec<u8> {
    let path = format!("{}/../../conformance/fixtures/{name}", env!("CARGO_MANIFEST_DIR"));
    fs::read(&path).unwrap_or_else(|error| panic!("{path}: {error}"))
}

fn list<T: Decode>(name: &str, encoding: Encoding) -> Vec<T> {
    let mut reader = ListReader::new(encoding);
    let mut objects = Vec::new();
    for chunk in recorded(name).chunks(1_000) {
        reader.push(chunk);
        while let Some(object) = reader.next_item().expect("a recording that decodes") {
            objects.push(object.expect("a recording that decodes"));
        }
    }
    reader.finish().expect("a recording that decodes");
    objects
}

fn watch<T: Decode>(name: &str, encoding: Encoding) -> Vec<WatchEvent<T>> {
    let mut reader = WatchReader::new(encoding, 0.into());
    let mut events = Vec::new();
    for chunk in recorded(name).chunks(1_000) {
        reader.push(chunk);
        while let Some(event) = reader.next_event().expect("a recording that decodes") {
            events.push(event);
        }
    }
    reader.finish().expect("a recording that decodes");
    events
}

fn check<T, Full>(kind: &str)
where
    T: Decode + PartialEq + Debug + for<'a> From<&'a Full>,
    Full: DeserializeOwned,
{
    let json: Vec<T> = list(&format!("{kind}.list.json"), Encoding::Json);
    assert!(!json.is_empty());
    assert_eq!(list::<T>(&format!("{kind}.list.pb"), Encoding::Protobuf), json);
    let document: serde_json::Value =
        serde_json::from_slice(&recorded(&format!("{kind}.list.json"))).expect("a recording that decodes");
    let full: Vec<Full> = serde_json::from_value(document["items"].clone()).expect("a recording that decodes");
    assert_eq!(full.iter().map(T::from).collect::<Vec<_>>(), json);

    let json: Vec<WatchEvent<T>> = watch(&format!("{kind}.watch.json"), Encoding::Json);
    assert!(json.iter().any(|it| !matches!(it, WatchEvent::Bookmark { .. })));
    assert_eq!(watch::<T>(&format!("{kind}.watch.pb"), Encoding::Protobuf), json);
}

#[rstest]
#[case(check::<Pod, core::Pod>, "pod")]
#[case(check::<Service, core::Service>, "service")]
#[case(check::<Node, core::Node>, "node")]
#[case(check::<Endpoints, core::Endpoints>, "endpoints")]
#[case(check::<EndpointSlice, discovery::EndpointSlice>, "endpointslice")]
fn both_encodings_hold_the_same(#[case] check: fn(&str), #[case] kind: &str) {
    check(kind);
}

#[rstest]
#[case(written::<Endpoints, core::Endpoints>, "endpoints")]
#[case(written::<EndpointSlice, discovery::EndpointSlice>, "endpointslice")]
fn is_written_as_the_full_type(#[case] check: fn(&str), #[case] kind: &str) {
    check(kind);
}

fn written<T, Full>(kind: &str)
where
    T: Decode + Serialize,
    Full: Serialize + for<'a> From<&'a T>,
{
    let objects: Vec<T> = list(&format!("{kind}.list.json"), Encoding::Json);
    assert!(!objects.is_empty());
    for object in &objects {
        let full = Full::from(object);
        assert_eq!(serde_json::to_string(object).expect("JSON"), serde_json::to_string(&full).expect("JSON"));
    }
}

/// When the objects of a list were last written, and asked to be deleted: by the document, whose times are all of one form.
fn dated(kind: &str) -> Vec<LastWrite> {
    let document: serde_json::Value = serde_json::from_slice(&recorded(&format!("{kind}.list.json"))).expect("a list");
    let second = |text: &str| text.parse::<jiff::Timestamp>().expect("a time").as_second();
    let last = |metadata: &serde_json::Value| {
        let writes = metadata["managedFields"].as_array().expect("those of a real server");
        let newest = writes.iter().filter_map(|entry| entry["time"].as_str()).max().map(second);
        let asked = metadata["deletionTimestamp"].as_str().map(second);
        let asked = asked.map(|at| at - metadata["deletionGracePeriodSeconds"].as_i64().expect("seconds"));
        LastWrite::from_second(newest.max(asked).expect("a time"))
    };
    document["items"].as_array().expect("a list").iter().map(|it| last(&it["metadata"])).collect()
}

#[test]
fn every_object_of_a_real_server_is_dated() {
    let pods: Vec<Pod> = list("pod.list.pb", Encoding::Protobuf);
    assert_eq!(pods.iter().map(|it| it.last_write).collect::<Vec<_>>(), dated("pod"));
    assert!(pods.iter().any(|it| it.terminating), "one of them is to end");
    let services: Vec<Service> = list("service.list.pb", Encoding::Protobuf);
    assert_eq!(services.iter().map(|it| it.last_write).collect::<Vec<_>>(), dated("service"));
    let endpoints: Vec<Endpoints> = list("endpoints.list.pb", Encoding::Protobuf);
    assert_eq!(endpoints.iter().map(|it| it.metadata.last_write).collect::<Vec<_>>(), dated("endpoints"));
    let slices: Vec<EndpointSlice> = list("endpointslice.list.pb", Encoding::Protobuf);
    assert_eq!(slices.iter().map(|it| it.metadata.last_write).collect::<Vec<_>>(), dated("endpointslice"));
}
