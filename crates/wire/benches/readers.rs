//! What it costs to find objects in lists and watches, by encoding, number of objects and size of chunks.
//!
//! The objects are Pods that a real API server wrote, over and over. `found` reads nothing of them, so that what is measured is the
//! splitter; `metadata` reads what every object needs.

use std::convert::identity;
use std::fs;
use std::hint::black_box;
use std::time::Duration;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use k8s_pb::api::core::v1::PodList;
use k8s_pb::apimachinery::pkg::apis::meta::v1 as meta;
use k8s_pb::apimachinery::pkg::runtime::{RawExtension, TypeMeta, Unknown};
use kube_wire::protobuf::{Fields, MalformedProtobuf};
use kube_wire::{
    Decode, DecodeError, Encoding, ListReader, Object, ObjectMeta, Resource, ResourceVersion, Uid, WatchReader,
};
use prost::Message as _;
use serde::Deserialize;
use serde_json::Value;

const SIZES: [usize; 4] = [10, 100, 1_000, 10_000];
/// A small read, a page, a frame of HTTP/2, and all that a connection may have under way.
const CHUNKS: [usize; 4] = [512, 4 << 10, 16 << 10, 1 << 20];
/// Most bodies come in frames of this length.
const FRAME: usize = 16 << 10;
const PODS: Resource = Resource::namespaced("", "v1", "pods", "Pod");

/// An object of which nothing is read.
struct Found;

impl Object for Found {
    fn namespace(&self) -> &'static str {
        ""
    }

    fn name(&self) -> &'static str {
        "found"
    }

    fn uid(&self) -> Uid {
        Uid::default()
    }

    fn resource_version(&self) -> ResourceVersion {
        ResourceVersion::default()
    }
}

impl Decode for Found {
    const RESOURCE: Resource = PODS;
    const PROTOBUF: bool = true;

    fn from_json(bytes: &[u8]) -> Result<Self, DecodeError> {
        black_box(bytes);
        Ok(Self)
    }

    fn from_protobuf(bytes: &[u8]) -> Result<Self, DecodeError> {
        Self::from_json(bytes)
    }
}

/// The least that is of use.
#[derive(Deserialize)]
struct Metadata {
    metadata: ObjectMeta,
}

impl Object for Metadata {
    fn namespace(&self) -> &str {
        &self.metadata.namespace
    }

    fn name(&self) -> &str {
        &self.metadata.name
    }

    fn uid(&self) -> Uid {
        self.metadata.uid.clone()
    }

    fn resource_version(&self) -> ResourceVersion {
        self.metadata.resource_version.clone()
    }
}

impl Decode for Metadata {
    const RESOURCE: Resource = PODS;
    const PROTOBUF: bool = true;

    fn from_json(bytes: &[u8]) -> Result<Self, DecodeError> {
        kube_wire::json::from_slice("Pod", bytes)
    }

    fn from_protobuf(bytes: &[u8]) -> Result<Self, DecodeError> {
        fn read(bytes: &[u8]) -> Result<ObjectMeta, MalformedProtobuf> {
            for field in Fields::new(bytes) {
                let field = field?;
                if field.number == 1 {
                    return ObjectMeta::from_fields(field.message()?);
                }
            }
            Ok(ObjectMeta::default())
        }
        read(bytes).map(|metadata| Self { metadata }).map_err(|error| error.reading("Pod"))
    }
}

fn recorded(name: &str) -> Vec<u8> {
    let path = format!("{}/../../conformance/fixtures/{name}", env!("CARGO_MANIFEST_DIR"));
    fs::read(&path).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// The recorded Pods, each encoded.
fn pods(encoding: Encoding) -> Vec<Vec<u8>> {
    match encoding {
        Encoding::Json => {
            let list: Value = serde_json::from_slice(&recorded("pod.list.json")).expect("JSON");
            list["items"].as_array().expect("items").iter().map(|pod| pod.to_string().into_bytes()).collect()
        }
        Encoding::Protobuf => {
            let envelope = Unknown::decode(&recorded("pod.list.pb")[4..]).expect("an envelope");
            let list = PodList::decode(&*envelope.raw.expect("a list")).expect("Pods");
            list.items.iter().map(prost::Message::encode_to_vec).collect()
        }
    }
}

fn envelope(kind: &str, raw: Vec<u8>) -> Vec<u8> {
    let type_meta = Some(TypeMeta { api_version: Some("v1".to_owned()), kind: Some(kind.to_owned()) });
    let unknown = Unknown { type_meta, raw: Some(raw), ..Unknown::default() };
    [b"k8s\0".to_vec(), unknown.encode_to_vec()].concat()
}

/// A list of so many Pods.
fn list(encoding: Encoding, count: usize) -> Vec<u8> {
    let pods = pods(encoding);
    let items = pods.iter().cycle().take(count);
    match encoding {
        Encoding::Json => {
            let mut body =
                br#"{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"7"},"items":["#.to_vec();
            for (at, pod) in items.enumerate() {
                body.extend_from_slice(if at == 0 { b"" } else { b"," });
                body.extend_from_slice(pod);
            }
            body.extend_from_slice(b"]}\n");
            body
        }
        Encoding::Protobuf => {
            let metadata = meta::ListMeta { resource_version: Some("7".to_owned()), ..meta::ListMeta::default() };
            let mut raw = PodList { metadata: Some(metadata), items: Vec::new() }.encode_to_vec();
            for pod in items {
                // Field 2, of bytes.
                raw.push(2 << 3 | 2);
                prost::encoding::encode_varint(pod.len() as u64, &mut raw);
                raw.extend_from_slice(pod);
            }
            envelope("PodList", raw)
        }
    }
}

/// A watch that changes so many Pods.
fn watch(encoding: Encoding, count: usize) -> Vec<u8> {
    let frame = |pod: &Vec<u8>| match encoding {
        Encoding::Json => [br#"{"type":"MODIFIED","object":"#, pod.as_slice(), b"}\n"].concat(),
        Encoding::Protobuf => {
            let object = Some(RawExtension { raw: Some(envelope("Pod", pod.clone())) });
            let event = meta::WatchEvent { r#type: Some("MODIFIED".to_owned()), object }.encode_to_vec();
            [&u32::try_from(event.len()).expect("a short frame").to_be_bytes()[..], &event].concat()
        }
    };
    let frames: Vec<Vec<u8>> = pods(encoding).iter().map(frame).collect();
    frames.iter().cycle().take(count).flat_map(identity::<&Vec<u8>>).copied().collect()
}

fn read_list<T: Decode>(encoding: Encoding, body: &[u8], chunk: usize) -> usize {
    let (mut reader, mut items) = (ListReader::<T>::new(encoding), 0);
    for chunk in body.chunks(chunk) {
        reader.push(chunk);
        while let Some(item) = reader.next_item().expect("a good list") {
            black_box(item);
            items += 1;
        }
    }
    reader.finish().expect("a whole list");
    items
}

fn read_watch<T: Decode>(encoding: Encoding, body: &[u8], chunk: usize) -> usize {
    let (mut reader, mut events) = (WatchReader::<T>::new(encoding, "1".into()), 0);
    for chunk in body.chunks(chunk) {
        reader.push(chunk);
        while let Some(event) = reader.next_event().expect("a good watch") {
            black_box(event);
            events += 1;
        }
    }
    reader.finish().expect("a whole watch");
    events
}

type Body = fn(Encoding, usize) -> Vec<u8>;
type Read = fn(Encoding, &[u8], usize) -> usize;

fn bench(criterion: &mut Criterion, what: &str, body: Body, found: Read, metadata: Read) {
    for (encoding, name) in [(Encoding::Json, "JSON"), (Encoding::Protobuf, "protobuf")] {
        let mut group = criterion.benchmark_group(format!("{what}, {name}"));
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
