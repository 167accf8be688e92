//! Contention of operating-system threads: covers the real lock and long runs, which the schedules of
//! `interleavings/` does not. Asserts counts, not times.

use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicU32, Ordering::SeqCst},
    },
    thread,
    time::Duration,
};

use kube_workqueue::Queue;
use tokio::{
    runtime::{self, Runtime},
    sync::Barrier,
    task::{JoinSet, yield_now},
    time::timeout,
};

const KEYS: usize = 16;
const PRODUCERS: usize = 3;
const WORKERS: usize = 8;

/// Timeout of a wait; reached only if the test fails.
const FOREVER: Duration = Duration::from_secs(60);

/// Counters of one key.
#[derive(Default)]
struct Seen {
    /// Incremented before every add.
    wanted: AtomicU32,
    /// Value of `wanted` when the key was last processed.
    processed: AtomicU32,
    workers: AtomicU32,
}

impl Seen {
    async fn process(&self) {
        assert_eq!(self.workers.fetch_add(1, SeqCst), 0, "two workers at once");
        let wanted = self.wanted.load(SeqCst);
        // Lets adds happen while the key is in process.
        yield_now().await;
        self.processed.store(wanted, SeqCst);
        self.workers.fetch_sub(1, SeqCst);
    }
}

async fn work(queue: Queue<usize>, seen: Arc<[Seen; KEYS]>) {
    while let Some(item) = queue.get().await {
        seen[*item].process().await;
    }
}

/// When the workers of a shut down queue have ended, every key was processed after its last add, by one worker at a time.
#[test]
fn no_add_is_lost() {
    let runtime = runtime::Builder::new_multi_thread().worker_threads(3).build().unwrap();
    // Only the last adds of a round can be lost undetected, hence many rounds.
    for _ in 0..300 {
        round(&runtime);
    }
}

fn round(runtime: &Runtime) {
    const ADDS: usize = 100;
    let (queue, _timer) = Queue::builder().build();
    let seen: Arc<[Seen; KEYS]> = Arc::default();
    let mut workers = JoinSet::new();
    for _ in 0..6 {
        workers.spawn_on(work(queue.clone(), seen.clone()), runtime.handle());
    }
    thread::scope(|scope| {
        for producer in 0..PRODUCERS {
            let (queue, seen) = (&queue, &seen);
            scope.spawn(move || {
                for at in 0..ADDS {
                    let key = (at * (producer + 1) + producer) % KEYS;
                    seen[key].wanted.fetch_add(1, SeqCst);
                    queue.add(key);
                }
            });
        }
    });
    runtime.block_on(async {
        queue.shut_down();
        workers.join_all().await;
    });
    let wanted: Vec<_> = seen.iter().map(|it| it.wanted.load(SeqCst)).collect();
    let processed: Vec<_> = seen.iter().map(|it| it.processed.load(SeqCst)).collect();
    assert_eq!(wanted.iter().sum::<u32>() as usize, PRODUCERS * ADDS);
    assert_eq!(processed, wanted);
}

/// A single worker gets the keys of each producer in the order of the adds.
#[test]
fn the_order_of_each_producer_is_kept() {
    const ADDS: usize = 20_000;
    let runtime = runtime::Builder::new_multi_thread().worker_threads(1).build().unwrap();
    let (queue, _timer) = Queue::<(usize, usize)>::builder().build();
    let order: Arc<Mutex<Vec<_>>> = Arc::default();
    let mut worker = JoinSet::new();
    let (taken, from) = (order.clone(), queue.clone());
    let take_all = async move {
        while let Some(item) = from.get().await {
            taken.lock().unwrap().push(*item);
        }
    };
    worker.spawn_on(take_all, runtime.handle());
    thread::scope(|scope| {
        for producer in 0..PRODUCERS {
            let queue = &queue;
            scope.spawn(move || (0..ADDS).for_each(|at| queue.add((producer, at))));
        }
    });
    queue.shut_down();
    runtime.block_on(worker.join_all());
    for producer in 0..PRODUCERS {
        let order = order.lock().unwrap();
        let of_producer = order.iter().filter(|it| it.0 == producer).map(|it| it.1);
        assert!(of_producer.eq(0..ADDS), "producer {producer}");
    }
}

/// With as many keys as workers, all workers are busy at once: each round ends when all of them hold a key.
#[test]
fn no_worker_sleeps_while_keys_wait() {
    let runtime = runtime::Builder::new_multi_thread().worker_threads(2).enable_time().build().unwrap();
    let (queue, _timer) = Queue::<usize>::builder().build();
    let all_busy = Arc::new(Barrier::new(WORKERS + 1));
    let mut workers = JoinSet::new();
    for _ in 0..WORKERS {
        let (queue, all_busy) = (queue.clone(), all_busy.clone());
        let work = async move {
            while let Some(_item) = queue.get().await {
                all_busy.wait().await;
            }
        };
        workers.spawn_on(work, runtime.handle());
    }
    runtime.block_on(async {
        for round in 0..1_000 {
            (0..WORKERS).for_each(|at| queue.add(round * WORKERS + at));
            timeout(FOREVER, all_busy.wait()).await.expect("every worker takes a key");
        }
        queue.shut_down();
        workers.join_all().await;
    });
}
