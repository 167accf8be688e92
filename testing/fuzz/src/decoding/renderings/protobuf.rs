//! Renderings in protobuf: fields in another order, repeated, in several parts or unknown.

use kube_wire::protobuf::{Fields, MalformedProtobuf, Value};

use super::{Choices, Shape};

/// Returns a rendering of a message with this shape.
///
/// # Errors
///
/// The message is malformed.
pub fn render(message: &[u8], shape: Shape, choices: &mut Choices) -> Result<Vec<u8>, MalformedProtobuf> {
    Ok(parts(Fields::new(message), shape, choices)?.concat())
}

/// Returns the encoded fields of a rendering of a message.
fn parts(fields: Fields<'_>, shape: Shape, choices: &mut Choices) -> Result<Vec<Vec<u8>>, MalformedProtobuf> {
    let mut written: Vec<(u64, Vec<u8>)> = Vec::new();
    for field in fields {
        let field = field?;
        let group = u64::from(field.number);
        match (shape.field(field.number), field.value) {
            (Some(inner), Value::Bytes(_)) if inner.is_object() => {
                let parts = parts(field.message()?, inner, choices)?;
                // A field that is not repeated may be written in two parts, which protobuf merges.
                let at = if inner.is_repeated() || choices.once_in(2) {
                    parts.len()
                } else {
                    choices.one_of(parts.len() + 1)
                };
                let (first, second) = parts.split_at(at);
                written.push((group, encode(field.number, &Value::Bytes(&first.concat()))));
                if !second.is_empty() {
                    written.push((group, encode(field.number, &Value::Bytes(&second.concat()))));
                }
            }
            (Some(inner), value) => {
                if !inner.is_repeated() && choices.once_in(3) {
                    let earlier = match value {
                        Value::Varint(_) => Value::Varint(9),
                        // Valid as a string, and as a message such as a time.
                        Value::Bytes(_) => Value::Bytes(b"\x08\x05"),
                        other => other,
                    };
                    written.push((group, encode(field.number, &earlier)));
                }
                written.push((group, encode(field.number, &value)));
            }
            (None, value) => written.push((group, encode(field.number, &value))),
        }
    }
    for number in 1000..1004 {
        if choices.once_in(6) {
            let value = [Value::Varint(u64::MAX), Value::Fixed64(7), Value::Bytes(b"\xff\x00"), Value::Fixed32(7)];
            written.push((number.into(), encode(number, &value[choices.one_of(4)])));
        }
    }
    Ok(choices.shuffle(written))
}

fn encode(number: u32, value: &Value<'_>) -> Vec<u8> {
    let (wire_type, content) = match value {
        Value::Varint(number) => (0, varint(*number)),
        Value::Fixed64(number) => (1, number.to_le_bytes().to_vec()),
        Value::Bytes(bytes) => (2, [varint(bytes.len() as u64), bytes.to_vec()].concat()),
        Value::Fixed32(number) => (5, number.to_le_bytes().to_vec()),
    };
    [varint(u64::from(number) << 3 | wire_type), content].concat()
}

fn varint(mut number: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    while number > 0x7f {
        bytes.push(u8::try_from(number & 0x7f).unwrap_or_default() | 0x80);
        number >>= 7;
    }
    bytes.push(u8::try_from(number).unwrap_or_default());
    bytes
}
