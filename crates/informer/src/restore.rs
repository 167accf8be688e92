//! Restores of etcd from a backup, which affect all informers of an API server.

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

use tokio::sync::Notify;

/// Signal shared by the informers of one API server: when one detects that etcd was restored from a backup, all relist.
///
/// An informer whose watch was interrupted compares the server's resource version with its own before it resumes. This
/// detects a restore only while the server's version is lower. An informer that compares later, because its first
/// request failed, may find a version that was assigned a second time.
///
/// Clones share the state. Pass one to [`Builder::restores`](crate::Builder::restores) of each informer.
#[derive(Clone, Debug, Default)]
pub struct RestoreSignal {
    state: Arc<State>,
}

#[derive(Debug, Default)]
struct State {
    /// Number of restores detected.
    detected: AtomicU64,
    /// Not a `watch` channel, which wakes its receivers in random order.
    raised: Notify,
}

/// Subscription of one informer to the signal.
#[derive(Debug)]
pub(crate) struct RestoreSubscription {
    signal: RestoreSignal,
    seen: u64,
}

impl RestoreSignal {
    pub(crate) fn subscribe(&self) -> RestoreSubscription {
        RestoreSubscription { signal: self.clone(), seen: self.state.detected.load(Ordering::Acquire) }
    }
}

impl RestoreSubscription {
    /// Makes the other informers relist.
    pub(crate) fn raise(&mut self) {
        self.seen = self.signal.state.detected.fetch_add(1, Ordering::AcqRel) + 1;
        self.signal.state.raised.notify_waiters();
    }

    /// Returns whether another informer has detected a restore since the last call.
    pub(crate) fn take(&mut self) -> bool {
        let detected = self.signal.state.detected.load(Ordering::Acquire);
        std::mem::replace(&mut self.seen, detected) != detected
    }

    /// Waits until another informer detects a restore.
    pub(crate) async fn detected(&self) {
        loop {
            let raised = self.signal.state.raised.notified();
            if self.signal.state.detected.load(Ordering::Acquire) != self.seen {
                return;
            }
            raised.await;
        }
    }
}

#[cfg(test)]
mod tests {
    use futures::FutureExt as _;

    use super::*;

    #[test]
    fn restore_is_signalled_once_to_each_other_informer() {
        let signal = RestoreSignal::default();
        let (mut one, mut other) = (signal.subscribe(), signal.clone().subscribe());
        assert!(!other.take() && other.detected().now_or_never().is_none());
        one.raise();
        assert!(!one.take() && one.detected().now_or_never().is_none());
        assert!(other.detected().now_or_never().is_some());
        assert!(other.take() && !other.take());
        assert!(!signal.subscribe().take(), "a new informer starts with a list anyway");
    }
}
