//! Handle of the faults for the owner of a server.

use super::{Fault, FaultState, On, UnmatchableError, unmatchable};
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
    ///
    /// # Panics
    /// If the server does not serve the group or resource that the fault [selects](On). A kind that is not built in has
    /// to be defined before.
    #[track_caller]
    pub fn inject(&self, fault: impl Into<Fault>) -> u64 {
        let fault = fault.into();
        self.shared.assert_served(&fault.on);
        self.shared.faults.table().inject(fault)
    }

    /// Removes a fault and returns its state; `None` if there is none with this id.
    pub fn remove(&self, id: u64) -> Option<FaultState> {
        self.shared.faults.table().remove(id)
    }

    /// Removes all injected faults.
    pub fn clear(&self) {
        self.shared.faults.table().clear();
    }

    /// Returns all faults that have not been removed, in the order of their evaluation. Some may have no hits left.
    pub fn states(&self) -> Vec<FaultState> {
        self.shared.faults.table().states().to_vec()
    }

    /// Returns the faults that have not had their effect, see [`FaultState::is_spent`], in the order of their evaluation.
    pub fn unspent(&self) -> Vec<FaultState> {
        self.states().into_iter().filter(|it| !it.is_spent()).collect()
    }

    /// Ends the open watches that match, as their timeout would, and returns their number.
    ///
    /// # Panics
    /// If none matches, and the server does not serve the group or resource that `on` selects.
    #[track_caller]
    pub fn cut_watches(&self, on: &On) -> usize {
        let count = self.shared.faults.cut_watches(on);
        if count == 0 {
            self.shared.assert_served(on);
        }
        count
    }

    /// Returns the number of open watches that match.
    ///
    /// # Panics
    /// If none matches, and the server does not serve the group or resource that `on` selects.
    #[track_caller]
    pub fn open_watches(&self, on: &On) -> usize {
        let count = self.shared.faults.matching(on).len();
        if count == 0 {
            self.shared.assert_served(on);
        }
        count
    }
}

impl Shared {
    /// Returns an error if `on` selects a group or resource that the server does not serve.
    pub(crate) fn check_served(&self, on: &On) -> Result<(), UnmatchableError> {
        if on.group.is_none() && on.resource.is_none() {
            return Ok(());
        }
        self.read(|cluster| unmatchable::check(on, cluster.kinds().all()))
    }

    /// Panics if `on` selects a group or resource that the server does not serve.
    #[track_caller]
    pub(crate) fn assert_served(&self, on: &On) {
        if let Err(error) = self.check_served(on) {
            panic!("{error}");
        }
    }
}
