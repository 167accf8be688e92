//! What the owner of a handler keeps.

use std::{
    fmt,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use tokio::sync::watch;

/// Tells the handlers of a process apart, whichever informer they listen to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Id(u64);

impl Id {
    pub(crate) fn next() -> Self {
        static LAST: AtomicU64 = AtomicU64::new(0);
        Self(LAST.fetch_add(1, Ordering::Relaxed))
    }
}

/// Tells whether a handler has heard of everything that was there at first, and lets it be removed.
///
/// Dropping it changes nothing.
#[derive(Clone)]
pub struct HandlerHandle {
    name: Arc<str>,
    synced: watch::Receiver<bool>,
    /// `None` for the store itself.
    id: Option<Id>,
}

impl HandlerHandle {
    pub(crate) fn new(name: &str, synced: watch::Receiver<bool>, id: Option<Id>) -> Self {
        Self { name: name.into(), synced, id }
    }

    pub(crate) fn id(&self) -> Option<Id> {
        self.id
    }

    /// The same handle, saying whose it is when it is reported missing: `pods (endpointslice-controller)`.
    #[must_use]
    pub fn named(self, whose: &str) -> Self {
        Self { name: format!("{} ({whose})", self.name).into(), ..self }
    }

    /// What is listened to.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Whether the handler has returned from the last event of the initial list.
    pub fn has_synced(&self) -> bool {
        *self.synced.borrow()
    }

    /// Waits until it has; `false` if the informer stopped, or the handler was removed, before.
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
