//! The future of `get`.

use std::{
    future::Future,
    pin::Pin,
    task::{Context, Poll, ready},
};

use tokio::task::coop::poll_proceed;

use crate::{Item, Queue, waiters::WaiterId};

/// Future of the next key and its guard; returned by [`Queue::get`].
#[derive(Debug)]
#[must_use = "a key is handed out when this is awaited"]
pub struct Get<'a, K> {
    queue: &'a Queue<K>,
    /// Registration of a waiting worker.
    id: Option<WaiterId>,
}

impl<'a, K> Get<'a, K> {
    #[inline]
    pub(crate) fn new(queue: &'a Queue<K>) -> Self {
        Self { queue, id: None }
    }
}

impl<'a, K: Clone + Eq> Future for Get<'a, K> {
    type Output = Option<Item<'a, K>>;

    #[inline]
    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        // Without tokio's budget, a worker whose queue is never empty would never yield to other tasks of its thread.
        let budget = ready!(poll_proceed(cx));
        let queue = self.queue;
        let taken = ready!(queue.shared.poll_get(&mut self.id, cx));
        budget.made_progress();
        Poll::Ready(taken.map(|taken| Item::new(queue, taken)))
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
