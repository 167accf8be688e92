//! The timer task of a queue.

use std::{
    fmt,
    future::{Future, poll_fn},
    pin::pin,
    task::{Poll, ready},
};

use tokio::time::{Instant, sleep_until};

use crate::{
    get::LONGEST_SLEEP,
    metrics::REPORT_EVERY,
    shared::{Next, Shared},
    sync::Arc,
};

/// The timer of a queue: queues delayed keys when they are due, and reports the ages of keys in process to the metrics.
///
/// Spawn [`run`](Timer::run) into the set of tasks that owns the queue's workers. While it does not run, delayed keys
/// are queued by waiting [`get`](crate::Queue::get)s: no key is lost, but while all workers are busy, delayed keys do
/// not count as queued and the metrics do not report keys in process.
#[must_use = "it does nothing until it runs"]
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
        let _running = Running(&self.shared);
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

/// Leaves the delayed keys to waiting `get`s when the timer is dropped.
struct Running<'a, K>(&'a Shared<K>);

impl<K> Drop for Running<'_, K> {
    fn drop(&mut self) {
        self.0.timer_ended();
    }
}

impl<K> fmt::Debug for Timer<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Timer").finish_non_exhaustive()
    }
}
