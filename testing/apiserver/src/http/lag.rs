//! Simulated lag of an API server's watch cache behind the store.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::change_notifier::{ChangeNotifier, Listener};

/// Highest revision visible to lists and watches of an [`InProcess`](super::InProcess) service, as if they were served
/// by an API server whose watch cache has fallen behind the store.
///
/// While it lags, lists with a resource version (other than exact ones) return the state at the [last revision that
/// arrived](Self::stop_at); lists without one are not affected, as upstream reads them from the store. Later versions
/// are rejected with 504 and the cause `ResourceVersionTooLarge`. Watches deliver nothing later, and a streaming list
/// without a resource version delivers nothing. Writes and gets are not affected. Clones share the state. The default
/// is no lag.
#[derive(Clone, Debug, Default)]
pub struct Lag {
    state: Arc<LagState>,
}

#[derive(Debug)]
struct LagState {
    /// Last revision that arrived; `u64::MAX` without lag.
    arrived: AtomicU64,
    notifier: ChangeNotifier,
}

impl Default for LagState {
    fn default() -> Self {
        LagState { arrived: AtomicU64::new(u64::MAX), notifier: ChangeNotifier::default() }
    }
}

impl Lag {
    /// Hides revisions later than `revision` from lists and watches until [`catch_up`](Self::catch_up).
    pub fn stop_at(&self, revision: u64) {
        self.state.arrived.store(revision, Ordering::Release);
        self.state.notifier.notify();
    }

    /// Ends the lag: lists see the current state, and watches deliver the events held back.
    pub fn catch_up(&self) {
        self.stop_at(u64::MAX);
    }

    /// Returns the last visible revision for a store at revision `current`.
    pub(super) fn limit(&self, current: u64) -> u64 {
        self.state.arrived.load(Ordering::Acquire).min(current)
    }

    pub(super) fn listen(&self) -> Listener {
        self.state.notifier.listen()
    }
}
