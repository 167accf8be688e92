//! The queue under loom: every interleaving of threads at the lock, up to a bound on preemptions.
//!
//! `RUSTFLAGS="--cfg loom" cargo test -p kube-workqueue --test loom --release`
#![expect(unexpected_cfgs, reason = "passed in RUSTFLAGS to run the model checker")]
#![cfg(loom)]

use kube_workqueue::Queue;
use loom::{
    future::block_on,
    model::Builder,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering::SeqCst},
    },
    thread::{self, JoinHandle},
};

/// State shared by the threads of one execution.
#[derive(Clone)]
struct World {
    queue: Queue<usize>,
    /// Per key: the number of workers that process it now, and how often it was processed.
    workers: Arc<[AtomicUsize; 2]>,
    processed: Arc<[AtomicUsize; 2]>,
}

impl World {
    fn new() -> Self {
        Self { queue: Queue::builder().build().0, workers: Arc::default(), processed: Arc::default() }
    }

    fn worker(&self) -> JoinHandle<()> {
        let world = self.clone();
        thread::spawn(move || {
            while let Some(item) = block_on(world.queue.get()) {
                assert_eq!(world.workers[*item].fetch_add(1, SeqCst), 0, "processed twice at once");
                world.processed[*item].fetch_add(1, SeqCst);
                world.workers[*item].fetch_sub(1, SeqCst);
                item.done();
            }
        })
    }

    fn producer(&self) -> JoinHandle<()> {
        let queue = self.queue.clone();
        thread::spawn(move || {
            queue.add(0);
            queue.add(1);
        })
    }

    fn processed(&self) -> [usize; 2] {
        [0, 1].map(|key| self.processed[key].load(SeqCst))
    }
}

fn model(check: impl Fn() + Sync + Send + 'static) {
    let mut builder = Builder::new();
    builder.preemption_bound = Some(3);
    builder.check(check);
}

/// A shutdown wakes every worker, so it happens only after both keys were processed: a lost wake-up is a deadlock.
#[test]
fn every_key_wakes_a_worker() {
    model(|| every_key_wakes_one_of(2));
}

/// With a single worker, no wake-up meant for another worker hides a lost one.
#[test]
fn every_key_wakes_the_only_worker() {
    model(|| every_key_wakes_one_of(1));
}

fn every_key_wakes_one_of(workers: usize) {
    let world = World::new();
    let worker = |_| {
        let world = world.clone();
        thread::spawn(move || {
            while let Some(item) = block_on(world.queue.get()) {
                world.processed[*item].fetch_add(1, SeqCst);
                item.done();
                if world.processed() == [1, 1] {
                    world.queue.shut_down();
                }
            }
        })
    };
    let workers: Vec<_> = (0..workers).map(worker).collect();
    world.queue.add(0);
    world.queue.add(1);
    for worker in workers {
        worker.join().unwrap();
    }
}

#[test]
fn two_workers_and_a_producer() {
    model(|| {
        let world = World::new();
        let workers = [world.worker(), world.worker()];
        world.queue.add(0);
        world.queue.add(1);
        world.queue.add(0);
        world.queue.shut_down();
        for worker in workers {
            worker.join().unwrap();
        }
        let [zero, one] = world.processed();
        assert!((1..=2).contains(&zero) && one == 1, "lost or repeated: {zero}, {one}");
    });
}

#[test]
fn a_drain_beside_two_workers() {
    model(|| {
        let world = World::new();
        let workers = [world.worker(), world.worker()];
        world.queue.add(0);
        world.queue.add(1);
        block_on(world.queue.shut_down_with_drain());
        assert_eq!(world.processed(), [1, 1], "drained too early");
        for worker in workers {
            worker.join().unwrap();
        }
    });
}

#[test]
fn a_second_producer() {
    model(|| {
        let world = World::new();
        let worker = world.worker();
        let producer = world.producer();
        world.queue.add(1);
        producer.join().unwrap();
        block_on(world.queue.shut_down_with_drain());
        worker.join().unwrap();
        let [zero, one] = world.processed();
        assert!(zero == 1 && (1..=2).contains(&one), "lost or repeated: {zero}, {one}");
    });
}

/// In either order of add and shutdown, the key is processed once or refused, and all threads end.
#[test]
fn a_shutdown_beside_an_add_and_a_done() {
    model(|| {
        let world = World::new();
        world.queue.add(0);
        let worker = world.worker();
        let producer = world.producer();
        block_on(world.queue.shut_down_with_drain());
        let drained = world.processed();
        producer.join().unwrap();
        worker.join().unwrap();
        assert!(world.queue.is_empty());
        assert_eq!(world.processed(), drained, "drained too early");
        let [zero, one] = drained;
        assert!((1..=2).contains(&zero) && one <= 1, "lost or repeated: {zero}, {one}");
    });
}
