//! The guard of a key that is being processed.

use std::{fmt, ops::Deref};

use crate::{Lane, Queue, core::Lease};

/// A key handed to a worker. The key is being processed until this is dropped.
#[must_use = "dropping it ends the processing of its key"]
pub struct Item<K> {
    queue: Queue<K>,
    lease: Lease<K>,
}

impl<K> Item<K> {
    pub(crate) fn new(queue: Queue<K>, lease: Lease<K>) -> Self {
        Self { queue, lease }
    }

    /// The key.
    pub fn key(&self) -> &K {
        &self.lease.key
    }

    /// The lane it was handed out from.
    pub fn lane(&self) -> Lane {
        Lane(self.lease.lane)
    }

    /// Ends the processing; dropping does the same. If the key was added meanwhile, it is queued now.
    pub fn done(self) {
        drop(self);
    }
}

impl<K> Deref for Item<K> {
    type Target = K;

    fn deref(&self) -> &K {
        self.key()
    }
}

impl<K> Drop for Item<K> {
    fn drop(&mut self) {
        self.queue.shared.done(self.lease.index, self.lease.ticket);
    }
}

impl<K: fmt::Debug> fmt::Debug for Item<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Item").field(self.key()).finish()
    }
}
