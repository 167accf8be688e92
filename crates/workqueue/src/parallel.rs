//! Many small pieces of work on a few threads.

use std::{
    num::NonZeroUsize,
    sync::atomic::{AtomicUsize, Ordering::Relaxed},
    thread,
};

/// How [`parallelize_until`] divides the work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Parallelism {
    /// The most threads at work.
    pub workers: NonZeroUsize,
    /// How many pieces in a row a thread takes at a time: more for pieces that are small.
    pub chunk: NonZeroUsize,
}

/// Runs `work` for each of the pieces `0..pieces`, on no more threads than there are chunks, and returns when all are
/// done. From when `cancelled` says so, no piece is begun; those begun are waited for.
///
/// It blocks, and is meant for work that computes: within an async runtime, call it where blocking is allowed.
///
/// # Panics
///
/// If `work` does.
pub fn parallelize_until(
    pieces: usize,
    Parallelism { workers, chunk }: Parallelism,
    cancelled: impl Fn() -> bool + Sync,
    work: impl Fn(usize) + Sync,
) {
    let chunks = pieces.div_ceil(chunk.get());
    let next = AtomicUsize::new(0);
    let run = || {
        // Each index is taken once: one thread's increment is seen by the next, in whatever order.
        let mine = || Some(next.fetch_add(1, Relaxed)).filter(|at| *at < chunks);
        while let Some(at) = mine() {
            let first = at * chunk.get();
            for piece in first..pieces.min(first + chunk.get()) {
                if cancelled() {
                    return;
                }
                work(piece);
            }
        }
    };
    thread::scope(|scope| {
        for _ in 0..workers.get().min(chunks) {
            scope.spawn(run);
        }
    });
}
