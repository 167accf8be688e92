//! Cost of splitting lists and watches into objects, by encoding, number of objects and chunk size.
//!
//! The objects are recorded Pods of a real API server, repeated. `found` decodes nothing, so that only splitting is
//! measured; `metadata` decodes name, namespace, UID and resource version.

use std::hint::black_box;
use std::time::Duration;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use kube_endpoints_testing::bodies::{Found, PODS, list, watch};
use kube_wire::protobuf::{Fields, MalformedProtobuf};
use kube_wire::{Decode, DecodeError, Encoding, ListReader, ObjectHead, Resource, WatchReader};
use serde::Deserialize;

const SIZES: [usize; 4] = [10, 100, 1_000, 10_000];
/// Chunk sizes in bytes: a small read, a page, an HTTP/2 frame, and a flow-control window.
const CHUNKS: [usize; 4] = [512, 4 << 10, 16 << 10, 1 << 20];
/// Default maximum size of an HTTP/2 frame, the chunk size of most responses.
const FRAME: usize = 16 << 10;

/// Pod of which only the metadata is decoded.
#[derive(Deserialize)]
struct Metadata {
    metadata: ObjectHead,
}

kube_wire::object!(Metadata);

impl Decode for Metadata {
    const RESOURCE: Resource = PODS;
    const PROTOBUF: bool = true;

    fn from_json(bytes: &[u8]) -> Result<Self, DecodeError> {
        kube_wire::json::from_slice("Pod", bytes)
    }

    fn from_protobuf(bytes: &[u8]) -> Result<Self, DecodeError> {
        fn read(bytes: &[u8]) -> Result<ObjectHead, MalformedProtobuf> {
            for field in Fields::new(bytes) {
                let field = field?;
                if field.number == 1 {
                    return ObjectHead::from_fields(field.message()?);
                }
            }
            Ok(ObjectHead::default())
        }
        read(bytes).map(|metadata| Self { metadata }).map_err(|error| error.reading("Pod"))
    }
}

fn read_list<T: Decode>(encoding: Encoding, body: &[u8], chunk: usize) -> usize {
    let (mut reader, mut items) = (ListReader::<T>::new(encoding), 0);
    for chunk in body.chunks(chunk) {
        reader.push(chunk);
        while let Some(item) = reader.next_item().expect("the list decodes") {
            black_box(item.expect("the item decodes"));
            items += 1;
        }
    }
    reader.finish().expect("the list is complete");
    items
}

fn read_watch<T: Decode>(encoding: Encoding, body: &[u8], chunk: usize) -> usize {
    let (mut reader, mut events) = (WatchReader::<T>::new(encoding, "1".into()), 0);
    for chunk in body.chunks(chunk) {
        reader.push(chunk);
        while let Some(event) = reader.next_event().expect("the watch decodes") {
            black_box(event);
            events += 1;
        }
    }
    reader.finish().expect("the watch is complete");
    events
}

type Body = fn(Encoding, usize) -> Vec<u8>;
type Read = fn(Encoding, &[u8], usize) -> usize;

fn bench(criterion: &mut Criterion, operation: &str, body: Body, found: Read, metadata: Read) {
    for (encoding, name) in [(Encoding::Json, "JSON"), (Encoding::Protobuf, "protobuf")] {
        let mut group = criterion.benchmark_group(format!("{operation}, {name}"));
        let mut run = |case: &str, parameter: usize, count: usize, chunk: usize, read: Read| {
            let bytes = body(encoding, count);
            assert_eq!(read(encoding, &bytes, chunk), count);
            group.throughput(Throughput::Bytes(bytes.len() as u64));
            group.bench_function(BenchmarkId::new(case, parameter), |bencher| {
                bencher.iter(|| read(encoding, black_box(&bytes), chunk));
            });
        };
        for count in SIZES {
            run("found", count, count, FRAME, found);
            run("metadata", count, count, FRAME, metadata);
        }
        for chunk in CHUNKS {
            run("1,000 found, bytes a chunk", chunk, 1_000, chunk, found);
        }
        group.finish();
    }
}

fn lists(criterion: &mut Criterion) {
    bench(criterion, "list", list, read_list::<Found>, read_list::<Metadata>);
}

fn watches(criterion: &mut Criterion) {
    bench(criterion, "watch", watch, read_watch::<Found>, read_watch::<Metadata>);
}

criterion_group! {
    name = benches;
    config = Criterion::default().warm_up_time(Duration::from_millis(300)).measurement_time(Duration::from_secs(1)).sample_size(10);
    targets = lists, watches
}
criterion_main!(benches);
