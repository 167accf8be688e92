//! The one task per queue that sleeps.

use std::{
    fmt,
    future::{Future, poll_fn},
    pin::pin,
    task::{Poll, ready},
    time::Duration,
};

use tokio::time::{Instant, sleep_until};

use crate::{
    metrics::REPORT_EVERY,
    shared::{Next, Shared},
    sync::Arc,
};

/// The timer of a queue: adds delayed keys when they are due, and keeps the gauges of a queue with metrics current.
///
/// Spawn [`run`](Timer::run) into the set of tasks that owns the queue's workers. A queue whose timer does not run
/// works, but its delayed keys never come.
#[must_use = "delayed keys are added only while the timer runs"]
pub struct Timer<K> {
    shared: Arc<Shared<K>>,
}

impl<K> Timer<K> {
    pub(crate) fn new(shared: Arc<Shared<K>>) -> Self {
        Self { shared }
    }
}

impl<K: Clone + Eq> Timer<K> {
    /// Runs until the queue is shut down.
    ///
    /// However many keys wait, this is one sleep until the earliest deadline. It needs tokio's timer, nothing else.
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

/// Timers are exact only so far ahead; looking once a day costs nothing.
const LONGEST_SLEEP: Duration = Duration::from_secs(24 * 60 * 60);

impl<K> fmt::Debug for Timer<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Timer").finish_non_exhaustive()
    }
}
