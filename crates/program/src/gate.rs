//! Gate of the writes of a controller.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::Duration;

use kube_controller_client::WriteGate;
use kube_lease_election::Fence;
use tokio::time::Instant;

/// Time for which the gate of a controller without leader election is open: longer than any process runs.
const FOREVER: Duration = Duration::from_secs(30 * 365 * 24 * 60 * 60);

/// Gate that is open without leader election, and with it, while the process leads. It exists before it is known
/// whether the controller has leader election, so that the order of the builder's calls does not matter.
#[derive(Debug)]
pub(crate) struct Gate {
    is_elected: AtomicBool,
    fence: OnceLock<Fence>,
    end: Instant,
}

impl Gate {
    pub(crate) fn new() -> Self {
        let end = Instant::now() + FOREVER;
        Gate { is_elected: AtomicBool::new(false), fence: OnceLock::new(), end }
    }

    /// Closes the gate until [`lead`](Self::lead).
    pub(crate) fn close(&self) {
        self.is_elected.store(true, Relaxed);
    }

    /// Sets the fence of the election, once.
    pub(crate) fn lead(&self, fence: Fence) {
        let _ = self.fence.set(fence);
    }
}

impl WriteGate for Gate {
    fn open_until(&self) -> Option<Instant> {
        match self.fence.get() {
            Some(fence) => fence.open_until(),
            None => (!self.is_elected.load(Relaxed)).then_some(self.end),
        }
    }
}
