//! What the operations of a queue cost. Run with `cargo bench -p kube-workqueue --bench queue`.
#![expect(clippy::disallowed_methods, reason = "benches read the clock")]
#![allow(missing_docs, reason = "criterion's macros write a public function")]

use std::{
    pin::pin,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering::SeqCst},
    },
    task::{Context, Poll, Waker},
    time::{Duration, Instant},
};

use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};
use kube_workqueue::{Item, Queue, Timer};
use tokio::{runtime, sync::Notify, task::JoinSet};

mod keys;
use keys::keys;

type Key = Arc<str>;

const HOUR: Duration = Duration::from_secs(3_600);

fn queue() -> (Queue<Key>, Timer<Key>) {
    Queue::builder().build()
}

/// The value of a future that need not wait.
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

fn take(queue: &Queue<Key>) -> Item<Key> {
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
        let mut next = keys.iter().cycle();
        group.bench_function(format!("{name}, without the guard"), |b| {
            b.iter(|| {
                queue.add(next.next().expect("endless").clone());
                let key = now(queue.get_key()).expect("not shut down");
                queue.done(&key);
            });
        });
    }
    group.finish();
}

/// One producer and eight workers. A round is over when all of its keys are done.
fn workers(c: &mut Criterion) {
    let mut group = c.benchmark_group("add, get and done by 8 workers");
    let keys: Arc<[Key]> = keys(10_000).into();
    group.throughput(Throughput::Elements(keys.len() as u64));
    let one_thread = runtime::Builder::new_current_thread().build().expect("a runtime");
    let two_threads = runtime::Builder::new_multi_thread().worker_threads(2).build().expect("a runtime");
    for (name, runtime) in [("10,000 keys, 1 thread", one_thread), ("10,000 keys, 2 threads", two_threads)] {
        let (queue, _timer) = queue();
        let done = Arc::new(AtomicUsize::new(0));
        let round = Arc::new(Notify::new());
        let mut set = JoinSet::new();
        for _ in 0..8 {
            let (queue, done, round, count) = (queue.clone(), done.clone(), round.clone(), keys.len());
            let work = async move {
                while let Some(item) = queue.get().await {
                    item.done();
                    if (done.fetch_add(1, SeqCst) + 1).is_multiple_of(count) {
                        round.notify_one();
                    }
                }
            };
            set.spawn_on(work, runtime.handle());
        }
        group.bench_function(name, |b| {
            b.iter_custom(|rounds| {
                let (keys, queue, round) = (keys.clone(), queue.clone(), round.clone());
                let mut producer = JoinSet::new();
                let produce = async move {
                    let start = Instant::now();
                    for _ in 0..rounds {
                        fill(&queue, &keys);
                        round.notified().await;
                    }
                    start.elapsed()
                };
                producer.spawn_on(produce, runtime.handle());
                runtime.block_on(producer.join_next()).expect("one task").expect("no panic")
            });
        });
        queue.shut_down();
        runtime.block_on(set.join_all());
    }
    group.finish();
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
