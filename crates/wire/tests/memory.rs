//! A body is never held: whatever its length, a reader needs room for about one object.

#[path = "../benches/bodies/mod.rs"]
mod bodies;

use kube_wire::{Encoding, ListReader, WatchReader};

use crate::bodies::{Found, list, watch};

#[global_allocator]
static ALLOCATOR: dhat::Alloc = dhat::Alloc;

const PODS: usize = 1_000;
const CHUNK: usize = 16 << 10;
/// A chunk and an incomplete Pod of 8 kB, in a buffer that doubles as it grows.
const ENOUGH: usize = 64 << 10;

/// The most heap that was in use at once while a body was read.
fn most(read: impl FnOnce() -> usize) -> usize {
    let _profiler = dhat::Profiler::builder().testing().build();
    assert_eq!(read(), PODS);
    dhat::HeapStats::get().max_bytes
}

// One test: there is one allocator.
#[test]
fn a_reader_holds_one_object() {
    for encoding in [Encoding::Json, Encoding::Protobuf] {
        let body = list(encoding, PODS);
        let peak = most(|| {
            let (mut reader, mut items) = (ListReader::<Found>::new(encoding), 0);
            for chunk in body.chunks(CHUNK) {
                reader.push(chunk);
                while let Some(item) = reader.next_item().expect("a good list") {
                    item.expect("a good item");
                    items += 1;
                }
            }
            items
        });
        assert!(peak <= ENOUGH, "a list of {} bytes, {encoding:?}: {peak} bytes", body.len());

        let body = watch(encoding, PODS);
        let peak = most(|| {
            let (mut reader, mut events) = (WatchReader::<Found>::new(encoding, "1".into()), 0);
            for chunk in body.chunks(CHUNK) {
                reader.push(chunk);
                while reader.next_event().expect("a good watch").is_some() {
                    events += 1;
                }
            }
            events
        });
        assert!(peak <= ENOUGH, "a watch of {} bytes, {encoding:?}: {peak} bytes", body.len());
    }
}
