//! The tasks that programs are made of.

use std::{
    future::{Future as _, poll_fn},
    pin::Pin,
    task::Poll,
};

use crate::world::{DELAY, Key, World};

pub(crate) type Task = Pin<Box<dyn Future<Output = ()>>>;

/// A point at which the explorer may switch to another task.
async fn step() {
    let mut stepped = false;
    poll_fn(|cx| {
        if stepped {
            return Poll::Ready(());
        }
        stepped = true;
        cx.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}

pub(crate) fn producer(world: &World, keys: &'static [u8]) -> Task {
    let world = world.clone();
    Box::pin(async move {
        for key in keys {
            world.add(*key);
            step().await;
        }
    })
}

pub(crate) fn worker(world: &World) -> Task {
    let world = world.clone();
    Box::pin(work(world))
}

async fn work(world: World) {
    while let Some(item) = world.queue.get().await {
        world.begin(item.0);
        step().await;
        world.end(item.0);
        item.done();
        step().await;
    }
}

/// A worker that processes one key and ends.
pub(crate) fn leaving_worker(world: &World) -> Task {
    let world = world.clone();
    Box::pin(async move {
        if let Some(item) = world.queue.get().await {
            world.begin(item.0);
            step().await;
            world.end(item.0);
        }
    })
}

/// A worker that drops its first `get` at some time after it returned `Pending`, woken or not.
pub(crate) fn fickle_worker(world: &World) -> Task {
    let world = world.clone();
    Box::pin(async move {
        let mut first = Box::pin(world.queue.get());
        match poll_fn(|cx| Poll::Ready(first.as_mut().poll(cx))).await {
            Poll::Pending => step().await,
            Poll::Ready(None) => return,
            Poll::Ready(Some(item)) => {
                world.begin(item.0);
                world.end(item.0);
            }
        }
        drop(first);
    })
}

pub(crate) fn shut_down(world: &World) -> Task {
    let world = world.clone();
    Box::pin(async move {
        step().await;
        world.queue.shut_down();
    })
}

pub(crate) fn drain(world: &World) -> Task {
    let world = world.clone();
    Box::pin(async move {
        step().await;
        world.queue.shut_down_with_drain().await;
        let log = world.log.borrow();
        assert!(log.processing.is_empty() && log.pending.is_empty(), "drained too early");
    })
}

pub(crate) fn delaying_producer(world: &World, keys: &'static [u8]) -> Task {
    let world = world.clone();
    Box::pin(async move {
        for key in keys {
            world.wanted(*key);
            world.queue.add_after(Key(*key), DELAY);
            step().await;
        }
    })
}

pub(crate) fn timer(world: &World) -> Task {
    let timer = world.timer.take().expect("one timer");
    Box::pin(timer.run())
}

/// A timer that is dropped after its first poll, at some time.
pub(crate) fn aborted_timer(world: &World) -> Task {
    let timer = world.timer.take().expect("one timer");
    Box::pin(async move {
        let mut running = Box::pin(timer.run());
        poll_fn(|cx| Poll::Ready(running.as_mut().poll(cx).is_ready())).await;
        step().await;
        drop(running);
    })
}

pub(crate) fn clock(world: &World) -> Task {
    let world = world.clone();
    Box::pin(async move {
        step().await;
        world.pass_time();
    })
}

/// A drain that a later `shut_down` may end early.
pub(crate) fn drain_or_release(world: &World) -> Task {
    let world = world.clone();
    Box::pin(async move {
        step().await;
        world.queue.shut_down_with_drain().await;
    })
}

/// A worker that fails the first attempt of each key.
pub(crate) fn retrying_worker(world: &World) -> Task {
    let world = world.clone();
    Box::pin(async move {
        while let Some(item) = world.queue.get().await {
            let key = item.0;
            world.begin(key);
            step().await;
            world.end(key);
            if world.queue.num_requeues(&item) == 0 {
                world.wanted(key);
                item.retry();
            } else {
                item.done();
            }
            step().await;
        }
    })
}
