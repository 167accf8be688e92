//! Priority lanes of a queue; one lane by default.

use std::num::{NonZeroU8, NonZeroU32};

/// A priority lane; 0 is the most urgent. A number beyond the queue's last lane means its last lane.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Lane(pub u8);

/// Number, fairness and default of a queue's lanes, for [`Builder::lanes`](crate::Builder::lanes).
///
/// Keys of one lane are handed out first in, first out; keys of a more urgent lane come first. To prevent starvation, a
/// non-empty lane that was passed over [`patience`](Lanes::patience) times takes precedence: at most
/// `patience + count - 1` other keys are handed out before the key at the head of a lane. The bound counts keys, not
/// time, and therefore holds under any load.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Lanes {
    count: NonZeroU8,
    patience: NonZeroU32,
    usual: Lane,
}

impl Lanes {
    /// Default patience: a lane that is always passed over gets about one of every ten keys handed out.
    const PATIENCE: NonZeroU32 = NonZeroU32::new(10).expect("ten is not zero");

    /// One lane: first in, first out. The default.
    pub const ONE: Self = Self { count: NonZeroU8::MIN, patience: Self::PATIENCE, usual: Lane(0) };

    /// Configures `count` lanes, a patience of 10, and lane 0 for [`Queue::add`](crate::Queue::add).
    pub const fn new(count: NonZeroU8) -> Self {
        Self { count, patience: Self::PATIENCE, usual: Lane(0) }
    }

    /// Sets how many times a non-empty lane may be passed over before it is served; 10 by default.
    #[must_use]
    pub const fn patience(self, patience: NonZeroU32) -> Self {
        Self { patience, ..self }
    }

    /// Sets the lane of keys that are added without a lane; lane 0 by default.
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

    /// Returns the index of `lane`, or of the last lane if the queue has fewer.
    pub(crate) fn clamp(self, lane: Lane) -> u8 {
        lane.0.min(self.count() - 1)
    }
}

impl Default for Lanes {
    fn default() -> Self {
        Self::ONE
    }
}
