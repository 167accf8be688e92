//! Numbers and text of the format.

use kube_endpoint_model::Text;

/// What is wrong with the content of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub(crate) struct Malformed(pub(crate) &'static str);

/// Content of a frame that is being written.
#[derive(Debug, Default)]
pub(crate) struct Output {
    bytes: Vec<u8>,
    /// Version of the object that is written; 0 if it is no number. It is not repeated in the bytes.
    pub(crate) version: u64,
}

impl Output {
    pub(crate) fn byte(&mut self, byte: u8) {
        self.bytes.push(byte);
    }

    /// Appends a number: seven bits a byte, the lowest first (LEB128).
    pub(crate) fn number(&mut self, mut number: u64) {
        while number >= 0x80 {
            self.bytes.push(number.to_le_bytes()[0] | 0x80);
            number >>= 7;
        }
        self.bytes.push(number.to_le_bytes()[0]);
    }

    /// Appends a number whose absolute value is often small (zigzag).
    pub(crate) fn signed(&mut self, number: i64) {
        self.number((number << 1 ^ number >> 63).cast_unsigned());
    }

    /// Appends the length and the bytes.
    pub(crate) fn bytes(&mut self, bytes: &[u8]) {
        self.number(bytes.len() as u64);
        self.raw(bytes);
    }

    /// Appends the bytes, whose number the reader knows.
    pub(crate) fn raw(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    /// Replaces the byte at a place.
    pub(crate) fn replace(&mut self, at: usize, byte: u8) {
        self.bytes[at] = byte;
    }

    pub(crate) fn as_slice(&self) -> &[u8] {
        &self.bytes
    }

    pub(crate) fn len(&self) -> usize {
        self.bytes.len()
    }

    pub(crate) fn clear(&mut self) {
        self.bytes.clear();
    }
}

/// Content of a frame that is being read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Input<'a> {
    rest: &'a [u8],
    /// Version of the object that is read, unless that is no number.
    pub(crate) version: u64,
}

impl<'a> Input<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Self::of_version(bytes, 0)
    }

    pub(crate) fn of_version(bytes: &'a [u8], version: u64) -> Self {
        Self { rest: bytes, version }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }

    /// Returns the number of bytes that are not read yet.
    pub(crate) fn len(&self) -> usize {
        self.rest.len()
    }

    /// Returns the bytes that are not read yet.
    pub(crate) fn rest(&self) -> &'a [u8] {
        self.rest
    }

    pub(crate) fn byte(&mut self) -> Result<u8, Malformed> {
        let (first, rest) = self.rest.split_first().ok_or(END)?;
        self.rest = rest;
        Ok(*first)
    }

    pub(crate) fn number(&mut self) -> Result<u64, Malformed> {
        let mut number = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            let bits = u64::from(byte & 0x7f);
            if bits << shift >> shift != bits {
                break;
            }
            number |= bits << shift;
            if byte & 0x80 == 0 {
                return Ok(number);
            }
        }
        Err(Malformed("a number has more than 64 bits"))
    }

    pub(crate) fn signed(&mut self) -> Result<i64, Malformed> {
        let number = self.number()?;
        Ok((number >> 1).cast_signed() ^ -(number & 1).cast_signed())
    }

    /// Returns a number of things that follow, of which each has at least one byte.
    pub(crate) fn count(&mut self) -> Result<usize, Malformed> {
        let count = usize::try_from(self.number()?).unwrap_or(usize::MAX);
        if count > self.rest.len() { Err(END) } else { Ok(count) }
    }

    /// Returns the bytes that [`Output::bytes`] has written.
    pub(crate) fn bytes(&mut self) -> Result<&'a [u8], Malformed> {
        let length = self.count()?;
        self.raw(length)
    }

    pub(crate) fn raw(&mut self, length: usize) -> Result<&'a [u8], Malformed> {
        let (bytes, rest) = self.rest.split_at_checked(length).ok_or(END)?;
        self.rest = rest;
        Ok(bytes)
    }

    pub(crate) fn text(&mut self) -> Result<Text, Malformed> {
        self.bytes().and_then(text)
    }
}

const END: Malformed = Malformed("the content ends too early");

pub(crate) fn text(bytes: &[u8]) -> Result<Text, Malformed> {
    str::from_utf8(bytes).map(Text::from).map_err(|_| Malformed("text is not UTF-8"))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rstest::rstest;

    use super::*;

    proptest! {
        #[test]
        fn numbers_come_back(number: u64, signed: i64) {
            let mut output = Output::default();
            output.number(number);
            output.signed(signed);
            let mut input = Input::new(output.as_slice());
            prop_assert_eq!((input.number(), input.signed(), input.is_empty()), (Ok(number), Ok(signed), true));
        }
    }

    #[rstest]
    #[case::cut_off(&[0x80], "the content ends too early")]
    #[case::too_long(&[0xff; 11], "a number has more than 64 bits")]
    #[case::too_large(&[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x02], "a number has more than 64 bits")]
    fn malformed_numbers(#[case] bytes: &[u8], #[case] expected: &str) {
        assert_eq!(Input::new(bytes).number().unwrap_err().to_string(), expected);
    }

    #[test]
    fn lengths_beyond_the_content_allocate_nothing() {
        let mut output = Output::default();
        output.number(1 << 40);
        assert_eq!(Input::new(output.as_slice()).count(), Err(END));
        assert_eq!(Input::new(output.as_slice()).bytes(), Err(END));
    }
}
