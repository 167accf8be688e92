//! Cost of recording a change, of reading a Service among many, and of the summary of all.

#[path = "../tests/it/apps.rs"]
mod apps;

use std::hint::black_box;

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use jiff::SignedDuration;
use kube_endpoint_model::ObjectKey;
use kube_endpoints_history::{Archive, Encoder, Kind, Select};

use self::apps::{Cluster, start};

/// Begins to record a cluster.
fn begin(cluster: &Cluster, out: &mut Vec<u8>) -> Encoder {
    let mut encoder = Encoder::new("bench", []).expect("memory");
    cluster.objects().for_each(|object| encoder.put(start(), None, object));
    encoder.begin_segment(start(), out).expect("memory");
    encoder
}

/// A Pod becomes ready or ceases to be, and its slice and its Endpoints follow.
fn flip(c: &mut Criterion) {
    let mut group = c.benchmark_group("flip");
    for endpoints in [10, 100, 1_000] {
        let (mut cluster, mut out, mut records) = (Cluster::new(1, endpoints), Vec::new(), Vec::new());
        let (mut encoder, mut now) = (begin(&cluster, &mut out), start());
        cluster.second(|_, author, object| records.push((author.clone(), object)));
        records.retain(|(_, object)| object.kind() != Kind::Node);
        let mut records = records.iter().cycle();
        group.bench_function(BenchmarkId::from_parameter(endpoints), |b| {
            b.iter(|| {
                now += SignedDuration::from_millis(6);
                for (author, object) in records.by_ref().take(3) {
                    encoder.put(now, Some(author), object.clone());
                }
                if encoder.is_full() {
                    encoder.flush(&mut out).expect("memory");
                    out.clear();
                }
            });
        });
    }
    group.finish();
}

/// Returns six minutes of 160 flips a second.
fn minutes(services: usize) -> Vec<u8> {
    let (mut cluster, mut file) = (Cluster::new(services, 4), Vec::new());
    let mut encoder = begin(&cluster, &mut file);
    for _ in 0..360 {
        cluster.second(|seen, author, object| encoder.put(seen, Some(author), object));
        encoder.flush(&mut file).expect("memory");
    }
    encoder.end_segment(&mut file).expect("memory");
    file
}

/// Measures reading six minutes of growing numbers of Services.
fn read_minutes(c: &mut Criterion, name: &str, read: impl Fn(&mut Archive)) {
    let mut group = c.benchmark_group(name);
    group.sample_size(10);
    for services in [100, 1_000, 10_000] {
        let file = minutes(services);
        group.bench_function(BenchmarkId::from_parameter(services), |b| {
            b.iter(|| read(&mut Archive::from_buffers([file.clone()]).expect("a history")));
        });
    }
    group.finish();
}

fn replay(c: &mut Criterion) {
    read_minutes(c, "replay six minutes of one Service among", |archive| {
        let select = Select::Service(ObjectKey::new("team-7", "app-7"));
        let mut replay = archive.replay(select, start()).expect("a state");
        while let Some(change) = replay.next_change().expect("a history") {
            black_box(change);
        }
    });
}

#[cfg(feature = "causes")]
fn summary(c: &mut Criterion) {
    use kube_endpoints_history::summary::{Options, Summary};

    read_minutes(c, "summary of six minutes of all Services of", |archive| {
        let mut replay = archive.replay(Select::All, start()).expect("a state");
        let summary = Summary::of(&mut replay, None, start(), &Options::default()).expect("a history");
        assert!(summary.changes > 40_000, "{}", summary.changes);
        black_box(summary);
    });
}

#[cfg(not(feature = "causes"))]
fn summary(_: &mut Criterion) {}

criterion_group!(benches, flip, replay, summary);
criterion_main!(benches);
