//! Memory of a stored Pod, of encoding and of repacking, counted by the allocator. No times are measured, so results
//! are the same on every machine.

use std::sync::{Mutex, MutexGuard, PoisonError};

use kube_endpoint_model::subsets::repack;
use kube_endpoint_model::{
    EndpointAddress, EndpointSlice, EndpointSubset, Endpoints, Interner, Pod, PodIndex, SubsetPort,
};
use kube_endpoints_testing::fixture;
use kube_endpoints_testing::pods::{self, OwnerKind};
use kube_informer::ManualSource;
use kube_wire::{Decode, decode_list};
use serde::Serialize;

#[global_allocator]
static ALLOCATOR: dhat::Alloc = dhat::Alloc;

const PODS: usize = 3_000;

/// Returns a guard for the time of a test: the profiler counts for the whole process.
fn one_test() -> MutexGuard<'static, ()> {
    static TEST: Mutex<()> = Mutex::new(());
    TEST.lock().unwrap_or_else(PoisonError::into_inner)
}

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

#[test]
fn memory_of_a_stored_pod_is_bounded() {
    let _test = one_test();
    for (owner, max_bytes, max_allocations) in [(OwnerKind::ReplicaSet, 330, 8), (OwnerKind::StatefulSet, 560, 12)] {
        let json = measure(&pods::json(owner, PODS), |it| Pod::from_json(it).expect("a Pod"));
        let protobuf = measure(&pods::protobuf(owner, PODS), |it| Pod::from_protobuf(it).expect("a Pod"));
        for (encoding, (bytes, allocations)) in [("JSON", json), ("protobuf", protobuf)] {
            eprintln!("{owner:?} from {encoding}: {bytes} B, {allocations} allocations");
            assert!(bytes <= max_bytes && allocations <= max_allocations, "{bytes} B, {allocations} allocations");
        }
    }
}

/// Encodes objects recorded from a real API server into a buffer with enough capacity.
fn encode<T: Decode + Serialize>(recording: &str) {
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

#[test]
fn encoding_does_not_allocate() {
    let _test = one_test();
    let _profiler = dhat::Profiler::builder().testing().build();
    encode::<Endpoints>("endpoints.list.json");
    encode::<EndpointSlice>("endpointslice.list.json");
}

fn subset(addresses: std::ops::Range<u32>, ports: std::ops::Range<i32>) -> EndpointSubset {
    let address = |number: u32| EndpointAddress {
        ip: std::net::IpAddr::from(number.to_be_bytes()).into(),
        ..EndpointAddress::default()
    };
    EndpointSubset {
        addresses: addresses.map(address).collect(),
        ports: ports.map(|port| SubsetPort { port, ..SubsetPort::default() }).collect(),
        ..EndpointSubset::default()
    }
}

/// Each client that may write Endpoints can create such objects, with twenty times as many addresses and ports.
#[test]
fn repacking_takes_no_memory_for_each_pair_of_address_and_port() {
    const NUMBER: u16 = 2_500;
    let _test = one_test();
    let all = || subset(0..NUMBER.into(), 1..NUMBER.into());
    // Each port has all addresses of the first subset, and one of its own.
    let own = (1..NUMBER).map(|number| {
        let (address, port) = (u32::from(number) << 16, i32::from(number));
        subset(address..address + 1, port..port + 1)
    });
    for subsets in [vec![all()], std::iter::once(all()).chain(own).collect()] {
        let _profiler = dhat::Profiler::builder().testing().trim_backtraces(Some(4)).build();
        let repacked = repack(&subsets).len();
        let bytes = dhat::HeapStats::get().max_bytes;
        eprintln!("{repacked} subsets: {bytes} B");
        assert!(repacked == subsets.len() && bytes < 10_000_000, "{bytes} B");
    }
}
