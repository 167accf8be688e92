//! Differences of numbers, text and times.

use std::sync::Arc;

use jiff::Timestamp;
use kube_endpoint_model::{Address, CompactTime, ResourceVersion, Text, Uid};
use uuid::Uuid;

use super::Delta;
use crate::codec::{Input, Malformed, Output, text};

impl Delta for bool {
    fn write(&self, _: &Self, out: &mut Output) {
        out.byte(u8::from(*self));
    }

    fn read(_: &Self, input: &mut Input<'_>) -> Result<Self, Malformed> {
        match input.byte()? {
            0 => Ok(false),
            1 => Ok(true),
            _ => Err(Malformed("a truth value is neither 0 nor 1")),
        }
    }
}

impl Delta for i64 {
    fn write(&self, before: &Self, out: &mut Output) {
        out.signed(self.wrapping_sub(*before));
    }

    fn read(before: &Self, input: &mut Input<'_>) -> Result<Self, Malformed> {
        Ok(before.wrapping_add(input.signed()?))
    }
}

impl Delta for i32 {
    fn write(&self, before: &Self, out: &mut Output) {
        i64::from(*self).write(&i64::from(*before), out);
    }

    fn read(before: &Self, input: &mut Input<'_>) -> Result<Self, Malformed> {
        let number = i64::read(&i64::from(*before), input)?;
        i32::try_from(number).map_err(|_| Malformed("a number has more than 32 bits"))
    }
}

/// The length of the common beginning, then the rest.
impl Delta for Text {
    fn write(&self, before: &Self, out: &mut Output) {
        write_text(self, before, out);
    }

    fn read(before: &Self, input: &mut Input<'_>) -> Result<Self, Malformed> {
        read_text(before, input, text)
    }
}

fn write_text(now: &str, before: &str, out: &mut Output) {
    let common = common_beginning(now.as_bytes(), before.as_bytes());
    out.number(common as u64);
    out.bytes(&now.as_bytes()[common..]);
}

/// Returns the length of the common beginning. Whole words are compared first.
fn common_beginning(a: &[u8], b: &[u8]) -> usize {
    let words = a.as_chunks::<8>().0.iter().zip(b.as_chunks::<8>().0).take_while(|(a, b)| a == b).count() * 8;
    words + a[words..].iter().zip(&b[words..]).take_while(|(a, b)| a == b).count()
}

fn read_text<T>(
    before: &str,
    input: &mut Input<'_>,
    parse: impl FnOnce(&[u8]) -> Result<T, Malformed>,
) -> Result<T, Malformed> {
    let common = usize::try_from(input.number()?).unwrap_or(usize::MAX);
    let common = before.as_bytes().get(..common).ok_or(Malformed("text begins with more than there was"))?;
    let rest = input.bytes()?;
    if common.is_empty() { parse(rest) } else { parse(&[common, rest].concat()) }
}

/// As text, which need not be an IP address.
impl Delta for Address {
    fn write(&self, before: &Self, out: &mut Output) {
        write_text(&self.to_string(), &before.to_string(), out);
    }

    fn read(before: &Self, input: &mut Input<'_>) -> Result<Self, Malformed> {
        read_text(&before.to_string(), input, |bytes| Ok(Address::new(&text(bytes)?)))
    }
}

/// The 16 bytes of a UUID in canonical form, or any other text.
impl Delta for Uid {
    fn write(&self, _: &Self, out: &mut Output) {
        let text = self.to_string();
        if let Some(uuid) = Uuid::try_parse(&text).ok().filter(|uuid| uuid.hyphenated().to_string() == text) {
            out.byte(1);
            out.raw(uuid.as_bytes());
        } else {
            out.byte(0);
            out.bytes(text.as_bytes());
        }
    }

    fn read(_: &Self, input: &mut Input<'_>) -> Result<Self, Malformed> {
        match input.byte()? {
            0 => Ok(Uid::from(input.text()?.as_str())),
            1 => {
                let bytes = input.raw(16)?;
                let uuid = Uuid::from_slice(bytes).map_err(|_| Malformed("a UUID has not 16 bytes"))?;
                Ok(Uid::from(uuid.hyphenated().to_string()))
            }
            _ => Err(Malformed("a UID is neither a UUID nor text")),
        }
    }
}

/// Nothing for that of the object, which its record has; the difference of two other numbers; or any other text.
impl Delta for ResourceVersion {
    fn write(&self, before: &Self, out: &mut Output) {
        match self.number() {
            Some(number) if number == out.version && number != 0 => out.byte(2),
            Some(number) => {
                out.byte(1);
                out.signed(number.wrapping_sub(before.number().unwrap_or_default()).cast_signed());
            }
            None => {
                out.byte(0);
                out.bytes(self.to_string().as_bytes());
            }
        }
    }

    fn read(before: &Self, input: &mut Input<'_>) -> Result<Self, Malformed> {
        match input.byte()? {
            0 => Ok(ResourceVersion::from(input.text()?.as_str())),
            1 => {
                let difference = input.signed()?.cast_unsigned();
                Ok(ResourceVersion::from(before.number().unwrap_or_default().wrapping_add(difference)))
            }
            2 => Ok(ResourceVersion::from(input.version)),
            _ => Err(Malformed("a version is neither a number nor text")),
        }
    }
}

impl Delta for Timestamp {
    fn write(&self, before: &Self, out: &mut Output) {
        self.as_second().write(&before.as_second(), out);
        self.subsec_nanosecond().write(&before.subsec_nanosecond(), out);
    }

    fn read(before: &Self, input: &mut Input<'_>) -> Result<Self, Malformed> {
        let seconds = i64::read(&before.as_second(), input)?;
        let nanoseconds = i32::read(&before.subsec_nanosecond(), input)?;
        Timestamp::new(seconds, nanoseconds).map_err(|_| Malformed("a time is beyond the calendar"))
    }
}

impl Delta for CompactTime {
    fn write(&self, before: &Self, out: &mut Output) {
        self.timestamp().write(&before.timestamp(), out);
    }

    fn read(before: &Self, input: &mut Input<'_>) -> Result<Self, Malformed> {
        Timestamp::read(&before.timestamp(), input).map(CompactTime::from)
    }
}

/// An absent value is compared with the default.
impl<T: Delta + Default> Delta for Option<T> {
    fn write(&self, before: &Self, out: &mut Output) {
        out.byte(u8::from(self.is_some()));
        if let Some(now) = self {
            match before {
                Some(before) => now.write(before, out),
                None => now.write(&T::default(), out),
            }
        }
    }

    fn read(before: &Self, input: &mut Input<'_>) -> Result<Self, Malformed> {
        if !bool::read(&false, input)? {
            return Ok(None);
        }
        match before {
            Some(before) => T::read(before, input),
            None => T::read(&T::default(), input),
        }
        .map(Some)
    }
}

impl<T: Delta> Delta for Arc<T> {
    fn write(&self, before: &Self, out: &mut Output) {
        (**self).write(before, out);
    }

    fn read(before: &Self, input: &mut Input<'_>) -> Result<Self, Malformed> {
        T::read(before, input).map(Arc::new)
    }
}
