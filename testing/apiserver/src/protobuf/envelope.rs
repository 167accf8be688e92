//! The `runtime.Unknown` envelope, lists and watch frames.

use serde_json::{Map, Value};

use super::encode::{bytes, delimited, length, message};
use super::numbers::{
    API_VERSION, CONTENT_ENCODING, CONTENT_TYPE, EVENT_OBJECT, EVENT_TYPE, ITEMS, KIND, LIST_METADATA, ONLY, RAW,
    TYPE_META,
};
use super::schema::message_of;
use super::wire::{Malformed, Reader};
use super::{decode, omit};

/// Prefix of every protobuf document.
const MAGIC: &[u8] = b"k8s\0";

/// Encodes an object in its envelope. The object is empty if its kind has no message.
pub(crate) fn envelope(api_version: &str, kind: &str, object: &Map<String, Value>) -> Vec<u8> {
    let mut raw = Vec::new();
    message(message_of(api_version, kind).unwrap_or_default(), object, &mut raw);
    let mut out = Vec::new();
    open(api_version, kind, raw.len(), &mut out);
    out.extend_from_slice(&raw);
    close(&mut out);
    out
}

/// Decodes an object in protobuf, such as the body of a request that a test has intercepted, into the JSON that the server
/// stores. `None` if the bytes are anything else, or of a kind that has no protobuf.
pub fn decode_protobuf(bytes: &[u8]) -> Option<Value> {
    let document = Envelope::open(bytes).ok()?;
    document.read(document.api_version, document.kind).ok().map(Value::Object)
}

/// Decodes a frame of a watch in protobuf, with its length prefix, into the JSON of the event. `None` if the bytes are anything
/// else, or its object is of a kind that has no protobuf.
pub fn decode_watch_frame(frame: &[u8]) -> Option<Value> {
    let mut event = Map::new();
    let mut fields = Reader::new(frame.get(4..)?);
    while let Some((number, value)) = fields.next().ok()? {
        let bytes = value.bytes(number).ok()?;
        match number {
            EVENT_TYPE => event.insert("type".to_owned(), String::from_utf8_lossy(bytes).into()),
            EVENT_OBJECT => {
                let (_, object) = Reader::new(bytes).next().ok()??;
                event.insert("object".to_owned(), decode_protobuf(object.bytes(ONLY).ok()?)?)
            }
            _ => return None,
        };
    }
    Some(event.into())
}

/// A received document: apiVersion, kind and encoded object.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Envelope<'a> {
    /// Empty if absent.
    pub(crate) api_version: &'a str,
    /// Empty if absent.
    pub(crate) kind: &'a str,
    raw: &'a [u8],
}

impl<'a> Envelope<'a> {
    /// Decodes the envelope. Fails with [`Malformed`] if the prefix is missing or the envelope is invalid.
    pub(crate) fn open(bytes: &'a [u8]) -> Result<Self, Malformed> {
        let body = bytes.strip_prefix(MAGIC).ok_or(Malformed::NoPrefix)?;
        let mut document = Self::default();
        let mut fields = Reader::new(body);
        while let Some((number, value)) = fields.next()? {
            match number {
                TYPE_META => {
                    let mut named = Reader::new(value.bytes(number)?);
                    while let Some((number, value)) = named.next()? {
                        match number {
                            API_VERSION => document.api_version = value.text(number)?,
                            KIND => document.kind = value.text(number)?,
                            _ => {}
                        }
                    }
                }
                RAW => document.raw = value.bytes(number)?,
                _ => {}
            }
        }
        Ok(document)
    }

    /// Decodes the object as the given apiVersion and kind. Fails with [`Malformed::UnknownKind`] if the kind has no
    /// message, other variants if the bytes are not a valid message.
    pub(crate) fn read(&self, api_version: &str, kind: &str) -> Result<Map<String, Value>, Malformed> {
        let message = message_of(api_version, kind).ok_or(Malformed::UnknownKind)?;
        let mut object = Map::new();
        decode::message(message, self.raw, &mut object)?;
        omit::omit(message, &mut object);
        object.insert("kind".to_owned(), kind.into());
        object.insert("apiVersion".to_owned(), api_version.into());
        Ok(object)
    }
}

/// Writes `runtime.Unknown` up to the bytes of the object.
fn open(api_version: &str, kind: &str, raw: usize, out: &mut Vec<u8>) {
    out.extend_from_slice(MAGIC);
    delimited(TYPE_META, out, |out| {
        bytes(API_VERSION, api_version.as_bytes(), out);
        bytes(KIND, kind.as_bytes(), out);
    });
    length(RAW, raw, out);
}

/// Writes the empty content encoding and content type.
fn close(out: &mut Vec<u8>) {
    bytes(CONTENT_ENCODING, b"", out);
    bytes(CONTENT_TYPE, b"", out);
}

/// Encodes a `metav1.Status` that is given as JSON.
pub(crate) fn status(json: &[u8]) -> Vec<u8> {
    envelope("v1", "Status", &serde_json::from_slice(json).unwrap_or_default())
}

/// Encodes an object as an item of a list.
pub(crate) fn list_item(api_version: &str, kind: &str, object: &Map<String, Value>) -> Vec<u8> {
    let mut out = Vec::new();
    delimited(ITEMS, &mut out, |out| message(message_of(api_version, kind).unwrap_or_default(), object, out));
    out
}

/// Bytes before and after the items of an encoded list.
pub(crate) struct ListEnvelope {
    pub(crate) head: Vec<u8>,
    pub(crate) tail: Vec<u8>,
}

impl ListEnvelope {
    /// `metadata` is the `ListMeta` as JSON, `items` the size of all encoded items in bytes.
    pub(crate) fn new(api_version: &str, kind: &str, metadata: &Value, items: usize) -> Self {
        let empty = Map::new();
        let mut meta = Vec::new();
        delimited(LIST_METADATA, &mut meta, |out| message("ListMeta", metadata.as_object().unwrap_or(&empty), out));
        let mut head = Vec::new();
        open(api_version, &format!("{kind}List"), meta.len() + items, &mut head);
        head.extend_from_slice(&meta);
        let mut tail = Vec::new();
        close(&mut tail);
        Self { head, tail }
    }
}

/// Encodes a watch event with an enveloped object: a length prefix of four bytes (big-endian), then the event.
pub(crate) fn watch_frame(event: &str, enveloped: &[u8]) -> Vec<u8> {
    let mut body = Vec::new();
    bytes(EVENT_TYPE, event.as_bytes(), &mut body);
    delimited(EVENT_OBJECT, &mut body, |out| bytes(ONLY, enveloped, out));
    // Objects are limited to 3 MiB.
    let mut out = u32::try_from(body.len()).unwrap_or(u32::MAX).to_be_bytes().to_vec();
    out.append(&mut body);
    out
}
