//! Zero-copy reader and a writer of protobuf messages, field by field, without generated code.
//!
//! A decoder that needs a few of the several hundred fields of a Pod iterates over the message once. Skipping a field
//! costs reading its tag and length.
//!
//! ```
//! use std::borrow::Cow;
//!
//! use kube_wire::protobuf::{Fields, MalformedProtobuf};
//!
//! /// `metadata.name` of any Kubernetes object: field 1 of field 1.
//! fn name(object: &[u8]) -> Result<Cow<'_, str>, MalformedProtobuf> {
//!     let mut name = Cow::default();
//!     for field in Fields::new(object) {
//!         let field = field?;
//!         if field.number == 1 {
//!             for field in field.message()? {
//!                 let field = field?;
//!                 if field.number == 1 {
//!                     name = field.text()?;
//!                 }
//!             }
//!         }
//!     }
//!     Ok(name)
//! }
//!
//! assert_eq!(name(b"\x0a\x05\x0a\x03web\x12\x02\x08\x07"), Ok("web".into()));
//! let error = name(b"\x0a\x05\x0a\x09web").unwrap_err();
//! assert_eq!(error.to_string(), "field 1.1: unexpected end of message");
//! ```

mod envelope;
pub mod fields;
mod header;
mod metadata;
mod path;
mod writer;

use std::{borrow::Cow, str};

use self::fields::{map_entry, time};
pub use self::{
    envelope::Envelope,
    path::Path,
    writer::{Writer, enveloped},
};
pub(crate) use self::{
    envelope::{MAGIC, no_envelope, type_meta},
    header::FieldHeader,
};
use crate::text::lossy;

/// Iterator over the fields of one message, in encoded order, unknown fields included.
///
/// It ends after the first error. Nested messages are read only by [`Field::message`], so the depth of recursion does
/// not depend on the input.
#[derive(Debug, Clone)]
pub struct Fields<'a> {
    rest: &'a [u8],
    path: Path,
}

/// Field of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Field<'a> {
    /// Field number.
    pub number: u32,
    /// Undecoded value.
    pub value: Value<'a>,
    path: Path,
}

/// Value of a field by wire type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Value<'a> {
    /// Wire type 0: integers, booleans and enums.
    Varint(u64),
    /// Wire type 1: `fixed64`, `sfixed64` or `double`.
    Fixed64(u64),
    /// Wire type 2: strings, bytes, messages, map entries and packed repeated fields.
    Bytes(&'a [u8]),
    /// Wire type 5: `fixed32`, `sfixed32` or `float`.
    Fixed32(u32),
}

/// Error of reading a message: a field and what is wrong with it.
///
/// It does not allocate. [`MalformedProtobuf::reading`] converts it into a [`DecodeError`](crate::DecodeError).
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{path}: {problem}")]
pub struct MalformedProtobuf {
    /// Path of field numbers.
    pub path: Path,
    /// What is wrong with the field.
    pub problem: Problem,
}

/// Reasons why a field cannot be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Problem {
    /// The message ends within the tag, the length or the value of the field.
    #[error("unexpected end of message")]
    Truncated,
    /// A varint has more than 64 bits.
    #[error("varint exceeds 64 bits")]
    Overlong,
    /// The field number is not in 1 to 2^29-1.
    #[error("invalid field number")]
    Number,
    /// A group, a deprecated encoding that Kubernetes does not use.
    #[error("groups are not supported")]
    Group,
    /// A wire type that protobuf does not define.
    #[error("unknown wire type {0}")]
    WireType(u64),
    /// The value does not have the type that the decoder expects.
    #[error("expected {expected}")]
    Expected {
        /// Expected type or value.
        expected: &'static str,
    },
    /// The bytes do not begin with the envelope's magic number `k8s\0`.
    #[error("no Kubernetes envelope")]
    NoEnvelope,
    /// A string of the envelope or watch event is not valid UTF-8.
    #[error("invalid UTF-8")]
    Utf8,
}

/// Time as encoded by `metav1.Time`, `metav1.MicroTime` and `google.protobuf.Timestamp`.
///
/// The Go decoder ignores `nanos` of a `metav1.Time` and truncates those of a `metav1.MicroTime` to microseconds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Timestamp {
    /// Seconds since the Unix epoch; negative before it.
    pub seconds: i64,
    /// Nanoseconds within the second.
    pub nanos: i32,
}

impl<'a> Fields<'a> {
    /// Returns the fields of a top-level message; paths of errors start here.
    pub fn new(message: &'a [u8]) -> Self {
        Self { rest: message, path: Path::default() }
    }

    /// Returns the bytes of the fields that were not read yet.
    pub fn rest(&self) -> &'a [u8] {
        self.rest
    }

    fn field(&mut self) -> Result<Field<'a>, MalformedProtobuf> {
        let tag = varint(&mut self.rest).map_err(|problem| problem.at(self.path))?;
        let number = number(tag).map_err(|problem| problem.at(self.path))?;
        let path = self.path.child(number);
        let value = match tag & 7 {
            0 => varint(&mut self.rest).map(Value::Varint),
            1 => self.array().map(|bytes| Value::Fixed64(u64::from_le_bytes(bytes))),
            2 => varint(&mut self.rest).and_then(|length| self.take(length)).map(Value::Bytes),
            3 | 4 => Err(Problem::Group),
            5 => self.array().map(|bytes| Value::Fixed32(u32::from_le_bytes(bytes))),
            other => Err(Problem::WireType(other)),
        };
        let value = value.map_err(|problem| problem.at(path))?;
        Ok(Field { number, value, path })
    }

    fn take(&mut self, length: u64) -> Result<&'a [u8], Problem> {
        let length = usize::try_from(length).map_err(|_| Problem::Truncated)?;
        let (taken, rest) = self.rest.split_at_checked(length).ok_or(Problem::Truncated)?;
        self.rest = rest;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], Problem> {
        let (taken, rest) = self.rest.split_first_chunk().ok_or(Problem::Truncated)?;
        self.rest = rest;
        Ok(*taken)
    }
}

impl<'a> Iterator for Fields<'a> {
    type Item = Result<Field<'a>, MalformedProtobuf>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        if self.rest.is_empty() {
            return None;
        }
        let field = self.field();
        if field.is_err() {
            self.rest = &[];
        }
        Some(field)
    }
}

impl<'a> Field<'a> {
    /// Returns the bytes of a `bytes` field, a string or a message.
    ///
    /// # Errors
    ///
    /// [`Problem::Expected`] for any other wire type.
    pub fn as_bytes(&self) -> Result<&'a [u8], MalformedProtobuf> {
        match self.value {
            Value::Bytes(bytes) => Ok(bytes),
            _ => Err(self.expected("bytes")),
        }
    }

    /// Returns the value of a `string` field. Each byte of invalid UTF-8 becomes U+FFFD; Go accepts such strings.
    ///
    /// # Errors
    ///
    /// [`Problem::Expected`] if the wire type is not 2.
    pub fn text(&self) -> Result<Cow<'a, str>, MalformedProtobuf> {
        self.as_bytes().map(lossy)
    }

    /// Returns the value of a `string` field that must be valid UTF-8.
    pub(crate) fn utf8(&self) -> Result<&'a str, MalformedProtobuf> {
        str::from_utf8(self.as_bytes()?).map_err(|_| self.error(Problem::Utf8))
    }

    /// Returns the value of an `int64` field.
    ///
    /// # Errors
    ///
    /// [`Problem::Expected`] if the value is not a varint.
    pub fn as_i64(&self) -> Result<i64, MalformedProtobuf> {
        match self.value {
            Value::Varint(number) => Ok(number.cast_signed()),
            _ => Err(self.expected("a number")),
        }
    }

    /// Returns the value of an `int32` field. Larger values are truncated to 32 bits, as protobuf prescribes.
    ///
    /// # Errors
    ///
    /// [`Problem::Expected`] if the value is not a varint.
    #[expect(clippy::cast_possible_truncation, reason = "what protobuf prescribes")]
    pub fn as_i32(&self) -> Result<i32, MalformedProtobuf> {
        self.as_i64().map(|number| number as i32)
    }

    /// Returns the value of a `bool` field.
    ///
    /// # Errors
    ///
    /// [`Problem::Expected`] if the value is not a varint.
    pub fn as_bool(&self) -> Result<bool, MalformedProtobuf> {
        self.as_i64().map(|number| number != 0)
    }

    /// Returns the fields of a nested message.
    ///
    /// # Errors
    ///
    /// [`Problem::Expected`] if the wire type is not 2. The iterator yields the errors of the message.
    pub fn message(&self) -> Result<Fields<'a>, MalformedProtobuf> {
        match self.value {
            Value::Bytes(rest) => Ok(Fields { rest, path: self.path }),
            _ => Err(self.expected("a message")),
        }
    }

    /// Returns key and value of an entry of a `map<string, string>`; an absent key or value is empty.
    ///
    /// # Errors
    ///
    /// The field is not a message, the message is malformed, or key or value are not strings.
    pub fn entry(&self) -> Result<(Cow<'a, str>, Cow<'a, str>), MalformedProtobuf> {
        let (mut key, mut value) = (Cow::default(), Cow::default());
        for field in self.message()? {
            let field = field?;
            match field.number {
                map_entry::KEY => key = field.text()?,
                map_entry::VALUE => value = field.text()?,
                _ => {}
            }
        }
        Ok((key, value))
    }

    /// Returns the value of a `Time` or `MicroTime` field; `None` for an empty message, which Kubernetes sends for an
    /// unset time.
    ///
    /// # Errors
    ///
    /// The field is not a message, the message is malformed, or seconds or nanoseconds are not varints.
    pub fn time(&self) -> Result<Option<Timestamp>, MalformedProtobuf> {
        let mut time = None;
        for field in self.message()? {
            let field = field?;
            let time: &mut Timestamp = time.get_or_insert_default();
            match field.number {
                time::SECONDS => time.seconds = field.as_i64()?,
                time::NANOS => time.nanos = field.as_i32()?,
                _ => {}
            }
        }
        Ok(time)
    }

    /// Returns the error that this field is not `expected`.
    pub fn expected(&self, expected: &'static str) -> MalformedProtobuf {
        self.error(Problem::Expected { expected })
    }

    fn error(&self, problem: Problem) -> MalformedProtobuf {
        problem.at(self.path)
    }
}

impl Problem {
    pub(crate) fn at(self, path: Path) -> MalformedProtobuf {
        MalformedProtobuf { path, problem: self }
    }

    /// Returns the error for a field of the top-level message.
    pub(crate) fn of_field(self, number: u32) -> MalformedProtobuf {
        self.at(Path::default().child(number))
    }
}

fn number(tag: u64) -> Result<u32, Problem> {
    let number = u32::try_from(tag >> 3).ok().filter(|number| (1..1 << 29).contains(number));
    number.ok_or(Problem::Number)
}

/// Reads a varint: seven bits per byte, least significant first.
#[inline]
fn varint(rest: &mut &[u8]) -> Result<u64, Problem> {
    // Fast path: nearly all tags and lengths are one byte.
    if let [byte @ 0..0x80, tail @ ..] = *rest {
        *rest = tail;
        return Ok(u64::from(*byte));
    }
    long_varint(rest)
}

fn long_varint(rest: &mut &[u8]) -> Result<u64, Problem> {
    let mut number = 0;
    for (at, byte) in rest.iter().enumerate().take(10) {
        // Nine bytes hold 63 bits, so the tenth byte may hold only one.
        if at == 9 && *byte > 1 {
            return Err(Problem::Overlong);
        }
        number |= u64::from(byte & 0x7f) << (7 * at);
        if *byte < 0x80 {
            *rest = &rest[at + 1..];
            return Ok(number);
        }
    }
    Err(Problem::Truncated)
}

#[cfg(test)]
mod tests;
