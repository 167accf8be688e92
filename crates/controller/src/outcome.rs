//! Outcome of a sync.

/// Outcome of a successful sync: whether it wrote to the API server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Nothing was written.
    Unchanged,
    /// The API server acknowledged at least one write.
    Written,
}

impl Outcome {
    /// Returns [`Outcome::Written`] for one or more writes, [`Outcome::Unchanged`] for none.
    pub fn of_writes(count: usize) -> Self {
        if count == 0 { Outcome::Unchanged } else { Outcome::Written }
    }
}

/// `()` is [`Outcome::Written`], so that a sync that does not report its writes is measured.
impl From<()> for Outcome {
    fn from((): ()) -> Self {
        Outcome::Written
    }
}
