//! Benchmark of the first list of Pods, until the store is ready: `reflector` of `kube`, and caches of this crate.

use std::time::Duration;

use cluster::{Kind, Pods};
use criterion::{BatchSize, BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};

mod cluster;

fn first_list(c: &mut Criterion) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    for count in [1_000, 5_000, 20_000] {
        let recorded = Pods::recorded(count);
        let lean = recorded.without_managed_fields();
        for (what, pods) in [("with managedFields", recorded), ("without managedFields", lean)] {
            let mut group = c.benchmark_group(format!("first list, {what}"));
            group.throughput(Throughput::Bytes((pods.size() * count) as u64));
            for kind in Kind::ALL {
                group.bench_function(BenchmarkId::new(kind.name(), count), |b| {
                    // What is listed is dropped after the measurement.
                    b.iter_batched(|| (), |()| runtime.block_on(kind.fill(&pods)), BatchSize::PerIteration);
                });
            }
            group.finish();
        }
    }
}

criterion_group! {
    name = benches;
    config = Criterion::default().warm_up_time(Duration::from_millis(500)).measurement_time(Duration::from_secs(5)).sample_size(10);
    targets = first_list
}
criterion_main!(benches);
