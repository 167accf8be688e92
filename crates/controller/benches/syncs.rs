//! From changes to syncs: pacing, the queue and the workers.

use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::Duration;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use kube_controller::{Controller, Metrics, Urgency};
use kube_workqueue::Queue;
use tokio::runtime;
use tokio::sync::Notify;
use tokio::task::JoinSet;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

/// Returns the time in which five workers sync each key once after its change.
async fn change_and_sync(names: &[Arc<str>]) -> Duration {
    let (left, ended) = (Arc::new(AtomicUsize::new(names.len())), Arc::new(Notify::new()));
    let builder = Controller::builder("bench", Queue::builder(), Metrics::default()).concurrency(5);
    let keys = builder.enqueuer(Some("bench"));
    let all = Arc::clone(&ended);
    let controller = builder.build(move |_: Arc<str>| {
        if left.fetch_sub(1, Relaxed) == 1 {
            ended.notify_one();
        }
        async { Ok::<(), Infallible>(()) }
    });
    let mut tasks = JoinSet::new();
    tasks.spawn(controller.run(CancellationToken::new()));
    let start = Instant::now();
    for name in names {
        keys.add_change(Arc::clone(name), Urgency::Normal);
    }
    all.notified().await;
    start.elapsed()
}

fn changes(c: &mut Criterion) {
    let runtime = runtime::Builder::new_current_thread().enable_time().build().expect("a runtime");
    let mut group = c.benchmark_group("controller/change_and_sync");
    for count in [1_000_u32, 10_000, 100_000] {
        let names: Vec<Arc<str>> = (0..count).map(|number| format!("shop/web-{number}").into()).collect();
        group.sample_size(10).throughput(Throughput::Elements(count.into()));
        group.bench_with_input(BenchmarkId::from_parameter(count), &names, |b, names| {
            b.iter_custom(|rounds| {
                runtime.block_on(async {
                    let mut spent = Duration::ZERO;
                    for _ in 0..rounds {
                        spent += change_and_sync(names).await;
                    }
                    spent
                })
            });
        });
    }
    group.finish();
}

criterion_group!(benches, changes);
criterion_main!(benches);
