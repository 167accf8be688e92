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

/// Future that completes when no key is queued, in process or delayed; returned by [`Queue::settled`].
#[derive(Debug)]
#[must_use = "nothing waits until this is awaited"]
pub struct Settled<'a, K>(Wait<'a, K>);

/// What a task waits for. All of it requires that no key is queued or in process.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Until {
    Idle,
    /// No key is delayed either.
    Settled,
    /// Or a plain shutdown has cancelled the drain.
    Drained,
}

#[derive(Debug)]
struct Wait<'a, K> {
    queue: &'a Queue<K>,
    until: Until,
    id: Option<WaiterId>,
}

impl<'a, K> Wait<'a, K> {
    fn new(queue: &'a Queue<K>, until: Until) -> Self {
        Self { queue, until, id: None }
    }

    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        self.queue.shared.poll_idle(&mut self.id, self.until, cx)
    }
}

impl<K> Drop for Wait<'_, K> {
    fn drop(&mut self) {
        if self.id.is_some() {
            self.queue.shared.cancel_idle(&mut self.id);
        }
    }
}

impl<'a, K> Drain<'a, K> {
    pub(crate) fn new(queue: &'a Queue<K>) -> Self {
        Self(Wait::new(queue, Until::Drained))
    }
}

impl<'a, K> Idle<'a, K> {
    pub(crate) fn new(queue: &'a Queue<K>) -> Self {
        Self(Wait::new(queue, Until::Idle))
    }
}

impl<'a, K> Settled<'a, K> {
    pub(crate) fn new(queue: &'a Queue<K>) -> Self {
        Self(Wait::new(queue, Until::Settled))
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

impl<K> Future for Settled<'_, K> {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        self.0.poll(cx)
    }
}
