//! The Lease of an election for the program: the object that its events are about.

use std::fmt;

use kube_controller_client::events::ObjectReference;
use tokio::sync::watch;

use crate::LeaseName;
use crate::fence::ElectionState;

/// The Lease of an election, for events about it.
///
/// Returned by [`Election::lease`](crate::Election::lease); clones belong to the same election.
#[derive(Clone)]
pub struct LeaseHandle {
    name: LeaseName,
    state: watch::Receiver<ElectionState>,
}

impl LeaseHandle {
    pub(crate) fn new(name: LeaseName, state: watch::Receiver<ElectionState>) -> Self {
        Self { name, state }
    }

    /// Returns a reference to the Lease for events, without UID before the Lease was read or created.
    pub fn reference(&self) -> ObjectReference {
        let LeaseName { namespace, name } = self.name.clone();
        let uid = self.state.borrow().uid.clone();
        ObjectReference { namespace, name, uid, ..ObjectReference::of("coordination.k8s.io/v1", "Lease") }
    }
}

impl fmt::Debug for LeaseHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("LeaseHandle").field(&self.name).finish()
    }
}
