//! The tasks that programs are made of.

use std::{
    future::{Future as _, poll_fn},
    pin::Pin,
    task::Poll,
};

use super::world::{DELAY, Key, World};

pub(super) type Task = Pin<Box<dyn Future<Output = ()>>>;

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

pub(super) fn producer(world: &World, keys: &'static [u8]) -> Task {
    let world = world.clone();
    Box::pin(async move {
        for key in keys {
            world.add(*key);
            step().await;
        }
    })
}

pub(super) fn worker(world: &World) -> Task {
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
pub(super) fn leaving_worker(world: &World) -> Task {
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
pub(super) fn fickle_worker(world: &World) -> Task {
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

pub(super) fn shut_down(world: &World) -> Task {
    let world = world.clone();
    Box::pin(async move {
        step().await;
        world.queue.shut_down();
    })
}

pub(super) fn delaying_producer(world: &World, keys: &'static [u8]) -> Task {
    let world = world.clone();
    Box::pin(async move {
        for key in keys {
            world.wanted(*key);
            world.queue.add_after(Key(*key), DELAY);
            step().await;
        }
    })
}

pub(super) fn timer(world: &World) -> Task {
    let timer = world.timer.take().expect("one timer");
    Box::pin(timer.run())
}

pub(super) fn clock(world: &World) -> Task {
    let world = world.clone();
    Box::pin(async move {
        step().await;
        world.pass_time();
    })
}

/// A worker that fails the first attempt of each key.
pub(super) fn retrying_worker(world: &World) -> Task {
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
