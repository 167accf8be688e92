//! Reader of the protobuf wire format.
//!
//! Errors have the texts of Go's decoders. As in Go, the tenth byte of a varint may have any value. Text that is not
//! UTF-8 is an error, since JSON cannot store it. The reader of `kube-wire` differs in each of these points: it is for
//! clients. It is also tested against this crate, so a defect of a shared reader would cancel out.

pub(super) const VARINT: u32 = 0;
pub(super) const FIXED_64: u32 = 1;
pub(super) const LENGTH_DELIMITED: u32 = 2;
const FIXED_32: u32 = 5;

/// Reason why bytes are not a valid message, in the wording of Go's decoder where it has one.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Malformed {
    /// The prefix of a Kubernetes protobuf document is missing.
    #[error("provided data does not appear to be a protobuf message, expected prefix [107 56 115 0]")]
    NoPrefix,
    /// The input ends before the announced length.
    #[error("unexpected EOF")]
    Truncated,
    #[error("proto: integer overflow")]
    Overflow,
    #[error("proto: illegal tag 0")]
    NoNumber,
    /// Includes groups, which no Kubernetes message uses.
    #[error("proto: illegal wireType {0}")]
    UnknownWire(u32),
    #[error("proto: wrong wireType for field {0}")]
    WrongWire(u32),
    #[error("proto: field {0} contains invalid UTF-8")]
    NotText(u32),
    /// The value has no JSON form, such as a time outside of years 0000 to 9999, or a NaN.
    #[error("proto: field {0} has no valid value")]
    NoValue(u32),
    /// The kind of the document has no protobuf encoding.
    #[error("the kind has no protobuf encoding")]
    UnknownKind,
}

/// A decoded value of one of the wire types.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum WireValue<'a> {
    Varint(u64),
    Fixed64(u64),
    Fixed32(u32),
    Bytes(&'a [u8]),
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
pub(super) struct Reader<'a> {
    rest: &'a [u8],
}

impl<'a> Reader<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self { rest: bytes }
    }

    /// Returns number and value of the next field; `None` at the end.
    pub(super) fn next(&mut self) -> Result<Option<(u32, WireValue<'a>)>, Malformed> {
        if self.rest.is_empty() {
            return Ok(None);
        }
        let key = self.varint()?;
        let number = u32::try_from(key >> 3).map_err(|_| Malformed::Overflow)?;
        if number == 0 {
            return Err(Malformed::NoNumber);
        }
        let value = match u32::try_from(key & 7).unwrap_or_default() {
            VARINT => WireValue::Varint(self.varint()?),
            FIXED_64 => WireValue::Fixed64(u64::from_le_bytes(self.array()?)),
            FIXED_32 => WireValue::Fixed32(u32::from_le_bytes(self.array()?)),
            LENGTH_DELIMITED => {
                let length = usize::try_from(self.varint()?).map_err(|_| Malformed::Truncated)?;
                let (bytes, rest) = self.rest.split_at_checked(length).ok_or(Malformed::Truncated)?;
                self.rest = rest;
                WireValue::Bytes(bytes)
            }
            unknown => return Err(Malformed::UnknownWire(unknown)),
        };
        Ok(Some((number, value)))
    }

    /// Reads a varint of at most 64 bits.
    pub(super) fn varint(&mut self) -> Result<u64, Malformed> {
        let mut value = 0;
        for shift in (0..u64::BITS).step_by(7) {
            let (byte, rest) = self.rest.split_first().ok_or(Malformed::Truncated)?;
            self.rest = rest;
            value |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Ok(value);
            }
        }
        Err(Malformed::Overflow)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], Malformed> {
        let (array, rest) = self.rest.split_first_chunk().ok_or(Malformed::Truncated)?;
        self.rest = rest;
        Ok(*array)
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::integer(&[0x08, 0x96, 0x01], Ok(Some((1, WireValue::Varint(150)))))]
    #[case::negative(&[0x08, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01], Ok(Some((1, WireValue::Varint(u64::MAX)))))]
    #[case::text(&[0x12, 0x02, b'h', b'i'], Ok(Some((2, WireValue::Bytes(b"hi")))))]
    #[case::double(&[0x09, 0, 0, 0, 0, 0, 0, 0, 0x40], Ok(Some((1, WireValue::Fixed64(1 << 62)))))]
    #[case::float(&[0x0d, 1, 0, 0, 0], Ok(Some((1, WireValue::Fixed32(1)))))]
    #[case::end(&[], Ok(None))]
    #[case::no_value(&[0x08], Err(Malformed::Truncated))]
    #[case::half_a_number(&[0x08, 0x96], Err(Malformed::Truncated))]
    #[case::half_a_text(&[0x12, 0x03, b'h', b'i'], Err(Malformed::Truncated))]
    #[case::half_a_double(&[0x09, 0, 0, 0], Err(Malformed::Truncated))]
    #[case::huge_length(&[0x12, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01], Err(Malformed::Truncated))]
    #[case::too_long_a_number(&[0x08, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x01], Err(Malformed::Overflow))]
    #[case::number_zero(&[0x00, 0x00], Err(Malformed::NoNumber))]
    #[case::group(&[0x0b], Err(Malformed::UnknownWire(3)))]
    fn fields_are_parsed_or_malformed(
        #[case] bytes: &[u8],
        #[case] expect: Result<Option<(u32, WireValue<'_>)>, Malformed>,
    ) {
        assert_eq!(Reader::new(bytes).next(), expect);
    }
}
