//! Change notifications, which wake the watches of a kind after a write.
//!
//! `tokio::sync::watch` wakes receivers in random order, and a seeded server must send its events in the same order in
//! every run. [`Notify`] wakes waiters in the order in which they began to wait.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use tokio::sync::Notify;

/// Change notifier of one kind: each write calls [`notify`](Self::notify), each watch has a [`Listener`].
#[derive(Debug, Default)]
pub(crate) struct ChangeNotifier {
    state: Arc<NotifierState>,
}

#[derive(Debug, Default)]
struct NotifierState {
    /// Number of calls to [`ChangeNotifier::notify`].
    notifications: AtomicU64,
    waiting: Notify,
}

impl ChangeNotifier {
    /// Records a change and wakes every listener.
    pub(crate) fn notify(&self) {
        self.state.notifications.fetch_add(1, Ordering::Release);
        self.state.waiting.notify_waiters();
    }

    /// Returns a listener that has seen all changes so far.
    pub(crate) fn listen(&self) -> Listener {
        let state = Arc::clone(&self.state);
        Listener { seen: state.notifications.load(Ordering::Acquire), state }
    }
}

/// Receiver of the change notifications of one kind.
#[derive(Debug)]
pub(crate) struct Listener {
    state: Arc<NotifierState>,
    seen: u64,
}

impl Listener {
    /// Marks all changes so far as seen.
    pub(crate) fn mark_seen(&mut self) {
        self.seen = self.state.notifications.load(Ordering::Acquire);
    }

    /// Waits for a change after the last one seen. Cancel safe.
    pub(crate) async fn changed(&self) {
        loop {
            // Created before the counter is read, so that a notification in between is not missed.
            let notified = self.state.waiting.notified();
            if self.state.notifications.load(Ordering::Acquire) != self.seen {
                return;
            }
            notified.await;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use tokio::task::JoinSet;

    use super::*;

    #[tokio::test]
    async fn listeners_wake_in_the_order_of_their_waits() {
        let notifier = ChangeNotifier::default();
        let woken = Arc::new(Mutex::new(Vec::new()));
        let mut tasks = JoinSet::new();
        for id in 0..50 {
            let (listener, woken) = (notifier.listen(), Arc::clone(&woken));
            tasks.spawn(async move {
                listener.changed().await;
                woken.lock().unwrap().push(id);
            });
        }
        tokio::task::yield_now().await;
        notifier.notify();
        while tasks.join_next().await.is_some() {}
        assert_eq!(*woken.lock().unwrap(), (0..50).collect::<Vec<_>>());
    }

    #[tokio::test]
    async fn change_before_the_wait_is_not_missed() {
        let notifier = ChangeNotifier::default();
        let mut listener = notifier.listen();
        notifier.notify();
        listener.changed().await;
        listener.mark_seen();
        let waits = tokio::time::timeout(std::time::Duration::ZERO, listener.changed()).await;
        assert!(waits.is_err());
    }
}
