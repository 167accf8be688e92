//! Where in a message something is, without allocation.

use std::fmt;

/// The field numbers that lead to a field, outermost first; the last eight of them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Path(u64);

impl Path {
    /// One level down. A number beyond 254, of which Kubernetes has none, is shown as `255+`.
    #[inline]
    pub(super) fn then(self, number: u32) -> Self {
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
