//! Lists and watches of any length, made of recorded Pods of a real API server.

use std::convert::identity;
use std::hint::black_box;

use k8s_pb::api::core::v1::PodList;
use k8s_pb::apimachinery::pkg::apis::meta::v1 as meta;
use k8s_pb::apimachinery::pkg::runtime::{RawExtension, TypeMeta, Unknown};
use kube_wire::{Decode, DecodeError, Encoding, Object, Resource, ResourceVersion, Uid};
use prost::Message as _;

use crate::pods::{recorded_json, recorded_protobuf};

/// Resource of the Pods.
pub const PODS: Resource = Resource::namespaced("", "v1", "pods", "Pod");

/// Pod of which nothing is decoded.
#[derive(Debug)]
pub struct Found;

impl Object for Found {
    fn namespace(&self) -> &'static str {
        ""
    }

    fn name(&self) -> &'static str {
        "found"
    }

    fn uid(&self) -> Uid {
        Uid::default()
    }

    fn resource_version(&self) -> ResourceVersion {
        ResourceVersion::default()
    }
}

impl Decode for Found {
    const RESOURCE: Resource = PODS;
    const PROTOBUF: bool = true;

    fn from_json(bytes: &[u8]) -> Result<Self, DecodeError> {
        black_box(bytes);
        Ok(Self)
    }

    fn from_protobuf(bytes: &[u8]) -> Result<Self, DecodeError> {
        Self::from_json(bytes)
    }
}

fn pods(encoding: Encoding) -> Vec<Vec<u8>> {
    match encoding {
        Encoding::Json => recorded_json().iter().map(|pod| pod.to_string().into_bytes()).collect(),
        Encoding::Protobuf => recorded_protobuf().iter().map(prost::Message::encode_to_vec).collect(),
    }
}

fn envelope(kind: &str, raw: Vec<u8>) -> Vec<u8> {
    let type_meta = Some(TypeMeta { api_version: Some("v1".to_owned()), kind: Some(kind.to_owned()) });
    let unknown = Unknown { type_meta, raw: Some(raw), ..Unknown::default() };
    [b"k8s\0".to_vec(), unknown.encode_to_vec()].concat()
}

/// Encodes a list of `count` Pods.
pub fn list(encoding: Encoding, count: usize) -> Vec<u8> {
    let pods = pods(encoding);
    let items = pods.iter().cycle().take(count);
    match encoding {
        Encoding::Json => {
            let mut body =
                br#"{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"7"},"items":["#.to_vec();
            for (at, pod) in items.enumerate() {
                body.extend_from_slice(if at == 0 { b"" } else { b"," });
                body.extend_from_slice(pod);
            }
            body.extend_from_slice(b"]}\n");
            body
        }
        Encoding::Protobuf => {
            let metadata = meta::ListMeta { resource_version: Some("7".to_owned()), ..meta::ListMeta::default() };
            let mut raw = PodList { metadata: Some(metadata), items: Vec::new() }.encode_to_vec();
            for pod in items {
                // Tag of field 2 (`items`), wire type 2.
                raw.push(2 << 3 | 2);
                prost::encoding::encode_varint(pod.len() as u64, &mut raw);
                raw.extend_from_slice(pod);
            }
            envelope("PodList", raw)
        }
    }
}

/// Encodes a watch of `count` `MODIFIED` events.
pub fn watch(encoding: Encoding, count: usize) -> Vec<u8> {
    let frame = |pod: &Vec<u8>| match encoding {
        Encoding::Json => [br#"{"type":"MODIFIED","object":"#, pod.as_slice(), b"}\n"].concat(),
        Encoding::Protobuf => {
            let object = Some(RawExtension { raw: Some(envelope("Pod", pod.clone())) });
            let event = meta::WatchEvent { r#type: Some("MODIFIED".to_owned()), object }.encode_to_vec();
            [&u32::try_from(event.len()).expect("frame length fits into u32").to_be_bytes()[..], &event].concat()
        }
    };
    let frames: Vec<Vec<u8>> = pods(encoding).iter().map(frame).collect();
    frames.iter().cycle().take(count).flat_map(identity::<&Vec<u8>>).copied().collect()
}
