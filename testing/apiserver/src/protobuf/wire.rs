//! Reader of the protobuf wire format.
//!
//! Text that is not UTF-8 is an error, since JSON cannot store it. Not the reader of `kube-wire`, which is tested against this
//! crate: a defect of a shared reader would cancel out.

use prost::encoding::{DecodeContext, WireType, decode_key, decode_varint, skip_field};

/// Reason why bytes are not a valid message.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Malformed {
    /// The prefix of a Kubernetes protobuf document is missing.
    #[error("provided data does not appear to be a protobuf message, expected prefix [107 56 115 0]")]
    NoPrefix,
    #[error(transparent)]
    Wire(#[from] prost::DecodeError),
    /// The input ends before the announced length.
    #[error("unexpected EOF")]
    Truncated,
    #[error("proto: wrong wireType for field {0}")]
    WrongWire(u32),
    #[error("proto: field {0} contains invalid UTF-8")]
    NotText(u32),
    /// The value has no JSON form, such as a time outside of years 0000 to 9999.
    #[error("proto: field {0} has no valid value")]
    NoValue(u32),
    /// The kind of the document has no protobuf encoding.
    #[error("no kind with a protobuf encoding has this name in this version")]
    UnknownKind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum WireValue<'a> {
    Varint(u64),
    Bytes(&'a [u8]),
    /// Value of a wire type that no field of Kubernetes has.
    Other,
}

impl<'a> WireValue<'a> {
    pub(super) fn bytes(self, number: u32) -> Result<&'a [u8], Malformed> {
        match self {
            WireValue::Bytes(bytes) => Ok(bytes),
            _ => Err(Malformed::WrongWire(number)),
        }
    }

    pub(super) fn text(self, number: u32) -> Result<&'a str, Malformed> {
        std::str::from_utf8(self.bytes(number)?).map_err(|_| Malformed::NotText(number))
    }

    pub(super) fn integer(self, number: u32) -> Result<i64, Malformed> {
        match self {
            // Negative integers are encoded as their two's complement.
            WireValue::Varint(value) => Ok(value.cast_signed()),
            _ => Err(Malformed::WrongWire(number)),
        }
    }
}

/// Iterates over the fields of a message.
#[derive(Debug)]
pub(super) struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    /// Returns number and value of the next field; `None` at the end.
    pub(super) fn next(&mut self) -> Result<Option<(u32, WireValue<'a>)>, Malformed> {
        if self.is_empty() {
            return Ok(None);
        }
        let (number, wire_type) = decode_key(&mut self.0)?;
        let value = match wire_type {
            WireType::Varint => WireValue::Varint(self.varint()?),
            WireType::LengthDelimited => {
                let length = usize::try_from(self.varint()?).map_err(|_| Malformed::Truncated)?;
                let (bytes, rest) = self.0.split_at_checked(length).ok_or(Malformed::Truncated)?;
                self.0 = rest;
                WireValue::Bytes(bytes)
            }
            other => {
                skip_field(other, number, &mut self.0, DecodeContext::default())?;
                WireValue::Other
            }
        };
        Ok(Some((number, value)))
    }

    pub(super) fn varint(&mut self) -> Result<u64, Malformed> {
        Ok(decode_varint(&mut self.0)?)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}
