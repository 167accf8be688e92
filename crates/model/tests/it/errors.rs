//! Invalid bytes: decoding returns an error that names the field. `fuzz.rs` checks that it never panics.

use kube_endpoint_model::{EndpointSlice, Endpoints, Node, Pod, Service};
use kube_wire::{Decode, DecodeError};
use rstest::rstest;

type Read = fn(&[u8]) -> Result<(), DecodeError>;

fn json<T: Decode>(bytes: &[u8]) -> Result<(), DecodeError> {
    T::from_json(bytes).map(drop)
}

fn protobuf<T: Decode>(bytes: &[u8]) -> Result<(), DecodeError> {
    T::from_protobuf(bytes).map(drop)
}

#[rstest]
#[case::pod(json::<Pod>, r#"{"metadata":{"labels":{"a":1}}}"#, "Pod: metadata.labels.a")]
#[case::port(json::<Pod>, r#"{"spec":{"containers":[{"ports":[{"containerPort":"x"}]}]}}"#,
    "Pod: spec.containers[0].ports[0].containerPort")]
#[case::address(json::<Pod>, r#"{"status":{"podIPs":[{"ip":"10.0.0.1"},{"ip":7}]}}"#, "Pod: status.podIPs[1].ip")]
#[case::service(json::<Service>, r#"{"spec":{"ports":[{"targetPort":[]}]}}"#, "Service: spec.ports[0].targetPort")]
#[case::node(json::<Node>, r#"{"status":{"conditions":{}}}"#, "Node: status.conditions")]
#[case::subset(json::<Endpoints>, r#"{"subsets":[{"addresses":[{"hostname":7}]}]}"#, "Endpoints: subsets[0].addresses[0]")]
#[case::slice(json::<EndpointSlice>, r#"{"endpoints":[{"targetRef":{"uid":{}}}]}"#, "EndpointSlice: endpoints[0].targetRef.uid")]
fn json_error_contains_path(#[case] read: Read, #[case] document: &str, #[case] path: &str) {
    let error = read(document.as_bytes()).unwrap_err().to_string();
    assert!(error.starts_with(&format!("cannot decode {path}")), "{error}");
}

#[rstest]
#[case::metadata(protobuf::<Pod>, b"\x0a\x02\x0a\x09", "Pod", "1.1")]
#[case::varint(protobuf::<Pod>, b"\x12\x02\x50\x01", "Pod", "2.10")]
#[case::time(protobuf::<Service>, b"\x0a\x02\x40\x01", "Service", "1.8")]
#[case::number_for_text(protobuf::<EndpointSlice>, b"\x20\x01", "EndpointSlice", "4")]
fn protobuf_error_contains_field(#[case] read: Read, #[case] message: &[u8], #[case] kind: &str, #[case] field: &str) {
    let error = read(message).unwrap_err().to_string();
    assert!(error.contains(kind) && error.contains(&format!("field {field}")), "{error}");
}

#[test]
fn invalid_utf8_bytes_are_replaced() {
    let slice = EndpointSlice::from_protobuf(b"\x22\x02a\xff").unwrap();
    assert_eq!(slice.address_type.as_str(), "a\u{fffd}");
}
