//! Encoding allocates no memory apart from the output buffer.

use kube_endpoint_model::{EndpointSlice, Endpoints};
use kube_endpoints_testing::fixture;
use kube_wire::{Decode, decode_list};
use serde::Serialize;

#[global_allocator]
static ALLOCATOR: dhat::Alloc = dhat::Alloc;

/// Encodes objects recorded from a real API server into a buffer with enough capacity.
fn check<T: Decode + Serialize>(recording: &str) {
    let objects = decode_list::<T>(&fixture(recording)).expect("a recording that decodes").items;
    assert!(!objects.is_empty());
    let mut buffer = Vec::with_capacity(1 << 20);
    // The first encoding allocates text that all later ones share, and the test harness allocates on another thread.
    let rounds = (0..5).map(|_| {
        buffer.clear();
        let before = dhat::HeapStats::get().total_blocks;
        serde_json::to_writer(&mut buffer, &objects).expect("JSON");
        dhat::HeapStats::get().total_blocks - before
    });
    assert_eq!(rounds.min(), Some(0), "{recording}");
}

// A single test, because the profiler is global.
#[test]
fn encoding_does_not_allocate() {
    let _profiler = dhat::Profiler::builder().testing().build();
    check::<Endpoints>("endpoints.list.json");
    check::<EndpointSlice>("endpointslice.list.json");
}
