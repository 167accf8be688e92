//! Priority lanes, off unless asked for.

use std::num::{NonZeroU8, NonZeroU32};

/// How urgent a key is: lane 0 is the most urgent. A lane that the queue does not have means its least urgent one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Lane(pub u8);

/// The lanes of a queue, for [`Builder::lanes`](crate::Builder::lanes). A queue has one lane unless told otherwise.
///
/// Within a lane, keys are handed out first in, first out; a more urgent lane goes before a less urgent one. So that no
/// lane starves, a lane that keys wait in is passed over [`patience`](Lanes::patience) times and then has its turn:
/// the key at its head waits for at most `patience + count - 1` other hand-outs, whatever is added elsewhere.
/// The promise counts hand-outs, not seconds: it needs no clock and holds under any load.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Lanes {
    count: NonZeroU8,
    patience: NonZeroU32,
    usual: Lane,
}

impl Lanes {
    /// The patience unless told otherwise: about one hand-out in ten goes to a lane that is passed over all the time.
    const PATIENCE: NonZeroU32 = NonZeroU32::new(10).expect("ten is not zero");

    /// One lane: first in, first out.
    pub const ONE: Self = Self { count: NonZeroU8::MIN, patience: Self::PATIENCE, usual: Lane(0) };

    /// `count` lanes. Plain [`add`](crate::Queue::add) uses the most urgent one.
    pub const fn new(count: NonZeroU8) -> Self {
        Self { count, patience: Self::PATIENCE, usual: Lane(0) }
    }

    /// How many times a lane with waiting keys may be passed over before it has its turn.
    #[must_use]
    pub const fn patience(self, patience: NonZeroU32) -> Self {
        Self { patience, ..self }
    }

    /// The lane of keys that are added without naming one.
    #[must_use]
    pub const fn usual(self, usual: Lane) -> Self {
        Self { usual, ..self }
    }

    pub(crate) const fn count(self) -> u8 {
        self.count.get()
    }

    pub(crate) const fn allowed_skips(self) -> u32 {
        self.patience.get()
    }

    pub(crate) const fn usual_lane(self) -> Lane {
        self.usual
    }

    /// The index of `lane` among the lanes there are.
    pub(crate) fn clamp(self, lane: Lane) -> u8 {
        lane.0.min(self.count() - 1)
    }
}

impl Default for Lanes {
    fn default() -> Self {
        Self::ONE
    }
}
