//! Cost of a call with and without a simulation, compared with `jiff` and `rand`.

use std::time::Duration;

use criterion::{Criterion, criterion_group, criterion_main};
use jiff::Timestamp;
use kube_ambient::{Clock, now, random, simulate};

#[expect(clippy::disallowed_methods, reason = "the baseline of the comparison")]
fn calls(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("ambient");
    group.bench_function("now/jiff", |it| it.iter(Timestamp::now));
    group.bench_function("now/system", |it| it.iter(now));
    group.bench_function("random/rand", |it| it.iter(rand::random::<u64>));
    group.bench_function("random/system", |it| it.iter(random::<u64>));
    let clock = Clock { now: Box::new(Timestamp::default), since_boot: Box::new(|| Duration::ZERO) };
    let _simulated = simulate(1, clock);
    group.bench_function("now/simulated", |it| it.iter(now));
    group.bench_function("random/simulated", |it| it.iter(random::<u64>));
}

criterion_group!(benches, calls);
criterion_main!(benches);
