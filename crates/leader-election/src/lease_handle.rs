//! The Lease of an election for the program: its annotations, in which a leader leaves data for its successors.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::{fmt, mem};

use kube_controller_client::events::ObjectReference;
use tokio::sync::watch;

use crate::LeaseName;
use crate::fence::ElectionState;

/// The Lease of an election: reads its annotations, and changes them with the next write of the Lease.
///
/// A leader can leave data for its successors there. Returned by [`Election::lease`](crate::Election::lease); clones
/// belong to the same election. Annotations that are not changed are kept by every write of the Lease, and when a deleted
/// Lease is created again.
#[derive(Clone)]
pub struct LeaseHandle {
    name: LeaseName,
    state: watch::Receiver<ElectionState>,
    changes: Arc<Mutex<Changes>>,
}

/// Values to set, and names to remove (`None`).
type Changes = BTreeMap<String, Option<String>>;

impl LeaseHandle {
    pub(crate) fn new(name: LeaseName, state: watch::Receiver<ElectionState>) -> Self {
        Self { name, state, changes: Arc::default() }
    }

    /// Returns a reference to the Lease for events, without UID before the Lease was read or created.
    pub fn reference(&self) -> ObjectReference {
        let LeaseName { namespace, name } = self.name.clone();
        let uid = self.state.borrow().uid.clone();
        ObjectReference { namespace, name, uid, ..ObjectReference::of("coordination.k8s.io/v1", "Lease") }
    }

    /// Returns the value of an annotation, as this candidate last read, observed or wrote the Lease; `None` if the Lease
    /// did not have it. A process that has become the leader has read the Lease.
    pub fn annotation(&self, name: &str) -> Option<String> {
        self.state.borrow().annotations.get(name).cloned()
    }

    /// Sets an annotation with the next write of the Lease, or removes it (`None`). A leader writes it with each renewal,
    /// 2 s later by default, and with the release; another candidate when it acquires the lease.
    ///
    /// A later change of the same annotation replaces an earlier one that is not written yet. The change is lost if the
    /// process ends before.
    pub fn annotate(&self, name: &str, value: Option<&str>) {
        let mut changes = self.changes.lock().unwrap_or_else(PoisonError::into_inner);
        changes.insert(name.to_owned(), value.map(str::to_owned));
    }

    /// Takes the changes since the last call.
    pub(crate) fn take_changes(&self) -> Changes {
        mem::take(&mut *self.changes.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl fmt::Debug for LeaseHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("LeaseHandle").field(&self.name).field(&self.state.borrow().annotations).finish()
    }
}
