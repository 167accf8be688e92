//! Parallel execution of many small pieces of work.

use std::{
    num::NonZeroUsize,
    sync::atomic::{AtomicUsize, Ordering::Relaxed},
    thread,
};

/// Number of threads and chunk size of [`parallelize_until`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Parallelism {
    /// Maximum number of threads.
    pub workers: NonZeroUsize,
    /// Number of consecutive pieces that a thread takes at once; larger for cheaper pieces.
    pub chunk: NonZeroUsize,
}

/// Runs `work` for each piece of `0..pieces` and returns when all are done; client-go's `ParallelizeUntil`.
///
/// At most `workers` threads run, and no more than there are chunks. Once `cancelled` returns true, no further piece is
/// started; running pieces are waited for.
///
/// This function blocks and is meant for computation. In an async runtime, call it from `spawn_blocking`.
///
/// # Panics
///
/// If `work` panics.
pub fn parallelize_until(
    pieces: usize,
    Parallelism { workers, chunk }: Parallelism,
    cancelled: impl Fn() -> bool + Sync,
    work: impl Fn(usize) + Sync,
) {
    let chunks = pieces.div_ceil(chunk.get());
    let next = AtomicUsize::new(0);
    let run = || {
        // `Relaxed` is enough: only the counter is shared, and each value is returned once.
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
