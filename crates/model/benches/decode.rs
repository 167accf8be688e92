//! Time to decode and store Pods, compared with the full type in kube's reflector store.

use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};
use k8s_openapi::api::core::v1 as core;
use kube::runtime::{reflector, watcher};
use kube_endpoint_model::{Interner, Pod, PodIndex};
use kube_endpoints_testing::pods::{self, OwnerKind};
use kube_informer::ManualSource;
use kube_wire::Decode;

const PODS: usize = 10_000;

fn decode(criterion: &mut Criterion) {
    let (json, protobuf) = (pods::json(OwnerKind::ReplicaSet, PODS), pods::protobuf(OwnerKind::ReplicaSet, PODS));
    let mut group = criterion.benchmark_group("decode 10,000 Pods");
    group.sample_size(10);
    let size = |documents: &[Vec<u8>]| Throughput::Bytes(documents.iter().map(|it| it.len() as u64).sum());
    group.throughput(size(&json));
    let interner = Interner::default();
    group.bench_function("JSON", |bencher| {
        let read = |it: &Vec<u8>| interner.run(|| Pod::from_json(it));
        bencher.iter_with_large_drop(|| json.iter().map(read).collect::<Result<Vec<_>, _>>());
    });
    group.bench_function("JSON, k8s-openapi", |bencher| {
        let read = |it: &Vec<u8>| serde_json::from_slice::<core::Pod>(it);
        bencher.iter_with_large_drop(|| json.iter().map(read).collect::<Result<Vec<_>, _>>());
    });
    group.throughput(size(&protobuf));
    group.bench_function("protobuf", |bencher| {
        let read = |it: &Vec<u8>| interner.run(|| Pod::from_protobuf(it));
        bencher.iter_with_large_drop(|| protobuf.iter().map(read).collect::<Result<Vec<_>, _>>());
    });
    group.finish();
}

/// One update event, already decoded, of a Pod whose labels do not change.
fn update(criterion: &mut Criterion) {
    let json = pods::json(OwnerKind::ReplicaSet, PODS);
    let interner = Interner::default();
    let read = |it: &Vec<u8>| interner.run(|| Pod::from_json(it)).ok();
    let stored: Vec<Pod> = json.iter().filter_map(read).collect();
    let (_informer, source) = ManualSource::with_index(PodIndex::default());
    source.replace(stored.clone(), "1");
    let mut version = 10_000_000u64;
    let mut next = |at: usize| {
        version += 1;
        Pod { resource_version: version.into(), ready: version.is_multiple_of(2), ..stored[at].clone() }
    };
    let mut group = criterion.benchmark_group("apply an update among 10,000 Pods");
    let mut at = 0;
    group.bench_function("store and index", |bencher| {
        let setup = || {
            at = (at + 7_919) % PODS;
            next(at)
        };
        bencher.iter_batched(setup, |pod| source.apply(pod), BatchSize::SmallInput);
    });
    let full: Vec<core::Pod> = json.iter().filter_map(|it| serde_json::from_slice(it).ok()).collect();
    let (_reader, mut writer) = reflector::store::<core::Pod>();
    writer.apply_watcher_event(&watcher::Event::Init);
    for pod in &full {
        writer.apply_watcher_event(&watcher::Event::InitApply(pod.clone()));
    }
    writer.apply_watcher_event(&watcher::Event::InitDone);
    group.bench_function("kube's reflector", |bencher| {
        let setup = || {
            at = (at + 7_919) % PODS;
            watcher::Event::Apply(full[at].clone())
        };
        bencher.iter_batched(setup, |event| writer.apply_watcher_event(&event), BatchSize::SmallInput);
    });
    group.finish();
}

criterion_group!(benches, decode, update);
criterion_main!(benches);
