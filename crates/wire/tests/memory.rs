//! Peak memory of the readers does not depend on the length of the body.

use kube_endpoints_testing::bodies::{Found, list, watch};
use kube_wire::{Encoding, ListReader, WatchReader};

#[global_allocator]
static ALLOCATOR: dhat::Alloc = dhat::Alloc;

const PODS: usize = 1_000;
const CHUNK: usize = 16 << 10;
/// Upper bound in bytes: a chunk and an incomplete Pod of 8 kB, in a buffer whose capacity doubles.
const MAX_PEAK: usize = 64 << 10;

fn peak_heap(read: impl FnOnce() -> usize) -> usize {
    let _profiler = dhat::Profiler::builder().testing().build();
    assert_eq!(read(), PODS);
    dhat::HeapStats::get().max_bytes
}

// A single test, since the allocator is global to the process.
#[test]
fn peak_memory_does_not_depend_on_body_length() {
    for encoding in [Encoding::Json, Encoding::Protobuf] {
        let body = list(encoding, PODS);
        let peak = peak_heap(|| {
            let (mut reader, mut items) = (ListReader::<Found>::new(encoding), 0);
            for chunk in body.chunks(CHUNK) {
                reader.push(chunk);
                while let Some(item) = reader.next_item().expect("the list decodes") {
                    item.expect("the item decodes");
                    items += 1;
                }
            }
            items
        });
        assert!(peak <= MAX_PEAK, "a list of {} bytes, {encoding:?}: {peak} bytes", body.len());

        let body = watch(encoding, PODS);
        let peak = peak_heap(|| {
            let (mut reader, mut events) = (WatchReader::<Found>::new(encoding, "1".into()), 0);
            for chunk in body.chunks(CHUNK) {
                reader.push(chunk);
                while reader.next_event().expect("the watch decodes").is_some() {
                    events += 1;
                }
            }
            events
        });
        assert!(peak <= MAX_PEAK, "a watch of {} bytes, {encoding:?}: {peak} bytes", body.len());
    }
}
