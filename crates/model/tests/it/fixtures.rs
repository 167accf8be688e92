//! Recordings of a real API server: equal objects from JSON and protobuf, and protobuf equal to that of the server.

use std::fmt::Debug;

use k8s_openapi::api::{core::v1 as core, discovery::v1 as discovery};
use kube_endpoint_model::{EndpointSlice, Endpoints, Node, Pod, Service, project};
use kube_endpoints_testing::fixture;
use kube_wire::protobuf::{Envelope, Field, Fields, Writer};
use kube_wire::{Decode, Encode, Encoding, ListReader, WatchEvent, WatchReader};
use rstest::rstest;
use serde::{Serialize, de::DeserializeOwned};

fn list<T: Decode>(name: &str, encoding: Encoding) -> Vec<T> {
    let mut reader = ListReader::new(encoding);
    let mut objects = Vec::new();
    for chunk in fixture(name).chunks(1_000) {
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
    for chunk in fixture(name).chunks(1_000) {
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
    T: Decode + PartialEq + Debug,
    Full: DeserializeOwned + Serialize,
{
    let json: Vec<T> = list(&format!("{kind}.list.json"), Encoding::Json);
    assert!(!json.is_empty());
    assert_eq!(list::<T>(&format!("{kind}.list.pb"), Encoding::Protobuf), json);
    let document: serde_json::Value =
        serde_json::from_slice(&fixture(&format!("{kind}.list.json"))).expect("a recording that decodes");
    let full: Vec<Full> = serde_json::from_value(document["items"].clone()).expect("a recording that decodes");
    let projections: Result<Vec<T>, _> = full.iter().map(project).collect();
    assert_eq!(projections.as_ref(), Ok(&json));

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
fn both_encodings_decode_to_equal_objects(#[case] check: fn(&str), #[case] kind: &str) {
    check(kind);
}

fn fields(message: &[u8]) -> Vec<Field<'_>> {
    Fields::new(message).collect::<Result<_, _>>().expect("a recording that decodes")
}

#[rstest]
#[case(check_protobuf::<Endpoints>, "endpoints.list.pb")]
#[case(check_protobuf::<EndpointSlice>, "endpointslice.list.pb")]
fn protobuf_equals_that_of_the_api_server(#[case] check: fn(&str), #[case] name: &str) {
    check(name);
}

fn check_protobuf<T: Encode + PartialEq + Debug>(name: &str) {
    const MANAGED_FIELDS: u32 = 17;
    const METADATA: u32 = 1;
    const ITEMS: u32 = 2;
    let body = fixture(name);
    let items = fields(Envelope::open(&body).expect("an envelope").object);
    let items: Vec<&[u8]> =
        items.iter().filter(|it| it.number == ITEMS).map(|it| it.as_bytes().expect("a message")).collect();
    assert!(!items.is_empty());
    for recorded in items {
        let object = T::from_protobuf(recorded).expect("a recording that decodes");
        let mut written = Writer::default();
        assert!(object.to_protobuf(&mut written));
        let written = written.as_bytes();
        let (ours, theirs) = (fields(written), fields(recorded));
        assert_eq!((ours[0].number, theirs[0].number), (METADATA, METADATA));
        assert_eq!(ours[1..], theirs[1..]);
        let mut metadata = fields(theirs[0].as_bytes().expect("a message"));
        metadata.retain(|it| it.number != MANAGED_FIELDS);
        assert_eq!(fields(ours[0].as_bytes().expect("a message")), metadata);
        assert_eq!(object.response_from_protobuf(written, recorded), Ok(object));
    }
}
