//! Benchmarks of lists, events, handlers and look-ups, by number of objects.

use std::{hint::black_box, time::Duration};

use criterion::{BatchSize, BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use kube_informer::{Informer, ManualSource, NamedIndexes};
use things::{Thing, things};

mod things;

type Indexed = NamedIndexes<Thing>;

fn indexed() -> (Informer<Thing, Indexed>, ManualSource<Thing, Indexed>) {
    let index = Indexed::new().with("node", Thing::nodes);
    ManualSource::with_index(index)
}

const SIZES: [u32; 3] = [1_000, 10_000, 100_000];

/// Stores a full list into an empty store, one with the same objects, one in which 1% differ, and one in which all
/// differ.
fn lists(c: &mut Criterion) {
    let mut group = c.benchmark_group("list");
    for size in SIZES {
        group.throughput(Throughput::Elements(size.into()));
        let before = things(size, 1);
        let mut some = before.clone();
        some.iter_mut().step_by(100).for_each(|thing| thing.version = 2);
        let cases = [
            ("first", Vec::new()),
            ("unchanged", before.clone()),
            ("1% changed", some),
            ("all changed", things(size, 2)),
        ];
        for (case, stored) in cases {
            group.bench_function(BenchmarkId::new(case, size), |b| {
                let setup = || {
                    let (informer, source) = ManualSource::new();
                    if !stored.is_empty() {
                        source.replace(stored.clone(), "1");
                    }
                    (informer, source, before.clone())
                };
                let replace = |(informer, source, list): (Informer<Thing>, ManualSource<Thing>, Vec<Thing>)| {
                    source.replace(list, "2");
                    (informer, source)
                };
                b.iter_batched(setup, replace, BatchSize::LargeInput);
            });
        }
    }
    group.finish();
}

fn events(c: &mut Criterion) {
    let mut group = c.benchmark_group("event");
    for size in SIZES {
        let (_informer, source) = indexed();
        let all = things(size, 1);
        source.replace(all.clone(), "1");
        let (mut version, mut at) = (1, 0);
        group.bench_function(BenchmarkId::new("update", size), |b| {
            b.iter(|| {
                (version, at) = (version + 1, (at + 7919) % all.len());
                source.apply(all[at].at(version));
            });
        });
    }
    group.finish();
}

/// Stores one event and delivers it to all handlers, on one thread.
fn handlers(c: &mut Criterion) {
    let mut group = c.benchmark_group("handlers");
    for count in [1, 3, 10, 100] {
        let (informer, source) = ManualSource::new();
        for _ in 0..count {
            informer.add_handler(|event| drop(black_box(event)));
        }
        source.replace(things(100, 1), "1");
        source.deliver();
        let (thing, mut version) = (things(1, 1)[0].clone(), 1);
        group.throughput(Throughput::Elements(count));
        group.bench_function(BenchmarkId::new("event", count), |b| {
            b.iter(|| {
                version += 1;
                source.apply(thing.at(version));
                source.deliver();
            });
        });
    }
    group.finish();
}

/// Looks up the ten objects of one node by index, and one object by name.
fn look_ups(c: &mut Criterion) {
    let mut group = c.benchmark_group("lister");
    for size in SIZES {
        let (informer, source) = indexed();
        source.replace(things(size, 1), "1");
        let lister = informer.lister();
        let node = (size / 20).to_string();
        assert_eq!(lister.by_index("node", &node).len(), 10);
        group.bench_function(BenchmarkId::new("10 by index", size), |b| {
            b.iter_with_large_drop(|| lister.by_index("node", black_box(&node)));
        });
        let name = format!("thing-{:07}", size / 2);
        let namespace = format!("namespace-{:04}", size / 2000);
        assert!(lister.get(&namespace, &name).is_some());
        group.bench_function(BenchmarkId::new("get", size), |b| b.iter(|| lister.get(black_box(&namespace), &name)));
    }
    group.finish();
}

criterion_group! {
    name = benches;
    config = Criterion::default().warm_up_time(Duration::from_millis(500)).measurement_time(Duration::from_secs(2)).sample_size(20);
    targets = lists, events, handlers, look_ups
}
criterion_main!(benches);
