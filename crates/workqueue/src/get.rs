//! The futures of `get` and `get_key`.

use std::{
    future::Future,
    pin::Pin,
    task::{Context, Poll, ready},
};

use crate::{Item, Queue, core::Lease, waiters::Place};

/// Future of the next key and its guard; returned by [`Queue::get`].
#[derive(Debug)]
#[must_use = "a key is handed out when this is awaited"]
pub struct Get<'a, K> {
    pub(crate) next: NextKey<'a, K>,
}

impl<'a, K: Clone + Eq> Future for Get<'a, K> {
    type Output = Option<Item<'a, K>>;

    #[inline]
    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let lease = ready!(self.next.poll(cx));
        Poll::Ready(lease.map(|lease| Item::new(self.next.queue, lease)))
    }
}

/// Future of the next key; returned by [`Queue::get_key`].
#[derive(Debug)]
#[must_use = "a key is handed out when this is awaited"]
pub struct GetKey<'a, K> {
    pub(crate) next: NextKey<'a, K>,
}

impl<K: Clone + Eq> Future for GetKey<'_, K> {
    type Output = Option<K>;

    #[inline]
    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let lease = ready!(self.next.poll(cx));
        Poll::Ready(lease.map(|lease| lease.key))
    }
}

/// The part that [`Get`] and [`GetKey`] share: the registration of a waiting worker.
#[derive(Debug)]
pub(crate) struct NextKey<'a, K> {
    queue: &'a Queue<K>,
    place: Option<Place>,
}

impl<'a, K> NextKey<'a, K> {
    #[inline]
    pub(crate) fn new(queue: &'a Queue<K>) -> Self {
        Self { queue, place: None }
    }
}

impl<K: Clone + Eq> NextKey<'_, K> {
    #[inline]
    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Option<Lease<K>>> {
        // Without tokio's budget, a worker whose queue is never empty would never yield to other tasks of its thread.
        #[cfg(not(loom))]
        let budget = ready!(tokio::task::coop::poll_proceed(cx));
        let poll = self.queue.shared.poll_get(&mut self.place, cx);
        #[cfg(not(loom))]
        if poll.is_ready() {
            budget.made_progress();
        }
        poll
    }
}

impl<K> Drop for NextKey<'_, K> {
    #[inline]
    fn drop(&mut self) {
        if self.place.is_some() {
            self.queue.shared.cancel_get(&mut self.place);
        }
    }
}
