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

    fn read(before: &Self, input: &mut Input<'_>) -> Result<Self, Malformed>;
}

#[cfg(test)]
mod tests;
