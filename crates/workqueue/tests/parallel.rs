//! Counterparts of client-go's `parallelizer_test.go`.

use std::{
    num::NonZeroUsize,
    sync::atomic::{AtomicUsize, Ordering::SeqCst},
};

use kube_workqueue::{Parallelism, parallelize_until};

fn by(workers: usize, chunk: usize) -> Parallelism {
    Parallelism {
        workers: NonZeroUsize::new(workers).expect("not zero"),
        chunk: NonZeroUsize::new(chunk).expect("not zero"),
    }
}

// upstream: TestParallelizeUntil, its four cases
#[rstest::rstest]
#[case(1_000, 10, 1)]
#[case(1_000, 10, 10)]
#[case(1_000, 10, 100)]
#[case(999, 10, 13)]
fn every_piece_is_done_once(#[case] pieces: usize, #[case] workers: usize, #[case] chunk: usize) {
    let seen: Vec<AtomicUsize> = (0..pieces).map(|_| AtomicUsize::new(0)).collect();
    parallelize_until(
        pieces,
        by(workers, chunk),
        || false,
        |piece| {
            seen[piece].fetch_add(1, SeqCst);
        },
    );
    assert!(seen.iter().all(|times| times.load(SeqCst) == 1));
}

#[test]
fn no_pieces() {
    parallelize_until(0, by(10, 1), || false, |_| unreachable!("there are none"));
}

#[test]
fn cancelled_between_pieces() {
    let done = AtomicUsize::new(0);
    let cancelled = || done.load(SeqCst) >= 5;
    parallelize_until(100, by(1, 10), cancelled, |_| {
        done.fetch_add(1, SeqCst);
    });
    assert_eq!(done.load(SeqCst), 5);
}
