//! Decodes protobuf to JSON.
//!
//! Zero values are not omitted, see [`omit`](super::omit).

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value};

use super::calendar;
use super::numbers::{INTEGER, IS_TEXT, KEY, NANOS, ONLY, SECONDS, TEXT, VALUE};
use super::schema::{Field, Shape, Type, fields};
use super::wire::{Malformed, Reader, WireValue};

/// Decodes the fields of a message into `object`. Fields that are not in the table are ignored. Fails with
/// [`Malformed`] if the bytes are not a valid message.
pub(super) fn message(name: &str, bytes: &[u8], object: &mut Map<String, Value>) -> Result<(), Malformed> {
    let table = fields(name);
    let mut reader = Reader::new(bytes);
    while let Some((number, found)) = reader.next()? {
        let Some(field) = table.iter().find(|field| field.number == number) else { continue };
        let name = || field.name.to_owned();
        match field.shape {
            Shape::Inline => {
                if let Type::Message(inner) = field.of {
                    message(inner, found.bytes(number)?, object)?;
                }
            }
            Shape::Value | Shape::Pointer => {
                object.insert(name(), value(field, found)?);
            }
            Shape::Repeated => {
                let Value::Array(items) = object.entry(name()).or_insert_with(|| Value::Array(Vec::new())) else {
                    continue;
                };
                repeated(field, found, items)?;
            }
            Shape::Map => {
                let (key, decoded) = entry(field, found.bytes(number)?)?;
                if let Value::Object(map) = object.entry(name()).or_insert_with(|| Value::Object(Map::new())) {
                    map.insert(key, decoded);
                }
            }
        }
    }
    Ok(())
}

/// Decodes a repeated field. Integers can be packed into one value.
fn repeated(field: &Field, found: WireValue<'_>, items: &mut Vec<Value>) -> Result<(), Malformed> {
    match (field.of, found) {
        (Type::Integer, WireValue::Bytes(packed)) => {
            let mut packed = Reader::new(packed);
            while !packed.is_empty() {
                items.push(packed.varint()?.cast_signed().into());
            }
        }
        _ => items.push(value(field, found)?),
    }
    Ok(())
}

fn entry(field: &Field, bytes: &[u8]) -> Result<(String, Value), Malformed> {
    let mut key = "";
    let mut decoded = None;
    let mut reader = Reader::new(bytes);
    while let Some((number, found)) = reader.next()? {
        match number {
            KEY => key = found.text(number)?,
            VALUE => decoded = Some(value(field, found)?),
            _ => {}
        }
    }
    let decoded = match decoded {
        Some(decoded) => decoded,
        // A missing value is the zero value.
        None => value(field, WireValue::Bytes(&[]))?,
    };
    Ok((key.to_owned(), decoded))
}

fn value(field: &Field, found: WireValue<'_>) -> Result<Value, Malformed> {
    let number = field.number;
    Ok(match field.of {
        Type::Text => found.text(number)?.into(),
        Type::Integer => found.integer(number)?.into(),
        Type::Boolean => (found.integer(number)? != 0).into(),
        Type::Bytes => STANDARD.encode(found.bytes(number)?).into(),
        Type::Time => time(number, found.bytes(number)?, false)?,
        Type::MicroTime => time(number, found.bytes(number)?, true)?,
        Type::Quantity => only(found.bytes(number)?)?.map_or(Ok(""), |text| text.text(ONLY))?.into(),
        Type::IntOrString => int_or_string(found.bytes(number)?)?,
        Type::Fields => match only(found.bytes(number)?)? {
            Some(raw) => serde_json::from_slice(raw.bytes(ONLY)?).map_err(|_| Malformed::NoValue(number))?,
            None => Value::Null,
        },
        Type::Message(inner) => {
            let mut object = Map::new();
            message(inner, found.bytes(number)?, &mut object)?;
            Value::Object(object)
        }
    })
}

/// Returns the value of the only field of a message; the last one if it occurs more than once.
fn only(bytes: &[u8]) -> Result<Option<WireValue<'_>>, Malformed> {
    let mut last = None;
    let mut reader = Reader::new(bytes);
    while let Some((number, found)) = reader.next()? {
        if number == ONLY {
            last = Some(found);
        }
    }
    Ok(last)
}

/// Decodes a time to the format of `metav1.Time` or `metav1.MicroTime`; null if the message is empty.
fn time(number: u32, bytes: &[u8], with_fraction: bool) -> Result<Value, Malformed> {
    if bytes.is_empty() {
        return Ok(Value::Null);
    }
    let (mut seconds, mut nanoseconds) = (0, 0);
    let mut reader = Reader::new(bytes);
    while let Some((field, found)) = reader.next()? {
        match field {
            SECONDS => seconds = found.integer(field)?,
            NANOS => nanoseconds = found.integer(field)?,
            _ => {}
        }
    }
    let nanoseconds = i32::try_from(nanoseconds).map_err(|_| Malformed::NoValue(number))?;
    calendar::print(seconds, nanoseconds, with_fraction).map(Value::String).ok_or(Malformed::NoValue(number))
}

fn int_or_string(bytes: &[u8]) -> Result<Value, Malformed> {
    let (mut is_text, mut integer, mut text) = (false, 0, "");
    let mut reader = Reader::new(bytes);
    while let Some((number, found)) = reader.next()? {
        match number {
            IS_TEXT => is_text = found.integer(number)? == 1,
            INTEGER => integer = found.integer(number)?,
            TEXT => text = found.text(number)?,
            _ => {}
        }
    }
    Ok(if is_text { text.into() } else { integer.into() })
}
