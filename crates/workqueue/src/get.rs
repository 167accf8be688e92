//! The future of `get`.

use std::{
    future::Future,
    pin::Pin,
    task::{Context, Poll, ready},
    time::Duration,
};

use tokio::time::{Instant, Sleep, sleep_until};

use crate::{Item, Queue, shared::Polled, waiters::WaiterId};

/// Future of the next key and its guard; returned by [`Queue::get`].
#[derive(Debug)]
#[must_use = "a key is handed out when this is awaited"]
pub struct Get<'a, K> {
    queue: &'a Queue<K>,
    /// Registration of a waiting worker.
    id: Option<WaiterId>,
    /// Until the earliest deadline, if no timer runs.
    sleep: Option<Pin<Box<Sleep>>>,
}

/// Longest single sleep. Tokio's timer is limited to about two years, and a wake-up per day costs nothing.
pub(crate) const LONGEST_SLEEP: Duration = Duration::from_secs(24 * 60 * 60);

impl<'a, K> Get<'a, K> {
    #[inline]
    pub(crate) fn new(queue: &'a Queue<K>) -> Self {
        Self { queue, id: None, sleep: None }
    }
}

impl<'a, K: Clone + Eq> Future for Get<'a, K> {
    type Output = Option<Item<'a, K>>;

    #[inline]
    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        // Without tokio's budget, a worker whose queue is never empty would never yield to other tasks of its thread.
        #[cfg(not(loom))]
        let budget = ready!(tokio::task::coop::poll_proceed(cx));
        let queue = self.queue;
        let item = loop {
            match queue.shared.poll_get(&mut self.id, cx) {
                Polled::Taken(taken) => break Some(Item::new(queue, taken)),
                Polled::Ended => break None,
                Polled::Asleep { until: None } => return Poll::Pending,
                Polled::Asleep { until: Some(due) } => {
                    let due = due.min(Instant::now() + LONGEST_SLEEP);
                    let sleep = self.sleep.get_or_insert_with(|| Box::pin(sleep_until(due)));
                    sleep.as_mut().reset(due);
                    ready!(sleep.as_mut().poll(cx));
                }
            }
        };
        #[cfg(not(loom))]
        budget.made_progress();
        Poll::Ready(item)
    }
}

impl<K> Drop for Get<'_, K> {
    #[inline]
    fn drop(&mut self) {
        if self.id.is_some() {
            self.queue.shared.cancel_get(&mut self.id);
        }
    }
}
