//! Time per operation of a queue. Run with `cargo bench -p kube-workqueue --bench queue`.
#![expect(clippy::disallowed_methods, reason = "benches read the clock")]
#![allow(missing_docs, reason = "criterion's macros generate a public function")]

use std::{
    pin::pin,
    sync::Arc,
    task::{Context, Poll, Waker},
    time::{Duration, Instant},
};

use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};
use kube_workqueue::{Item, Queue, Timer};
use tokio::{runtime, task::JoinSet};

mod keys;
use keys::keys;

type Key = Arc<str>;

const HOUR: Duration = Duration::from_secs(3_600);

fn queue() -> (Queue<Key>, Timer<Key>) {
    Queue::builder().build()
}

/// Returns the output of a future that is ready at its first poll.
fn now<T>(future: impl Future<Output = T>) -> T {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(value) => value,
        Poll::Pending => unreachable!("a key is queued"),
    }
}

fn fill(queue: &Queue<Key>, keys: &[Key]) {
    for key in keys {
        queue.add(key.clone());
    }
}

fn take(queue: &Queue<Key>) -> Item<'_, Key> {
    now(queue.get()).expect("not shut down")
}

fn cycle(c: &mut Criterion) {
    let mut group = c.benchmark_group("add, get and done");
    for (name, count) in [("100 keys", 100), ("1,000,000 keys", 1_000_000)] {
        let keys = keys(count);
        let (queue, _timer) = queue();
        let mut next = keys.iter().cycle();
        group.bench_function(name, |b| {
            b.iter(|| {
                queue.add(next.next().expect("endless").clone());
                take(&queue).done();
            });
        });
    }
    group.finish();
}

/// Measures one producer and eight workers, from the first add to the end of the drain.
fn workers(c: &mut Criterion) {
    let mut group = c.benchmark_group("add, get and done by 8 workers");
    let keys: Arc<[Key]> = keys(10_000).into();
    group.throughput(Throughput::Elements(keys.len() as u64));
    let one_thread = runtime::Builder::new_current_thread().build().expect("a runtime");
    let two_threads = runtime::Builder::new_multi_thread().worker_threads(2).build().expect("a runtime");
    for (name, runtime) in [("10,000 keys, 1 thread", one_thread), ("10,000 keys, 2 threads", two_threads)] {
        group.bench_function(name, |b| {
            b.iter_custom(|rounds| {
                let mut set = JoinSet::new();
                set.spawn_on(produce_and_work(keys.clone(), rounds), runtime.handle());
                runtime.block_on(set.join_next()).expect("one task").expect("no panic")
            });
        });
    }
    group.finish();
}

async fn work(queue: Queue<Key>) {
    while queue.get().await.is_some() {}
}

async fn produce_and_work(keys: Arc<[Key]>, rounds: u64) -> Duration {
    let mut spent = Duration::ZERO;
    for _ in 0..rounds {
        let (queue, _timer) = queue();
        let mut workers = JoinSet::new();
        for _ in 0..8 {
            workers.spawn(work(queue.clone()));
        }
        let start = Instant::now();
        fill(&queue, &keys);
        queue.shut_down();
        workers.join_all().await;
        spent += start.elapsed();
    }
    spent
}

fn bulk(c: &mut Criterion) {
    let keys = keys(1_000_000);
    let mut group = c.benchmark_group("add all, then get and done all");
    group.sample_size(10).throughput(Throughput::Elements(keys.len() as u64));
    group.bench_function("1,000,000 keys", |b| {
        b.iter_batched(
            queue,
            |(queue, timer)| {
                fill(&queue, &keys);
                for _ in &keys {
                    take(&queue).done();
                }
                (queue, timer)
            },
            BatchSize::PerIteration,
        );
    });
    group.finish();
}

fn duplicate(c: &mut Criterion) {
    let keys = keys(10_000);
    let (queue, _timer) = queue();
    fill(&queue, &keys);
    let mut next = keys.iter().cycle();
    c.bench_function("add of a queued key", |b| b.iter(|| queue.add(next.next().expect("endless").clone())));
}

fn delays(c: &mut Criterion) {
    let keys = keys(100_000);
    let mut group = c.benchmark_group("add_after an hour ahead");
    group.sample_size(20).throughput(Throughput::Elements(keys.len() as u64));
    group.bench_function("100,000 keys", |b| {
        b.iter_batched(
            queue,
            |(queue, timer)| {
                for key in &keys {
                    queue.add_after(key.clone(), HOUR);
                }
                (queue, timer)
            },
            BatchSize::PerIteration,
        );
    });
    group.finish();
}

criterion_group!(benches, cycle, workers, bulk, duplicate, delays);
criterion_main!(benches);
