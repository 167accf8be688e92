//! Reads of an API server that is behind the others.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::bell::{Bell, Listener};

/// How far reads of an [`InProcess`](super::InProcess) service may see, as if its API server were a replica whose watch cache
/// has fallen behind the store.
///
/// While it is behind, lists with a resource version other than exact ones return the state of the [last revision that
/// arrived](Self::stop_at) (a list of the most recent state does not: real servers read it from the store), later versions are
/// refused with 504 and the cause `ResourceVersionTooLarge`, a watch delivers nothing later, and a streaming list of the most
/// recent state delivers nothing. Writes and reads of single objects are not affected. Clones share the state.
#[derive(Clone, Debug, Default)]
pub struct Lag {
    state: Arc<State>,
}

#[derive(Debug)]
struct State {
    /// The last revision that arrived; the greatest number if there is no lag.
    arrived: AtomicU64,
    bell: Bell,
}

impl Default for State {
    fn default() -> Self {
        State { arrived: AtomicU64::new(u64::MAX), bell: Bell::default() }
    }
}

impl Lag {
    /// Reads see nothing later than `revision` until [`catch_up`](Self::catch_up).
    pub fn stop_at(&self, revision: u64) {
        self.state.arrived.store(revision, Ordering::Release);
        self.state.bell.ring(revision);
    }

    /// Reads see everything, and watches deliver what they held back.
    pub fn catch_up(&self) {
        self.stop_at(u64::MAX);
    }

    /// The last revision that reads see, when the store is at `current`.
    pub(super) fn limit(&self, current: u64) -> u64 {
        self.state.arrived.load(Ordering::Acquire).min(current)
    }

    pub(super) fn listen(&self) -> Listener {
        self.state.bell.listen()
    }
}
