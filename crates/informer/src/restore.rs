//! Restores of the API server's store, which concern all informers at once.

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

use tokio::sync::Notify;

/// Shared by the informers of one API server, so that all of them list again when one finds that the store was restored.
///
/// An informer whose connection was lost compares the server's resource version with its own before it goes on. That finds a
/// restored store only while the version is still behind: an informer that asks late, because its first request failed, may
/// find a version that has been handed out a second time.
///
/// Clones share the state. [`Builder::restores`](crate::Builder::restores) takes one; a [`Factory`](crate::Factory) does it for
/// its informers.
#[derive(Clone, Debug, Default)]
pub struct RestoreSignal {
    state: Arc<State>,
}

#[derive(Debug, Default)]
struct State {
    /// Number of restores found.
    found: AtomicU64,
    /// Not a `watch` channel, which wakes its receivers in random order.
    raised: Notify,
}

/// One informer's view of the signal.
#[derive(Debug)]
pub(crate) struct Restores {
    signal: RestoreSignal,
    seen: u64,
}

impl RestoreSignal {
    pub(crate) fn follow(&self) -> Restores {
        Restores { signal: self.clone(), seen: self.state.found.load(Ordering::Acquire) }
    }
}

impl Restores {
    /// Has the others list again.
    pub(crate) fn raise(&mut self) {
        self.seen = self.signal.state.found.fetch_add(1, Ordering::AcqRel) + 1;
        self.signal.state.raised.notify_waiters();
    }

    /// Returns whether another informer has found a restore since the last call.
    pub(crate) fn take(&mut self) -> bool {
        let found = self.signal.state.found.load(Ordering::Acquire);
        std::mem::replace(&mut self.seen, found) != found
    }

    /// Waits for a restore that another informer finds.
    pub(crate) async fn found(&self) {
        loop {
            let raised = self.signal.state.raised.notified();
            if self.signal.state.found.load(Ordering::Acquire) != self.seen {
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
    fn a_restore_concerns_the_others_once() {
        let signal = RestoreSignal::default();
        let (mut one, mut other) = (signal.follow(), signal.clone().follow());
        assert!(!other.take() && other.found().now_or_never().is_none());
        one.raise();
        assert!(!one.take() && one.found().now_or_never().is_none());
        assert!(other.found().now_or_never().is_some());
        assert!(other.take() && !other.take());
        assert!(!signal.follow().take(), "an informer that is made later lists anyway");
    }
}
