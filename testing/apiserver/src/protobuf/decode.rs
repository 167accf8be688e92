//! Decodes protobuf to JSON.
//!
//! The result is the JSON that Go would encode: zero values of non-pointer fields are absent.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Number, Value};

use super::calendar;
use super::encode::SCHEMA;
use super::numbers::{self, ONLY};
use super::schema::{Field, Instead, Shape, Type, fields};
use super::wire::{Malformed, Reader, WireValue};

/// Maximum nesting depth of messages. Only `JSONSchemaProps` is recursive.
const MAX_DEPTH: usize = 100;
/// 2^53: below it, every integer is representable as `f64`.
const EXACT: f64 = 9_007_199_254_740_992.0;

/// Decodes the fields of a message into `object`. Fields that are not in the table are ignored.
///
/// # Errors
/// [`Malformed`] if the bytes are not a valid message.
pub(super) fn message(
    name: &str,
    bytes: &[u8],
    depth: usize,
    object: &mut Map<String, Value>,
) -> Result<(), Malformed> {
    if depth > MAX_DEPTH {
        return Err(Malformed::TooDeep);
    }
    let table = fields(name);
    let mut reader = Reader::new(bytes);
    while let Some((number, found)) = reader.next()? {
        let Some(field) = table.iter().find(|field| field.number == number) else { continue };
        let name = || field.name.to_owned();
        match field.shape {
            Shape::Inline => {
                if let Type::Message(inner) = field.of {
                    message(inner, found.bytes(number)?, depth + 1, object)?;
                }
            }
            Shape::Value => {
                let decoded = value(field, found, depth)?;
                if !(is_zero(&decoded) || field.of == Type::Quantity && decoded == "0") {
                    object.insert(name(), decoded);
                }
            }
            Shape::Pointer => {
                object.insert(name(), value(field, found, depth)?);
            }
            Shape::Repeated => {
                let Value::Array(items) = object.entry(name()).or_insert_with(|| Value::Array(Vec::new())) else {
                    continue;
                };
                repeated(field, found, depth, items)?;
            }
            Shape::Map => {
                let (key, decoded) = entry(field, found.bytes(number)?, depth)?;
                if let Value::Object(map) = object.entry(name()).or_insert_with(|| Value::Object(Map::new())) {
                    map.insert(key, decoded);
                }
            }
        }
    }
    Ok(())
}

/// Decodes a repeated field. Integers can be packed into one value.
fn repeated(field: &Field, found: WireValue<'_>, depth: usize, items: &mut Vec<Value>) -> Result<(), Malformed> {
    match (field.of, found) {
        (Type::Integer, WireValue::Bytes(packed)) => {
            let mut packed = Reader::new(packed);
            while !packed.is_empty() {
                items.push(packed.varint()?.cast_signed().into());
            }
        }
        _ => items.push(value(field, found, depth)?),
    }
    Ok(())
}

fn entry(field: &Field, bytes: &[u8], depth: usize) -> Result<(String, Value), Malformed> {
    let mut key = "";
    let mut decoded = None;
    let mut reader = Reader::new(bytes);
    while let Some((number, found)) = reader.next()? {
        match number {
            numbers::entry::KEY => key = found.text(number)?,
            numbers::entry::VALUE => decoded = Some(value(field, found, depth)?),
            _ => {}
        }
    }
    let decoded = match decoded {
        Some(decoded) => decoded,
        // A missing value is the zero value.
        None => value(field, WireValue::Bytes(&[]), depth)?,
    };
    Ok((key.to_owned(), decoded))
}

fn value(field: &Field, found: WireValue<'_>, depth: usize) -> Result<Value, Malformed> {
    let number = field.number;
    Ok(match field.of {
        Type::Text => found.text(number)?.into(),
        Type::Integer => found.integer(number)?.into(),
        Type::Boolean => (found.integer(number)? != 0).into(),
        Type::Double => double(found.double(number)?).ok_or(Malformed::NoValue(number))?,
        Type::Bytes => STANDARD.encode(found.bytes(number)?).into(),
        Type::Time => time(number, found.bytes(number)?, false)?,
        Type::MicroTime => time(number, found.bytes(number)?, true)?,
        Type::Quantity => only(found.bytes(number)?)?.map_or(Ok(""), |text| text.text(ONLY))?.into(),
        Type::IntOrString => int_or_string(found.bytes(number)?)?,
        Type::Fields | Type::Json => match only(found.bytes(number)?)? {
            Some(raw) => serde_json::from_slice(raw.bytes(ONLY)?).map_err(|_| Malformed::NoValue(number))?,
            None => Value::Null,
        },
        Type::Texts => Value::Array(texts(ONLY, found.bytes(number)?)?),
        Type::SchemaOr(instead) => schema_or(instead, found.bytes(number)?, depth)?,
        Type::Message(inner) => {
            let mut object = Map::new();
            message(inner, found.bytes(number)?, depth + 1, &mut object)?;
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

/// Converts a double to JSON; whole numbers without a fraction, as Go.
#[expect(clippy::cast_possible_truncation, reason = "in range and without a fraction")]
fn double(number: f64) -> Option<Value> {
    if number.fract() == 0.0 && number.abs() < EXACT {
        return Some((number as i64).into());
    }
    Number::from_f64(number).map(Value::Number)
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
            numbers::time::SECONDS => seconds = found.integer(field)?,
            numbers::time::NANOS => nanoseconds = found.integer(field)?,
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
            numbers::int_or_string::TYPE => is_text = found.integer(number)? == 1,
            numbers::int_or_string::INTEGER => integer = found.integer(number)?,
            numbers::int_or_string::TEXT => text = found.text(number)?,
            _ => {}
        }
    }
    Ok(if is_text { text.into() } else { integer.into() })
}

fn texts(number: u32, bytes: &[u8]) -> Result<Vec<Value>, Malformed> {
    let mut texts = Vec::new();
    let mut reader = Reader::new(bytes);
    while let Some((found, value)) = reader.next()? {
        if found == number {
            texts.push(value.text(number)?.into());
        }
    }
    Ok(texts)
}

fn schema_or(instead: Instead, bytes: &[u8], depth: usize) -> Result<Value, Malformed> {
    let (schema, other) = instead.numbers();
    let mut boolean = false;
    let mut schemas = Vec::new();
    let mut reader = Reader::new(bytes);
    while let Some((number, found)) = reader.next()? {
        let of_schema = Field { number, name: "", shape: Shape::Value, of: Type::Message(SCHEMA) };
        if number == schema {
            return value(&of_schema, found, depth);
        }
        if number == other {
            match instead {
                Instead::Boolean => boolean = found.integer(number)? != 0,
                Instead::Schemas => schemas.push(value(&of_schema, found, depth)?),
                Instead::Texts => {}
            }
        }
    }
    Ok(match instead {
        Instead::Boolean => boolean.into(),
        Instead::Schemas => Value::Array(schemas),
        Instead::Texts => Value::Array(texts(other, bytes)?),
    })
}

/// Returns `true` for zero values, which Go omits from JSON in non-pointer fields.
fn is_zero(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Bool(value) => !value,
        Value::Number(number) => number.as_i64() == Some(0),
        Value::String(text) => text.is_empty(),
        Value::Array(_) => false,
        Value::Object(object) => object.is_empty(),
    }
}
