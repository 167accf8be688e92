//! Futures that wait until no key is queued or in process.

use std::{
    future::Future,
    pin::Pin,
    task::{Context, Poll},
};

use crate::{Queue, waiters::WaiterId};

/// Future that completes when the queue is drained; returned by [`Queue::drain`].
#[derive(Debug)]
#[must_use = "the shutdown has begun, but nothing waits for its end"]
pub struct Drain<'a, K>(Wait<'a, K>);

/// Future that completes when no key is queued or in process; returned by [`Queue::idle`].
#[derive(Debug)]
#[must_use = "nothing waits until this is awaited"]
pub struct Idle<'a, K>(Wait<'a, K>);

#[derive(Debug)]
struct Wait<'a, K> {
    queue: &'a Queue<K>,
    is_drain: bool,
    id: Option<WaiterId>,
}

impl<'a, K> Drain<'a, K> {
    pub(crate) fn new(queue: &'a Queue<K>) -> Self {
        Self(Wait { queue, is_drain: true, id: None })
    }
}

impl<'a, K> Idle<'a, K> {
    pub(crate) fn new(queue: &'a Queue<K>) -> Self {
        Self(Wait { queue, is_drain: false, id: None })
    }
}

impl<K> Future for Drain<'_, K> {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        self.0.poll(cx)
    }
}

impl<K> Future for Idle<'_, K> {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        self.0.poll(cx)
    }
}

impl<K> Wait<'_, K> {
    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        self.queue.shared.poll_idle(&mut self.id, self.is_drain, cx)
    }
}

impl<K> Drop for Wait<'_, K> {
    fn drop(&mut self) {
        if self.id.is_some() {
            self.queue.shared.cancel_idle(&mut self.id);
        }
    }
}
