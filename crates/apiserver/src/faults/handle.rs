//! Handle of the faults for the owner of a server.

use super::{Fault, FaultState, On};
use crate::shared::Shared;

/// Handle that injects and removes the faults of a [`Server`](crate::Server).
#[derive(Debug, Clone, Copy)]
pub struct Faults<'a> {
    shared: &'a Shared,
}

impl<'a> Faults<'a> {
    pub(crate) fn new(shared: &'a Shared) -> Self {
        Self { shared }
    }

    /// Injects a fault, which is evaluated after the existing ones. Returns its id for [`remove`](Self::remove).
    pub fn inject(&self, fault: impl Into<Fault>) -> u64 {
        self.shared.faults.inject(fault.into())
    }

    /// Removes a fault and returns its state; `None` if there is none with this id.
    pub fn remove(&self, id: u64) -> Option<FaultState> {
        self.shared.faults.remove(id)
    }

    /// Removes all injected faults.
    pub fn clear(&self) {
        self.shared.faults.clear();
    }

    /// Returns all faults that have not been removed, in the order of their evaluation. Some may have no hits left.
    pub fn states(&self) -> Vec<FaultState> {
        self.shared.faults.states()
    }

    /// Asserts that every injected fault has had its effect, see [`FaultState::is_spent`]: without it, a test passes
    /// although no request matched its fault.
    ///
    /// # Panics
    /// If a fault that was not removed has not had its effect; the message lists these faults.
    #[track_caller]
    pub fn assert_spent(&self) {
        let unspent: Vec<FaultState> = self.states().into_iter().filter(|it| !it.is_spent()).collect();
        assert!(unspent.is_empty(), "faults without effect: {unspent:#?}");
    }

    /// Ends the open watches that match, as their timeout would, and returns their number.
    pub fn cut_watches(&self, on: &On) -> usize {
        self.shared.faults.cut_watches(on)
    }

    /// Returns the number of open watches that match.
    pub fn open_watches(&self, on: &On) -> usize {
        self.shared.faults.matching(on).len()
    }
}
