//! Memory of a stored Pod, counted by the allocator. No times are measured, so results are the same on every machine.

use kube_endpoint_model::{Interner, Pod, PodIndex};
use kube_endpoints_testing::pods::{self, OwnerKind};
use kube_informer::ManualSource;
use kube_wire::Decode;

#[global_allocator]
static ALLOCATOR: dhat::Alloc = dhat::Alloc;

const PODS: usize = 3_000;

/// Returns the heap bytes per Pod of a filled store, with the Pod's share of the store, the pools and the index, and
/// the allocations per decoded Pod.
fn measure(documents: &[Vec<u8>], read: impl Fn(&[u8]) -> Pod) -> (usize, u64) {
    let _profiler = dhat::Profiler::builder().testing().trim_backtraces(Some(4)).build();
    let (informer, source) = ManualSource::with_index(PodIndex::default());
    let before = dhat::HeapStats::get();
    let interner = Interner::default();
    let mut allocations = 0;
    for document in documents {
        let before = dhat::HeapStats::get().total_blocks;
        let pod = interner.run(|| read(document));
        allocations += dhat::HeapStats::get().total_blocks - before;
        source.apply(pod);
    }
    assert_eq!(informer.lister().len(), documents.len());
    let bytes = dhat::HeapStats::get().curr_bytes - before.curr_bytes;
    (bytes.div_ceil(documents.len()), allocations.div_ceil(documents.len() as u64))
}

/// One test only: the profiler counts for the whole process.
#[test]
fn memory_of_a_stored_pod_is_bounded() {
    for (owner, max_bytes, max_allocations) in [(OwnerKind::ReplicaSet, 330, 8), (OwnerKind::StatefulSet, 560, 12)] {
        let json = measure(&pods::json(owner, PODS), |it| Pod::from_json(it).expect("a Pod"));
        let protobuf = measure(&pods::protobuf(owner, PODS), |it| Pod::from_protobuf(it).expect("a Pod"));
        for (encoding, (bytes, allocations)) in [("JSON", json), ("protobuf", protobuf)] {
            eprintln!("{owner:?} from {encoding}: {bytes} B, {allocations} allocations");
            assert!(bytes <= max_bytes && allocations <= max_allocations, "{bytes} B, {allocations} allocations");
        }
    }
}
