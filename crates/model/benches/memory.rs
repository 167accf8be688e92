//! Bytes of heap a stored Pod, ours beside the full type in the store of `kube`.
//!
//! `cargo bench -p kube-endpoint-model --bench memory`

#![expect(clippy::print_stdout, reason = "the figures are what is asked for")]

mod pods;

use std::sync::Arc;

use k8s_openapi::api::core::v1 as core;
use kube::runtime::{reflector, watcher};
use kube_endpoint_model::{Pod, PodIndex};
use kube_informer::Store;
use kube_wire::Decode;

use crate::pods::Made;

#[global_allocator]
static ALLOCATOR: dhat::Alloc = dhat::Alloc;

fn main() {
    println!("| Pods | made by | Pod alone, B | with store and index, B | allocations, JSON | kube's reflector, B |");
    println!("|---:|---|---:|---:|---:|---:|");
    for count in [1_000, 10_000] {
        for made in [Made::ByReplicaSets, Made::ByStatefulSets] {
            let documents = pods::json(made, count);
            let (alone, stored, allocations) = ours(&documents);
            println!("| {count} | {made:?} | {alone} | {stored} | {allocations} | {} |", theirs(&documents));
        }
    }
}

fn ours(documents: &[Vec<u8>]) -> (usize, usize, u64) {
    let profiler = dhat::Profiler::builder().testing().build();
    let count = documents.len();
    let mut pods = Vec::with_capacity(count);
    let before = dhat::HeapStats::get();
    pods.extend(documents.iter().filter_map(|it| Pod::from_json(it).ok()).map(Arc::new));
    let decoded = dhat::HeapStats::get();
    let store = Store::new(PodIndex::default(), PodIndex::update);
    for pod in pods.drain(..) {
        store.upsert(pod);
    }
    let stored = dhat::HeapStats::get();
    drop((store, profiler));
    (
        (decoded.curr_bytes - before.curr_bytes) / count,
        (stored.curr_bytes - before.curr_bytes) / count,
        (decoded.total_blocks - before.total_blocks) / count as u64,
    )
}

fn theirs(documents: &[Vec<u8>]) -> usize {
    let profiler = dhat::Profiler::builder().testing().build();
    let (reader, mut writer) = reflector::store::<core::Pod>();
    writer.apply_watcher_event(&watcher::Event::Init);
    for document in documents {
        if let Ok(mut pod) = serde_json::from_slice::<core::Pod>(document) {
            // As is usual, and as upstream does.
            pod.metadata.managed_fields = None;
            writer.apply_watcher_event(&watcher::Event::InitApply(pod));
        }
    }
    writer.apply_watcher_event(&watcher::Event::InitDone);
    let bytes = dhat::HeapStats::get().curr_bytes;
    drop((reader, writer, profiler));
    bytes / documents.len()
}
