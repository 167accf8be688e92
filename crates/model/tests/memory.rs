//! Memory of a stored Pod, counted by the allocator. No times are measured, so results are the same on every machine.

#[path = "../benches/pods/mod.rs"]
mod pods;

use std::env;
use std::process::Command;
use std::sync::Arc;

use kube_endpoint_model::{Pod, PodIndex};
use kube_informer::Store;
use kube_wire::Decode;
use rstest::rstest;

use crate::pods::OwnerKind;

#[global_allocator]
static ALLOCATOR: dhat::Alloc = dhat::Alloc;

const PODS: usize = 3_000;

/// Returns the heap bytes per Pod of a filled store, with the Pod's share of the store, the pools and the index, and
/// the allocations per decoded Pod.
fn measure(documents: &[Vec<u8>], read: impl Fn(&[u8]) -> Pod) -> (usize, u64) {
    let _profiler = dhat::Profiler::builder().testing().build();
    let before = dhat::HeapStats::get();
    let store = Store::new(PodIndex::default(), PodIndex::update);
    let mut allocations = 0;
    for document in documents {
        let before = dhat::HeapStats::get().total_blocks;
        let pod = read(document);
        allocations += dhat::HeapStats::get().total_blocks - before;
        store.upsert(Arc::new(pod));
    }
    assert_eq!(store.read(|objects, _| objects.len()), documents.len());
    let bytes = dhat::HeapStats::get().curr_bytes - before.curr_bytes;
    (bytes.div_ceil(documents.len()), allocations.div_ceil(documents.len() as u64))
}

/// Environment variable that selects an encoding. Each case needs a new process, because the pools are global.
const ENCODING_VARIABLE: &str = "MEASURE_IN_THIS_PROCESS";

#[rstest]
#[case::of_a_replica_set(OwnerKind::ReplicaSet, 400, 8)]
#[case::of_a_stateful_set(OwnerKind::StatefulSet, 580, 12)]
fn memory_of_a_stored_pod_is_bounded(#[case] owner: OwnerKind, #[case] max_bytes: usize, #[case] max_allocations: u64) {
    let test = std::thread::current().name().expect("the name of the test").to_owned();
    for encoding in ["JSON", "protobuf"] {
        if env::var(ENCODING_VARIABLE).is_ok_and(|it| it == encoding) {
            let (bytes, allocations) = match encoding {
                "JSON" => measure(&pods::json(owner, PODS), |it| Pod::from_json(it).expect("a Pod")),
                _ => measure(&pods::protobuf(owner, PODS), |it| Pod::from_protobuf(it).expect("a Pod")),
            };
            eprintln!("{owner:?} from {encoding}: {bytes} B, {allocations} allocations");
            assert!(bytes <= max_bytes && allocations <= max_allocations, "{bytes} B, {allocations} allocations");
        } else if env::var(ENCODING_VARIABLE).is_err() {
            let this = env::current_exe().expect("this program");
            let mut child = Command::new(this);
            child.args(["--exact", &test, "--nocapture"]).env(ENCODING_VARIABLE, encoding);
            assert!(child.status().expect("a process").success(), "from {encoding}");
        }
    }
}
