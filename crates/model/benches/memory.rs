//! Heap bytes per stored Pod and allocations per decoded Pod, compared with the full type in kube's reflector store.
//!
//! `cargo bench -p kube-endpoint-model --bench memory`

#![expect(clippy::print_stdout, reason = "prints its results")]

use std::sync::Arc;

use k8s_openapi::api::core::v1 as core;
use kube::runtime::{reflector, watcher};
use kube_endpoint_model::{Interner, Pod, PodIndex};
use kube_endpoints_testing::pods::{self, OwnerKind};
use kube_informer::ManualSource;
use kube_wire::Decode;

#[global_allocator]
static ALLOCATOR: dhat::Alloc = dhat::Alloc;

fn main() {
    println!("| Pods | made by | how | Pod alone, B | with store and index, B | allocations |");
    println!("|---:|---|---|---:|---:|---:|");
    for count in [1_000, 10_000] {
        for (by, owner) in [("ReplicaSets", OwnerKind::ReplicaSet), ("StatefulSets", OwnerKind::StatefulSet)] {
            let (json, protobuf) = (pods::json(owner, count), pods::protobuf(owner, count));
            for (how, (alone, stored, allocations)) in [
                ("JSON", measure_store(&json, |it| Pod::from_json(it).expect("a Pod"))),
                ("protobuf", measure_store(&protobuf, |it| Pod::from_protobuf(it).expect("a Pod"))),
                ("kube's reflector", measure_reflector(&json)),
            ] {
                println!("| {count} | {by} | {how} | {alone} | {stored} | {allocations} |");
            }
        }
    }
}

fn measure_store(documents: &[Vec<u8>], read: impl Fn(&[u8]) -> Pod) -> (usize, usize, u64) {
    let _profiler = dhat::Profiler::builder().testing().build();
    let (interner, count) = (Interner::default(), documents.len());
    let mut pods = Vec::with_capacity(count);
    let (_informer, source) = ManualSource::with_index(PodIndex::default());
    let before = dhat::HeapStats::get();
    pods.extend(documents.iter().map(|it| Arc::new(interner.run(|| read(it)))));
    let decoded = dhat::HeapStats::get();
    for pod in pods.drain(..) {
        source.apply(Arc::into_inner(pod).expect("not shared"));
    }
    let stored = dhat::HeapStats::get();
    (
        (decoded.curr_bytes - before.curr_bytes) / count,
        (stored.curr_bytes - before.curr_bytes) / count,
        (decoded.total_blocks - before.total_blocks) / count as u64,
    )
}

fn measure_reflector(documents: &[Vec<u8>]) -> (usize, usize, u64) {
    let _profiler = dhat::Profiler::builder().testing().build();
    let count = documents.len();
    let (_reader, mut writer) = reflector::store::<core::Pod>();
    writer.apply_watcher_event(&watcher::Event::Init);
    let (mut alone, mut allocations) = (0, 0);
    for document in documents {
        let before = dhat::HeapStats::get();
        let mut pod: core::Pod = serde_json::from_slice(document).expect("a Pod");
        // As usual in controllers, and as upstream does.
        pod.metadata.managed_fields = None;
        let decoded = dhat::HeapStats::get();
        alone += decoded.curr_bytes - before.curr_bytes;
        allocations += decoded.total_blocks - before.total_blocks;
        writer.apply_watcher_event(&watcher::Event::InitApply(pod));
    }
    writer.apply_watcher_event(&watcher::Event::InitDone);
    (alone / count, dhat::HeapStats::get().curr_bytes / count, allocations / count as u64)
}
