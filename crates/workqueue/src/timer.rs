//! The timer task of a queue.

use std::{
    fmt,
    future::{Future, poll_fn},
    pin::pin,
    sync::Arc,
    task::{Poll, ready},
    time::Duration,
};

use tokio::time::{Instant, sleep_until};

use crate::{
    metrics::REPORT_EVERY,
    shared::{Next, Shared},
};

/// Longest single sleep. Tokio's timer is limited to about two years, and a wake-up per day costs nothing.
const LONGEST_SLEEP: Duration = Duration::from_secs(24 * 60 * 60);

/// The timer of a queue: queues delayed keys when they are due, and reports the ages of keys in process to the metrics.
///
/// Spawn [`run`](Timer::run) into the set of tasks that owns the queue's workers. Without it, delayed keys are never queued.
#[must_use = "delayed keys are not queued until it runs"]
pub struct Timer<K> {
    shared: Arc<Shared<K>>,
}

impl<K> Timer<K> {
    pub(crate) fn new(shared: Arc<Shared<K>>) -> Self {
        Self { shared }
    }
}

impl<K: Clone + Eq> Timer<K> {
    /// Queues delayed keys when they are due, until the queue is shut down.
    ///
    /// One sleep until the earliest deadline serves all delayed keys. Requires a tokio runtime with time enabled.
    pub async fn run(self) {
        let start = Instant::now();
        let mut report_at = start + REPORT_EVERY;
        let mut sleep = pin!(sleep_until(start));
        poll_fn(|cx| {
            loop {
                let now = Instant::now();
                match self.shared.poll_timer(now, &mut report_at, cx) {
                    Next::ShutDown => return Poll::Ready(()),
                    Next::Woken => return Poll::Pending,
                    Next::At(due) => sleep.as_mut().reset(due.min(now + LONGEST_SLEEP)),
                }
                ready!(sleep.as_mut().poll(cx));
            }
        })
        .await;
    }
}

impl<K> fmt::Debug for Timer<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Timer").finish_non_exhaustive()
    }
}
