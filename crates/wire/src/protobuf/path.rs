//! Path of a field in a message, without allocation.

use std::fmt;

/// Path of a field: the innermost eight field numbers that lead to it, outermost first.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Path(u64);

impl Path {
    /// Appends a field number. Numbers above 254, which Kubernetes does not use, are formatted as `255+`.
    #[inline]
    pub(super) fn child(self, number: u32) -> Self {
        Self(self.0 << 8 | u64::from(number.min(255)))
    }
}

impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0 == 0 {
            return f.write_str("the message");
        }
        let numbers = self.0.to_be_bytes().into_iter().filter(|number| *number > 0);
        for (at, number) in numbers.enumerate() {
            f.write_str(if at == 0 { "field " } else { "." })?;
            match number {
                255 => f.write_str("255+")?,
                number => write!(f, "{number}")?,
            }
        }
        Ok(())
    }
}
