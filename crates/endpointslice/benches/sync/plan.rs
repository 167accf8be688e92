//! Time of a sync without its writes: computing the desired endpoints from Pods, and planning.

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};

mod world;
use world::World;

fn plans(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("desired and plan");
    for pods in [10, 100, 1_000, 10_000] {
        group.throughput(Throughput::Elements(pods as u64));
        for (state, world) in
            [("steady", World::settled(pods)), ("changed", World::changed(pods)), ("new", World::new(pods))]
        {
            group.bench_with_input(BenchmarkId::new(state, pods), &world, |bencher, world| {
                // Excludes the time to drop the plan.
                bencher.iter_with_large_drop(|| world.sync());
            });
        }
    }
    group.finish();
}

criterion_group!(benches, plans);
criterion_main!(benches);
