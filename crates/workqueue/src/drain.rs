//! The future that waits until no key is queued or in process.

use std::{
    future::Future,
    pin::Pin,
    task::{Context, Poll},
};

use crate::{Queue, waiters::WaiterId};

/// Future that completes when the queue is drained; returned by [`Queue::shut_down_with_drain`].
#[derive(Debug)]
#[must_use = "the shutdown has begun, but nothing waits for its end"]
pub struct Drain<'a, K> {
    queue: &'a Queue<K>,
    id: Option<WaiterId>,
}

impl<'a, K> Drain<'a, K> {
    pub(crate) fn new(queue: &'a Queue<K>) -> Self {
        Self { queue, id: None }
    }
}

impl<K> Future for Drain<'_, K> {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        self.queue.shared.poll_drain(&mut self.id, cx)
    }
}

impl<K> Drop for Drain<'_, K> {
    fn drop(&mut self) {
        if self.id.is_some() {
            self.queue.shared.cancel_drain(&mut self.id);
        }
    }
}
