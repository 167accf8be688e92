//! Handles of added handlers.

use std::{
    fmt,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use tokio::sync::watch;

/// Identifies a handler among those of all informers of the process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Id(u64);

impl Id {
    pub(crate) fn next() -> Self {
        static LAST: AtomicU64 = AtomicU64::new(0);
        Self(LAST.fetch_add(1, Ordering::Relaxed))
    }
}

/// Handle of an added handler: shows whether it has synced, and identifies it for
/// [`Informer::write_through`](crate::Informer::write_through) (client-go: `ResourceEventHandlerRegistration`).
///
/// Dropping it does not remove the handler.
#[derive(Clone)]
pub struct HandlerHandle {
    name: Arc<str>,
    synced: watch::Receiver<bool>,
    /// `None` for the handle of a store.
    id: Option<Id>,
}

impl HandlerHandle {
    pub(crate) fn new(name: &str, synced: watch::Receiver<bool>, id: Option<Id>) -> Self {
        Self { name: name.into(), synced, id }
    }

    pub(crate) fn id(&self) -> Option<Id> {
        self.id
    }

    /// Returns the handle with the owner added to its name: `pods (endpointslice-controller)`.
    #[must_use]
    pub fn named(self, owner: &str) -> Self {
        Self { name: format!("{} ({owner})", self.name).into(), ..self }
    }

    /// Returns the resource of the informer, followed by the name of the handler if it has one:
    /// `pods (endpointslice-controller)`.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns whether the handler has returned from the last event of the initial list. For
    /// [`Informer::store_synced`](crate::Informer::store_synced): whether the first list is stored.
    pub fn has_synced(&self) -> bool {
        *self.synced.borrow()
    }

    /// Waits until the handler has synced. Returns `false` if the informer stops before that.
    pub async fn synced(&self) -> bool {
        self.synced.clone().wait_for(|synced| *synced).await.is_ok()
    }
}

impl fmt::Debug for HandlerHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HandlerHandle")
            .field("name", &self.name)
            .field("synced", &self.has_synced())
            .finish_non_exhaustive()
    }
}
