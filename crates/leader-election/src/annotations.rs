//! Annotations of the Lease, in which a leader leaves data for its successors.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::{fmt, mem};

use tokio::sync::watch;

use crate::fence::ElectionState;

/// Reads annotations of the Lease, and changes them with the next write of the Lease.
///
/// A leader can leave data for its successors there. Returned by [`Election::annotations`](crate::Election::annotations);
/// clones belong to the same election. Annotations that are not changed are kept by every write of the Lease.
#[derive(Clone)]
pub struct LeaseAnnotations {
    state: watch::Receiver<ElectionState>,
    changes: Arc<Mutex<Changes>>,
}

/// Values to set, and names to remove (`None`).
type Changes = BTreeMap<String, Option<String>>;

impl LeaseAnnotations {
    pub(crate) fn new(state: watch::Receiver<ElectionState>) -> Self {
        Self { state, changes: Arc::default() }
    }

    /// Returns the value of an annotation, as this candidate last read, observed or wrote the Lease; `None` if the Lease
    /// did not have it. A process that has become the leader has read the Lease.
    pub fn get(&self, name: &str) -> Option<String> {
        self.state.borrow().annotations.get(name).cloned()
    }

    /// Sets an annotation with the next write of the Lease, or removes it (`None`). A leader writes it with each renewal,
    /// 2 s later by default, and with the release; another candidate when it acquires the lease.
    ///
    /// A later change of the same annotation replaces an earlier one that is not written yet. The change is lost if the
    /// process ends before.
    pub fn set(&self, name: &str, value: Option<&str>) {
        let mut changes = self.changes.lock().unwrap_or_else(PoisonError::into_inner);
        changes.insert(name.to_owned(), value.map(str::to_owned));
    }

    /// Takes the changes since the last call.
    pub(crate) fn take(&self) -> Changes {
        mem::take(&mut *self.changes.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl fmt::Debug for LeaseAnnotations {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("LeaseAnnotations").field(&self.state.borrow().annotations).finish()
    }
}
