use rstest::rstest;

use super::*;
use crate::{
    Encoding,
    testing::{self, Thing, bytes, envelope, envelope_of, frame, text},
};

/// Decodes a watch from resource version 41, in chunks of `step` bytes.
fn read(encoding: Encoding, body: &[u8], step: usize) -> Vec<String> {
    let mut reader = WatchReader::<Thing>::with_limit(encoding, "41".into(), 200);
    let mut seen = Vec::new();
    for chunk in body.chunks(step) {
        reader.push(chunk);
        loop {
            match reader.next_event() {
                Ok(Some(event)) => seen.push(print(&event)),
                Ok(None) => break,
                Err(error) => {
                    seen.push(error.to_string());
                    return seen;
                }
            }
        }
    }
    if let Err(error) = reader.finish() {
        seen.push(error.to_string());
    }
    seen
}

fn print(event: &WatchEvent<Thing>) -> String {
    match event {
        WatchEvent::Added(thing) => format!("added {} {}", thing.key(), thing.size),
        WatchEvent::Modified(thing) => format!("modified {} {}", thing.key(), thing.size),
        WatchEvent::Deleted(thing) => format!("deleted {}", thing.key()),
        WatchEvent::Bookmark { resource_version, initial_events_end } => {
            format!("bookmark {resource_version} {initial_events_end}")
        }
        WatchEvent::Undecodable { event, object } => {
            let key = object.key.as_ref().map(ToString::to_string).unwrap_or_default();
            format!("undecodable {event:?} {key}@{}: {}", object.resource_version, object.error)
        }
        WatchEvent::Error(status) => format!("error {} {}", status.code, status.reason),
    }
}

/// Decodes a watch as a whole, and asserts that every chunk size gives the same result.
#[track_caller]
fn check(encoding: Encoding, body: &[u8]) -> String {
    let whole = read(encoding, body, body.len().max(1));
    for step in 1..body.len() {
        assert_eq!(read(encoding, body, step), whole, "in steps of {step}");
    }
    whole.join(", ")
}

#[rstest]
#[case(r#"{"type":"ADDED","object":{"kind":"Thing","metadata":{"name":"a"},"size":1}}"#, "added a 1")]
#[case(r#"{"object":{"metadata":{"name":"a"},"size":2},"type":"MODIFIED"}"#, "modified a 2")]
#[case(r#"{"type":"DELETED","object":{"metadata":{"name":"a"}}}"#, "deleted a")]
#[case(r#"{"type":"ADDED","object":{"metadata":{"name":"a"},"size":3},"more":{"metadata":{}}}"#, "added a 3")]
#[case(r#"{ "type" : "ADDED" , "object" : {"metadata":{"name":"a"},"size":4} } "#, "added a 4")]
#[case(r#"{"type":"\u0041DDED","object":{"metadata":{"name":"a"},"size":5}}"#, "added a 5")]
#[case(r#"{"type":"BOOKMARK","object":{"metadata":{"resourceVersion":"7"}}}"#, "bookmark 7 false")]
#[case(
    r#"{"type":"BOOKMARK","object":{"metadata":{"resourceVersion":"7","annotations":{"k8s.io/initial-events-end":"true"}}}}"#,
    "bookmark 7 true"
)]
#[case(r#"{"type":"BOOKMARK","object":{"metadata":{"resourceVersion":null,"annotations":null}}}"#, "bookmark  false")]
#[case(r#"{"type":"ERROR","object":{"kind":"Status","code":410,"reason":"Expired"}}"#, "error 410 Expired")]
fn json_events(#[case] frame: &str, #[case] expect: &str) {
    assert_eq!(check(Encoding::Json, format!("{frame}\n").as_bytes()), expect);
}

#[rstest]
#[case::unknown(
    r#"{"type":"RENAMED","object":{}}"#,
    "cannot decode Thing after resourceVersion 41: unknown watch event type \"RENAMED\""
)]
#[case::malformed(
    r#"{"type":"ADDED","object":{"metadata":{"name":"a"},"size":01}}"#,
    "cannot decode WatchEvent of Thing after resourceVersion 41: invalid number at line 1 column 59"
)]
#[case::no_object(
    r#"{"type":"ADDED"}"#,
    "cannot decode WatchEvent of Thing after resourceVersion 41: missing field `object` at line 1 column 16"
)]
#[case::cut(r#"{"type":"ADD"#, "cannot decode WatchEvent of Thing after resourceVersion 41: EOF")]
fn malformed_frame_is_an_error(#[case] frame: &str, #[case] expect: &str) {
    let error = check(Encoding::Json, format!("{frame}\n").as_bytes());
    assert!(error.starts_with(expect), "{error}");
}

#[rstest]
#[case::added(
    r#"{"type":"ADDED","object":{"metadata":{"name":"a","resourceVersion":"42"},"size":-1}}"#,
    "undecodable Added a@42: cannot decode Thing: size: invalid value"
)]
#[case::deleted(
    r#"{"type":"DELETED","object":{"metadata":{"name":"a","resourceVersion":"42"},"size":-1}}"#,
    "undecodable Deleted a@42: cannot decode Thing: size: invalid value"
)]
#[case::in_another_form(
    r#"{"object":{"metadata":{"name":"a"},"size":-1},"type":"MODIFIED"}"#,
    "undecodable Modified a@: cannot decode Thing: size: invalid value"
)]
#[case::nameless(
    r#"{"type":"ADDED","object":{"metadata":{}}}"#,
    "undecodable Added @: cannot decode Thing: metadata.name is missing"
)]
#[case::null(r#"{"type":"ADDED","object":null}"#, "undecodable Added @: cannot decode Thing: invalid type: null")]
fn undecodable_object_does_not_end_the_watch(#[case] frame: &str, #[case] expect: &str) {
    let next = r#"{"type":"ADDED","object":{"metadata":{"name":"b"},"size":2}}"#;
    let seen = check(Encoding::Json, format!("{frame}\n{next}\n").as_bytes());
    assert!(seen.starts_with(expect) && seen.ends_with(", added b 2"), "{seen}");
}

#[test]
fn undecodable_object_advances_the_resource_version() {
    let mut reader = WatchReader::<Thing>::new(Encoding::Json, "41".into());
    reader.push(b"{\"type\":\"ADDED\",\"object\":{\"metadata\":{\"resourceVersion\":\"42\"},\"size\":-1}}\n");
    assert!(matches!(reader.next_event(), Ok(Some(WatchEvent::Undecodable { .. }))));
    assert_eq!(*reader.resource_version(), "42");
}

/// Encodes the object of a bookmark in the protobuf envelope.
fn bookmark(annotation: &str) -> Vec<u8> {
    let annotation = [text(1, annotation), text(2, "true")].concat();
    envelope("Thing", &bytes(1, &[text(6, "7"), bytes(12, &annotation)].concat()))
}

/// Encodes a `Status` with code 410 in the protobuf envelope.
fn expired() -> Vec<u8> {
    envelope("Status", &[text(2, "Failure"), text(4, "Expired"), b"\x30\x9a\x03".to_vec()].concat())
}

#[rstest]
#[case(frame("ADDED", &envelope("Thing", &testing::thing("a", "42", 1))), "added x/a 1")]
#[case(frame("MODIFIED", &envelope("Thing", &testing::thing("a", "42", 2))), "modified x/a 2")]
#[case(frame("DELETED", &envelope("Thing", &testing::thing("a", "42", 0))), "deleted x/a")]
#[case(frame("BOOKMARK", &bookmark("example.com/other")), "bookmark 7 false")]
#[case(frame("BOOKMARK", &bookmark("k8s.io/initial-events-end")), "bookmark 7 true")]
#[case(frame("ERROR", &expired()), "error 410 Expired")]
#[case(
    [frame("ADDED", &envelope("Thing", &testing::thing("a", "42", 1))), frame("RENAMED", b"")].concat(),
    "added x/a 1, cannot decode Thing after resourceVersion 42: unknown watch event type \"RENAMED\""
)]
#[case(
    frame("ADDED", &envelope("Table", b"")),
    "cannot decode Thing after resourceVersion 41: the server sent Table"
)]
#[case(
    frame("ADDED", b""),
    "cannot decode WatchEvent of Thing after resourceVersion 41: the message: no Kubernetes envelope"
)]
#[case(
    [frame("ADDED", &envelope("Thing", b"\x0a\x7f")), frame("ADDED", &envelope("Thing", &testing::thing("b", "43", 2)))].concat(),
    "undecodable Added @: cannot decode Thing: field 1: unexpected end of message, added x/b 2"
)]
#[case(
    frame("DELETED", &envelope("Thing", &[testing::thing("a", "42", 1), b"\x12\x7f".to_vec()].concat())),
    "undecodable Deleted x/a@42: cannot decode Thing: field 2: unexpected end of message"
)]
#[case(
    frame("ADDED", &envelope("Thing", b"")),
    "undecodable Added @: cannot decode Thing: metadata.name is missing"
)]
#[case(
    frame("ADDED", &envelope_of("v2", "Thing", &testing::thing("a", "42", 1))),
    "cannot decode Thing of v1 after resourceVersion 41: the server sent Thing of v2"
)]
#[case(
    frame("ADDED", &[0; 200]),
    "cannot decode Thing after resourceVersion 41: a watch frame is longer than 200 bytes"
)]
#[case(b"\xff\xff\xff\xff".to_vec(), "cannot decode Thing after resourceVersion 41: a watch frame is longer than 200 bytes")]
#[case(b"\0\0\0\x05abc".to_vec(), "cannot decode Thing after resourceVersion 41: the watch ended 7 bytes into a frame")]
#[case(vec![], "")]
fn protobuf_events(#[case] body: Vec<u8>, #[case] expect: &str) {
    assert_eq!(check(Encoding::Protobuf, &body), expect);
}

#[test]
fn known_object_is_not_decoded() {
    let mut reader = WatchReader::<Thing>::new(Encoding::Protobuf, "41".into());
    let malformed = [testing::thing("a", "42", 1), b"\x12\x7f".to_vec()].concat();
    for (event, object) in [("MODIFIED", &malformed), ("ADDED", &malformed), ("DELETED", &malformed)] {
        reader.push(&frame(event, &envelope("Thing", object)));
    }
    let is_known = Some(|head: &EventHead| head.key.to_string() == "x/a" && head.resource_version == "42");
    let observed = std::cell::Cell::new(0);
    let observe = |_: Encoding, object: &[u8]| observed.set(object.len());
    let mut next = || reader.next_event_observed(is_known, Some(&observe)).unwrap().unwrap();
    for added in [false, true] {
        let Received::Known(head) = next() else { panic!("decoded") };
        assert_eq!((head.added, head.key.to_string().as_str(), head.resource_version), (added, "x/a", 42.into()));
    }
    assert_eq!(observed.get(), 0);
    assert!(matches!(next(), Received::Event(WatchEvent::Undecodable { event: EventType::Deleted, .. })));
    assert_eq!(observed.get(), malformed.len());
    assert_eq!(*reader.resource_version(), "42");

    reader.push(&frame("MODIFIED", &envelope("Thing", &testing::thing("a", "43", 1))));
    assert!(matches!(reader.next_event_observed(is_known, None), Ok(Some(Received::Event(WatchEvent::Modified(_))))));
    reader.push(&frame("MODIFIED", &envelope("Thing", b"")));
    let unnamed = reader.next_event_observed(Some(|_: &EventHead| false), None);
    assert!(matches!(unnamed, Ok(Some(Received::Event(WatchEvent::Undecodable { .. })))));
}
