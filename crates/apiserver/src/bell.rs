//! Change notifications, which wake the watches of a kind after a write.
//!
//! `tokio::sync::watch` wakes receivers in random order, and a seeded server must send its events in the same order in
//! every run. [`Notify`] wakes waiters in the order in which they began to wait.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use tokio::sync::Notify;

/// Change notifier of one kind: each write calls [`ring`](Self::ring), each watch has a [`Listener`].
#[derive(Debug, Default)]
pub(crate) struct Bell {
    state: Arc<State>,
}

#[derive(Debug, Default)]
struct State {
    /// Number of calls to [`Bell::ring`].
    rings: AtomicU64,
    /// Revision of the last change; 0 if there was none.
    revision: AtomicU64,
    waiting: Notify,
}

impl Bell {
    /// Records a change at `revision` and wakes every listener.
    pub(crate) fn ring(&self, revision: u64) {
        self.state.revision.store(revision, Ordering::Release);
        self.state.rings.fetch_add(1, Ordering::Release);
        self.state.waiting.notify_waiters();
    }

    /// Returns the revision of the last change; 0 if there was none.
    pub(crate) fn revision(&self) -> u64 {
        self.state.revision.load(Ordering::Acquire)
    }

    /// Returns a listener that has seen all changes so far.
    pub(crate) fn listen(&self) -> Listener {
        let state = Arc::clone(&self.state);
        Listener { seen: state.rings.load(Ordering::Acquire), state }
    }
}

/// Receiver of the change notifications of one kind.
#[derive(Debug)]
pub(crate) struct Listener {
    state: Arc<State>,
    seen: u64,
}

impl Listener {
    /// Marks all changes so far as seen.
    pub(crate) fn mark_seen(&mut self) {
        self.seen = self.state.rings.load(Ordering::Acquire);
    }

    /// Waits for a change after the last one seen. Cancel safe.
    pub(crate) async fn changed(&self) {
        loop {
            // Created before the counter is read, so that a notification in between is not missed.
            let rung = self.state.waiting.notified();
            if self.state.rings.load(Ordering::Acquire) != self.seen {
                return;
            }
            rung.await;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use tokio::task::JoinSet;

    use super::*;

    #[tokio::test]
    async fn listeners_wake_in_the_order_in_which_they_wait() {
        let bell = Bell::default();
        let woken = Arc::new(Mutex::new(Vec::new()));
        let mut tasks = JoinSet::new();
        for id in 0..50 {
            let (listener, woken) = (bell.listen(), Arc::clone(&woken));
            tasks.spawn(async move {
                listener.changed().await;
                woken.lock().unwrap().push(id);
            });
        }
        tokio::task::yield_now().await;
        bell.ring(7);
        while tasks.join_next().await.is_some() {}
        assert_eq!(*woken.lock().unwrap(), (0..50).collect::<Vec<_>>());
        assert_eq!(bell.revision(), 7);
    }

    #[tokio::test]
    async fn a_change_before_the_wait_counts() {
        let bell = Bell::default();
        let mut listener = bell.listen();
        bell.ring(1);
        listener.changed().await;
        listener.mark_seen();
        let waits = tokio::time::timeout(std::time::Duration::ZERO, listener.changed()).await;
        assert!(waits.is_err());
    }
}
