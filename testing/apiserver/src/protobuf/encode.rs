//! Encodes JSON as protobuf.

use prost::encoding::{WireType, encode_key, encode_varint};
use serde_json::{Map, Value};

use super::calendar;
use super::numbers::{INTEGER, IS_TEXT, KEY, NANOS, ONLY, SECONDS, TEXT, VALUE};
use super::schema::{Field, Shape, Type, fields};

/// Appends the fields of a message. Fields that are not in the table are ignored.
pub(super) fn message(name: &str, object: &Map<String, Value>, out: &mut Vec<u8>) {
    for field in fields(name) {
        match field.shape {
            Shape::Inline => {
                if let Type::Message(inner) = field.of {
                    delimited(field.number, out, |out| message(inner, object, out));
                }
            }
            Shape::Value => value(field, object.get(field.name).unwrap_or(&Value::Null), out),
            Shape::Pointer => {
                if let Some(found) = object.get(field.name).filter(|found| !found.is_null()) {
                    value(field, found, out);
                }
            }
            Shape::Repeated => {
                for found in object.get(field.name).and_then(Value::as_array).into_iter().flatten() {
                    value(field, found, out);
                }
            }
            Shape::Map => map(field, object.get(field.name).and_then(Value::as_object), out),
        }
    }
}

/// Appends a map in the order of its keys, as Go.
fn map(field: &Field, entries: Option<&Map<String, Value>>, out: &mut Vec<u8>) {
    let mut entries: Vec<(&String, &Value)> = entries.into_iter().flatten().collect();
    entries.sort_unstable_by_key(|(key, _)| *key);
    for (key, found) in entries {
        delimited(field.number, out, |out| {
            bytes(KEY, key.as_bytes(), out);
            value(&Field { number: VALUE, name: "", shape: Shape::Value, of: field.of }, found, out);
        });
    }
}

fn value(field: &Field, found: &Value, out: &mut Vec<u8>) {
    let number = field.number;
    match field.of {
        Type::Text => bytes(number, found.as_str().unwrap_or_default().as_bytes(), out),
        Type::Integer => integer(number, found.as_i64().unwrap_or_default(), out),
        Type::Boolean => integer(number, i64::from(found.as_bool().unwrap_or_default()), out),
        Type::Bytes => bytes(number, &from_base64(found.as_str().unwrap_or_default()), out),
        Type::Time => delimited(number, out, |out| time(found, false, out)),
        Type::MicroTime => delimited(number, out, |out| time(found, true, out)),
        Type::Quantity => delimited(number, out, |out| {
            let text = match found {
                Value::String(text) => text.clone(),
                Value::Null => "0".to_owned(),
                number => number.to_string(),
            };
            bytes(ONLY, text.as_bytes(), out);
        }),
        Type::IntOrString => delimited(number, out, |out| {
            integer(IS_TEXT, i64::from(found.is_string()), out);
            integer(INTEGER, found.as_i64().unwrap_or_default(), out);
            bytes(TEXT, found.as_str().unwrap_or_default().as_bytes(), out);
        }),
        Type::Fields => delimited(number, out, |out| bytes(ONLY, found.to_string().as_bytes(), out)),
        Type::Message(inner) => delimited(number, out, |out| match found {
            Value::Object(object) => message(inner, object, out),
            // A missing message still contains the fields that are always written.
            _ => message(inner, &Map::new(), out),
        }),
    }
}

/// Writes seconds and nanoseconds; nothing if there is no time.
fn time(found: &Value, with_fraction: bool, out: &mut Vec<u8>) {
    let Some((seconds, nanoseconds)) = found.as_str().and_then(calendar::parse) else { return };
    integer(SECONDS, seconds, out);
    integer(NANOS, i64::from(if with_fraction { nanoseconds } else { 0 }), out);
}

fn from_base64(text: &str) -> Vec<u8> {
    use base64::Engine as _;
    base64::engine::general_purpose::STANDARD.decode(text).unwrap_or_default()
}

/// Writes an integer, a negative one as its two's complement.
fn integer(number: u32, value: i64, out: &mut Vec<u8>) {
    encode_key(number, WireType::Varint, out);
    encode_varint(value.cast_unsigned(), out);
}

pub(super) fn bytes(number: u32, value: &[u8], out: &mut Vec<u8>) {
    length(number, value.len(), out);
    out.extend_from_slice(value);
}

/// Writes the key and length of a field of `length` bytes.
pub(super) fn length(number: u32, length: usize, out: &mut Vec<u8>) {
    encode_key(number, WireType::LengthDelimited, out);
    encode_varint(length as u64, out);
}

/// Writes a field whose length is computed after writing it.
pub(super) fn delimited(number: u32, out: &mut Vec<u8>, write: impl FnOnce(&mut Vec<u8>)) {
    encode_key(number, WireType::LengthDelimited, out);
    let start = out.len();
    write(out);
    let mut prefix = Vec::with_capacity(4);
    encode_varint((out.len() - start) as u64, &mut prefix);
    out.splice(start..start, prefix);
}
