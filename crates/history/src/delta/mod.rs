//! Differences between two states of a value. What is written is small when little has changed.

mod kinds;
mod list;
mod scalars;

pub(crate) use kinds::HEARTBEAT;
pub(crate) use list::each_label;

use crate::codec::{Input, Malformed, Output};

/// A value that can be written as the difference from another one.
///
/// Law: [`read`](Self::read) with the same `before` returns what [`write`](Self::write) was called for.
pub(crate) trait Delta: Sized {
    fn write(&self, before: &Self, out: &mut Output);

    /// Writes the difference and returns true, or returns false if there is none.
    fn write_if_different(&self, before: &Self, out: &mut Output) -> bool
    where
        Self: PartialEq,
    {
        let differs = self != before;
        if differs {
            self.write(before, out);
        }
        differs
    }

    fn read(before: &Self, input: &mut Input<'_>) -> Result<Self, Malformed>;
}

#[cfg(test)]
mod tests;
