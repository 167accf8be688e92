//! Writer of protobuf messages.

use std::fmt::{self, Display, Write as _};

use super::{
    MAGIC,
    fields::{map_entry, time, type_meta, unknown},
};
use crate::Resource;

/// Writer of one protobuf message, field by field. The caller writes fields in the order of their numbers.
///
/// As Go's encoders of Kubernetes, it writes every field that it is given, empty and zero ones included.
///
/// ```
/// use kube_wire::protobuf::Writer;
///
/// let mut message = Writer::default();
/// message.text(1, "web");
/// message.message(2, |port| port.number(3, 80));
/// assert_eq!(message.as_bytes(), b"\x0a\x03web\x12\x02\x18\x50");
/// ```
#[derive(Debug, Default)]
pub struct Writer {
    bytes: Vec<u8>,
}

impl Writer {
    /// Returns a writer whose buffer has this capacity in bytes.
    pub fn with_capacity(capacity: usize) -> Self {
        Self { bytes: Vec::with_capacity(capacity) }
    }

    /// Returns the bytes written so far.
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Writes a `string` field.
    pub fn text(&mut self, number: u32, text: &str) {
        self.bytes(number, text.as_bytes());
    }

    /// Writes a `bytes` field, or an encoded message.
    pub fn bytes(&mut self, number: u32, bytes: &[u8]) {
        self.tag(number, 2);
        self.varint(bytes.len() as u64);
        self.bytes.extend_from_slice(bytes);
    }

    /// Writes the text form of a value as a `string` field.
    pub fn display(&mut self, number: u32, value: &impl Display) {
        self.message(number, |content| {
            // Writing to a buffer in memory cannot fail.
            let _ = write!(content, "{value}");
        });
    }

    /// Writes an `int32` or `int64` field.
    pub fn number(&mut self, number: u32, value: impl Into<i64>) {
        self.tag(number, 0);
        self.varint(value.into().cast_unsigned());
    }

    /// Writes a `bool` field.
    pub fn boolean(&mut self, number: u32, value: bool) {
        self.number(number, value);
    }

    /// Writes a `Time` field of `metav1`, in seconds since the Unix epoch; an empty message for `None`.
    pub fn time(&mut self, number: u32, seconds: Option<i64>) {
        self.message(number, |time| {
            if let Some(seconds) = seconds {
                time.number(time::SECONDS, seconds);
                time.number(time::NANOS, 0);
            }
        });
    }

    /// Writes an entry of a `map<string, string>`.
    pub fn entry(&mut self, number: u32, key: &str, value: &str) {
        self.message(number, |entry| {
            entry.text(map_entry::KEY, key);
            entry.text(map_entry::VALUE, value);
        });
    }

    /// Writes a message field, whose fields `write` writes.
    pub fn message(&mut self, number: u32, write: impl FnOnce(&mut Writer)) {
        self.tag(number, 2);
        let start = self.bytes.len();
        // Room for a length of one byte; longer messages are moved.
        self.bytes.push(0);
        write(self);
        let length = self.bytes.len() - start - 1;
        if let Ok(short @ 0..0x80) = u8::try_from(length) {
            self.bytes[start] = short;
            return;
        }
        let mut prefix = Writer::default();
        prefix.varint(length as u64);
        self.bytes.splice(start..=start, prefix.bytes);
    }

    fn tag(&mut self, number: u32, wire_type: u64) {
        self.varint(u64::from(number) << 3 | wire_type);
    }

    fn varint(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.bytes.push((value & 0x7f) as u8 | 0x80);
            value >>= 7;
        }
        self.bytes.push((value & 0x7f) as u8);
    }
}

impl fmt::Write for Writer {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.bytes.extend_from_slice(text.as_bytes());
        Ok(())
    }
}

/// Returns the message of an object in the envelope in which it is sent to an API server.
pub fn enveloped(resource: &Resource, object: &[u8]) -> Vec<u8> {
    let mut envelope = Writer::with_capacity(object.len() + 64);
    envelope.bytes.extend_from_slice(&MAGIC);
    envelope.message(unknown::TYPE_META, |meta| {
        meta.display(type_meta::API_VERSION, &resource.api_version());
        meta.text(type_meta::KIND, resource.kind);
    });
    envelope.bytes(unknown::RAW, object);
    // As Go: content encoding and content type are empty.
    envelope.text(unknown::CONTENT_ENCODING, "");
    envelope.text(unknown::CONTENT_TYPE, "");
    envelope.bytes
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::{Envelope, Fields, Value};
    use super::*;

    proptest! {
        #[test]
        fn written_fields_are_read_again(text in ".{0,300}", number: i64, flag: bool, field in 1_u32..1 << 29) {
            let mut writer = Writer::default();
            writer.message(field, |it| {
                it.text(field, &text);
                it.number(field, number);
                it.boolean(field, flag);
                it.entry(field, &text, "value");
                it.display(field, &number);
                it.time(field, Some(number));
                it.time(field, None);
            });
            let outer: Vec<_> = Fields::new(writer.as_bytes()).collect::<Result<_, _>>().unwrap();
            prop_assert_eq!(outer.len(), 1);
            let fields: Vec<_> = outer[0].message().unwrap().collect::<Result<_, _>>().unwrap();
            prop_assert!(fields.iter().all(|it| it.number == field));
            prop_assert_eq!(fields[0].text().unwrap(), &*text);
            prop_assert_eq!(fields[1].as_i64().unwrap(), number);
            prop_assert_eq!(fields[2].as_bool().unwrap(), flag);
            prop_assert_eq!(fields[3].entry().unwrap(), (text.into(), "value".into()));
            prop_assert_eq!(fields[4].text().unwrap(), number.to_string());
            prop_assert_eq!(fields[5].time().unwrap().map(|time| time.seconds), Some(number));
            prop_assert_eq!(fields[6].value, Value::Bytes(b""));
        }
    }

    #[test]
    fn an_object_is_sent_in_an_envelope() {
        let resource = Resource::namespaced("discovery.k8s.io", "v1", "endpointslices", "EndpointSlice");
        let body = enveloped(&resource, b"object");
        let expect = Envelope { kind: "EndpointSlice", api_version: "discovery.k8s.io/v1", object: b"object" };
        assert_eq!(Envelope::open(&body), Ok(expect));
    }
}
