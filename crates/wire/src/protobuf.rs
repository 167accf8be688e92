//! Protobuf messages, field by field, without a copy and without generated code.
//!
//! A decoder that wants five of a Pod's four hundred fields walks the message once, descends where it must, and steps over
//! everything else for the price of reading a length.
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
//! assert_eq!(error.to_string(), "field 1.1: the message ends within it");
//! ```

mod envelope;
mod head;
mod metadata;
mod path;

use std::{borrow::Cow, str};

pub use self::{envelope::Envelope, path::Path};
pub(crate) use self::{
    envelope::{MAGIC, no_envelope, type_meta, unknown},
    head::Head,
};
use crate::{DecodeError, text::lossy};

/// The fields of one message, in the order in which they stand.
///
/// Yields each field once, unknown ones too: skipping is up to the caller and costs nothing. After an error it yields no more.
/// Descending is explicit ([`Field::message`]), so the depth is that of the caller's code, whatever the bytes say.
#[derive(Debug, Clone)]
pub struct Fields<'a> {
    rest: &'a [u8],
    path: Path,
}

/// One field of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Field<'a> {
    /// The tag number.
    pub number: u32,
    /// What the bytes hold.
    pub value: Value<'a>,
    path: Path,
}

/// The value of a field, as far as the bytes alone tell its type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Value<'a> {
    /// Integers, booleans and enumerations.
    Varint(u64),
    /// Eight bytes: `fixed64`, `sfixed64` or `double`.
    Fixed64(u64),
    /// Strings, bytes, messages, map entries and packed repetitions.
    Bytes(&'a [u8]),
    /// Four bytes: `fixed32`, `sfixed32` or `float`.
    Fixed32(u32),
}

/// Bytes that are no message of the expected shape. Small and without allocation: use [`MalformedProtobuf::reading`] to
/// make the error of a decoder out of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{path}: {problem}")]
pub struct MalformedProtobuf {
    /// The field, by the numbers that lead to it.
    pub path: Path,
    /// What is wrong with it.
    pub problem: Problem,
}

/// What can be wrong with a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Problem {
    /// The length of the field, or the field itself, reaches beyond the message.
    #[error("the message ends within it")]
    Truncated,
    /// A number takes more than 64 bits.
    #[error("a number is too long")]
    Overlong,
    /// Field numbers are 1 to 2^29-1.
    #[error("no field has this number")]
    Number,
    /// Groups are long deprecated; Kubernetes never wrote one.
    #[error("groups are not supported")]
    Group,
    /// A wire type that protobuf does not define.
    #[error("unknown wire type {0}")]
    WireType(u64),
    /// The value is of another wire type than the field should have.
    #[error("expected {expected}")]
    Expected {
        /// What the reader asked for.
        expected: &'static str,
    },
    /// The bytes do not begin as Kubernetes begins protobuf.
    #[error("no envelope of Kubernetes")]
    NoEnvelope,
    /// A string is not UTF-8.
    #[error("the text is not UTF-8")]
    Utf8,
}

/// A moment as Kubernetes writes it (`meta/v1` `Time`, `MicroTime`; the well-known `Timestamp`).
///
/// API machinery ignores `nanos` where it reads a `Time`, and keeps microseconds of a `MicroTime`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Timestamp {
    /// Since the epoch; negative before it.
    pub seconds: i64,
    /// Within the second.
    pub nanos: i32,
}

impl<'a> Fields<'a> {
    /// The fields of a message that nothing encloses.
    pub fn new(message: &'a [u8]) -> Self {
        Self { rest: message, path: Path::default() }
    }

    fn field(&mut self) -> Result<Field<'a>, MalformedProtobuf> {
        let tag = varint(&mut self.rest).map_err(|problem| problem.at(self.path))?;
        let number = number(tag).map_err(|problem| problem.at(self.path))?;
        let path = self.path.then(number);
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
    /// The raw bytes of a `bytes` field, a string or a message.
    pub fn as_bytes(&self) -> Result<&'a [u8], MalformedProtobuf> {
        match self.value {
            Value::Bytes(bytes) => Ok(bytes),
            _ => Err(self.expected("bytes")),
        }
    }

    /// A `string`. Each byte that is not UTF-8 becomes U+FFFD; Go accepts such strings.
    pub fn text(&self) -> Result<Cow<'a, str>, MalformedProtobuf> {
        self.as_bytes().map(lossy)
    }

    /// A `string` of an envelope, which must be UTF-8.
    pub(crate) fn utf8(&self) -> Result<&'a str, MalformedProtobuf> {
        str::from_utf8(self.as_bytes()?).map_err(|_| self.fails(Problem::Utf8))
    }

    /// An `int64`.
    pub fn as_i64(&self) -> Result<i64, MalformedProtobuf> {
        match self.value {
            Value::Varint(number) => Ok(number.cast_signed()),
            _ => Err(self.expected("a number")),
        }
    }

    /// An `int32`. Like every protobuf reader, takes the lower half of a number that is larger.
    #[expect(clippy::cast_possible_truncation, reason = "what protobuf prescribes")]
    pub fn as_i32(&self) -> Result<i32, MalformedProtobuf> {
        self.as_i64().map(|number| number as i32)
    }

    /// A `bool`.
    pub fn as_bool(&self) -> Result<bool, MalformedProtobuf> {
        self.as_i64().map(|number| number != 0)
    }

    /// The fields of an enclosed message.
    pub fn message(&self) -> Result<Fields<'a>, MalformedProtobuf> {
        match self.value {
            Value::Bytes(rest) => Ok(Fields { rest, path: self.path }),
            _ => Err(self.expected("a message")),
        }
    }

    /// Key and value of an entry of a `map<string, string>`; absent ones are empty.
    pub fn entry(&self) -> Result<(Cow<'a, str>, Cow<'a, str>), MalformedProtobuf> {
        let (mut key, mut value) = (Cow::default(), Cow::default());
        for field in self.message()? {
            let field = field?;
            match field.number {
                1 => key = field.text()?,
                2 => value = field.text()?,
                _ => {}
            }
        }
        Ok((key, value))
    }

    /// A `Time` or `MicroTime`. An empty one is what Kubernetes writes for none.
    pub fn time(&self) -> Result<Option<Timestamp>, MalformedProtobuf> {
        let mut time = None;
        for field in self.message()? {
            let field = field?;
            let time: &mut Timestamp = time.get_or_insert_default();
            match field.number {
                1 => time.seconds = field.as_i64()?,
                2 => time.nanos = field.as_i32()?,
                _ => {}
            }
        }
        Ok(time)
    }

    /// This field is not as the reader wants it.
    pub fn expected(&self, expected: &'static str) -> MalformedProtobuf {
        self.fails(Problem::Expected { expected })
    }

    fn fails(&self, problem: Problem) -> MalformedProtobuf {
        problem.at(self.path)
    }
}

impl Problem {
    pub(crate) fn at(self, path: Path) -> MalformedProtobuf {
        MalformedProtobuf { path, problem: self }
    }

    /// In a field of the outermost message.
    pub(crate) fn of_field(self, number: u32) -> MalformedProtobuf {
        self.at(Path::default().then(number))
    }
}

impl MalformedProtobuf {
    /// The error of a decoder that was reading `kind`.
    pub fn reading(self, kind: &str) -> DecodeError {
        DecodeError::Protobuf { kind: kind.to_owned(), cause: self, resource_version: None }
    }
}

/// The field number in a tag.
fn number(tag: u64) -> Result<u32, Problem> {
    let number = u32::try_from(tag >> 3).ok().filter(|number| (1..1 << 29).contains(number));
    number.ok_or(Problem::Number)
}

/// Reads a number of seven bits a byte, the lowest first.
#[inline]
fn varint(rest: &mut &[u8]) -> Result<u64, Problem> {
    // Nearly all tags and lengths are a single byte.
    if let [byte @ 0..0x80, tail @ ..] = *rest {
        *rest = tail;
        return Ok(u64::from(*byte));
    }
    long_varint(rest)
}

fn long_varint(rest: &mut &[u8]) -> Result<u64, Problem> {
    let mut number = 0;
    for (at, byte) in rest.iter().enumerate().take(10) {
        // The tenth byte has room for one bit.
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
#[path = "protobuf_tests.rs"]
mod tests;
