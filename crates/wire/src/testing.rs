//! A test type, `Thing`, and its encodings.

use serde::Deserialize;

use crate::{
    Decode, DecodeError, ObjectHead, Resource, json,
    protobuf::{Fields, MalformedProtobuf, Writer},
};

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub(crate) struct Thing {
    pub(crate) metadata: ObjectHead,
    #[serde(default)]
    pub(crate) size: u32,
}

crate::object!(Thing);

impl Decode for Thing {
    const RESOURCE: Resource = Resource::namespaced("", "v1", "things", "Thing");
    const PROTOBUF: bool = true;

    fn from_json(bytes: &[u8]) -> Result<Self, DecodeError> {
        json::from_slice("Thing", bytes)
    }

    fn from_protobuf(bytes: &[u8]) -> Result<Self, DecodeError> {
        fn read(bytes: &[u8]) -> Result<Thing, MalformedProtobuf> {
            let mut thing = Thing { metadata: ObjectHead::default(), size: 0 };
            for field in Fields::new(bytes) {
                let field = field?;
                match field.number {
                    1 => thing.metadata = ObjectHead::from_fields(field.message()?)?,
                    2 => thing.size = field.as_i32()?.try_into().unwrap_or_default(),
                    _ => {}
                }
            }
            Ok(thing)
        }
        read(bytes).map_err(|error| error.reading("Thing"))
    }
}

/// Encodes a protobuf field of type `bytes`.
pub(crate) fn bytes(number: u8, content: &[u8]) -> Vec<u8> {
    let mut field = Writer::default();
    field.bytes(number.into(), content);
    field.as_bytes().to_vec()
}

pub(crate) fn text(number: u8, content: &str) -> Vec<u8> {
    bytes(number, content.as_bytes())
}

/// Encodes a `Thing` in the namespace `x` as protobuf.
pub(crate) fn thing(name: &str, version: &str, size: u8) -> Vec<u8> {
    let metadata = [text(1, name), text(3, "x"), text(5, "u"), text(6, version)].concat();
    [bytes(1, &metadata), vec![2 << 3, size]].concat()
}

/// Wraps an object of API version `v1` in the protobuf envelope.
pub(crate) fn envelope(kind: &str, object: &[u8]) -> Vec<u8> {
    envelope_of("v1", kind, object)
}

/// Wraps an object in the protobuf envelope.
pub(crate) fn envelope_of(api_version: &str, kind: &str, object: &[u8]) -> Vec<u8> {
    let type_meta = [text(1, api_version), text(2, kind)].concat();
    [b"k8s\0".to_vec(), bytes(1, &type_meta), bytes(2, object), bytes(3, b""), bytes(4, b"")].concat()
}

/// Encodes a list in the protobuf envelope; `remainingItemCount` is 4.
pub(crate) fn list(kind: &str, version: &str, items: &[Vec<u8>]) -> Vec<u8> {
    let metadata = [text(1, ""), text(2, version), text(3, "c"), vec![4 << 3, 4]].concat();
    let items = items.iter().map(|item| bytes(2, item)).collect::<Vec<_>>();
    envelope(kind, &[bytes(1, &metadata), items.concat()].concat())
}

/// Encodes a watch frame with its length prefix.
pub(crate) fn frame(event: &str, object: &[u8]) -> Vec<u8> {
    let frame = [text(1, event), bytes(2, &bytes(1, object))].concat();
    [u32::try_from(frame.len()).unwrap().to_be_bytes().to_vec(), frame].concat()
}
