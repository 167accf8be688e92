//! Cost of recording a change, of reading a Service among many, and of the summary of all.

use std::hint::black_box;
use std::sync::Arc;

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use jiff::{SignedDuration, Timestamp};
use kube_endpoint_model::{
    Endpoint, EndpointConditions, EndpointSlice, IpFamily, Labels, ObjectKey, ObjectMeta, Pod, Service, well_known,
};
use kube_endpoints_history::{Archive, Encoder, Kind, Select};

fn start() -> Timestamp {
    Timestamp::from_second(1_800_000_000).expect("a time")
}

fn name(service: usize) -> String {
    format!("app-{service}")
}

fn labels(service: usize) -> Labels {
    [("app", name(service).as_str())].into_iter().collect()
}

fn pod(service: usize, at: usize, version: u64) -> Arc<Pod> {
    Arc::new(Pod {
        namespace: "shop".into(),
        name: format!("app-{service}-{at}").as_str().into(),
        labels: labels(service),
        pod_ips: [format!("10.1.{service}.{at}").as_str()].into(),
        ready: version.is_multiple_of(2),
        resource_version: version.into(),
        ..Pod::default()
    })
}

fn slice(service: usize, endpoints: usize, version: u64) -> Arc<EndpointSlice> {
    let conditions = |ready| EndpointConditions { ready: Some(ready), serving: Some(ready), terminating: Some(false) };
    let endpoint = |at: usize| Endpoint {
        addresses: [format!("10.1.{service}.{at}").as_str()].into(),
        conditions: conditions(at != endpoints / 2 || version.is_multiple_of(2)),
        ..Endpoint::default()
    };
    Arc::new(EndpointSlice {
        metadata: ObjectMeta {
            namespace: "shop".into(),
            name: format!("app-{service}-x").as_str().into(),
            labels: [
                (well_known::SERVICE_NAME_LABEL, name(service).as_str()),
                (well_known::SLICE_MANAGED_BY_LABEL, well_known::SLICE_CONTROLLER),
            ]
            .into_iter()
            .collect(),
            resource_version: version.into(),
            ..ObjectMeta::default()
        },
        endpoints: (0..endpoints).map(endpoint).collect(),
        ..EndpointSlice::default()
    })
}

/// A Pod becomes ready or ceases to be, and its slice follows.
fn flip(c: &mut Criterion) {
    let mut group = c.benchmark_group("flip");
    for endpoints in [10, 100, 1_000] {
        let states = [0, 1].map(|version| (pod(0, endpoints / 2, version), slice(0, endpoints, version)));
        let mut encoder = Encoder::new("bench", []).expect("memory");
        let (mut out, mut now, mut at) = (Vec::new(), start(), 0);
        encoder.begin_segment(now, &mut out).expect("memory");
        group.bench_function(BenchmarkId::from_parameter(endpoints), |b| {
            b.iter(|| {
                let (pod, slice) = &states[at % 2];
                at += 1;
                now += SignedDuration::from_millis(6);
                encoder.put(now, None, Arc::clone(pod));
                encoder.put(now, None, Arc::clone(slice));
                if at % 160 == 0 {
                    encoder.flush(&mut out).expect("memory");
                    out.clear();
                }
            });
        });
    }
    group.finish();
}

/// Returns an hour of 16 flips a second.
fn hour(services: usize) -> Vec<u8> {
    let mut encoder = Encoder::new("bench", [Kind::Node]).expect("memory");
    for service in 0..services {
        let selector = Some(labels(service));
        let (namespace, name, ip_families) = ("shop".into(), name(service).as_str().into(), [IpFamily::V4].into());
        encoder.put(start(), None, Arc::new(Service { namespace, name, selector, ip_families, ..Service::default() }));
        for at in 0..4 {
            encoder.put(start(), None, pod(service, at, 0));
        }
        encoder.put(start(), None, slice(service, 4, 0));
    }
    let (mut file, mut now) = (Vec::new(), start());
    encoder.begin_segment(now, &mut file).expect("memory");
    for version in 1..=3_600 * 16 {
        now += SignedDuration::from_millis(62);
        let service = version * 7_919 % services;
        // Ready in every other round over the Services.
        let state = (4 * version + version / services % 2) as u64;
        encoder.put(now, None, pod(service, 2, state));
        encoder.put(now, None, slice(service, 4, state + 2));
        if version % 16 == 0 {
            encoder.flush(&mut file).expect("memory");
        }
    }
    encoder.end_segment(&mut file).expect("memory");
    file
}

/// Measures reading an hour of growing numbers of Services.
fn read_hours(c: &mut Criterion, name: &str, read: impl Fn(&mut Archive)) {
    let mut group = c.benchmark_group(name);
    group.sample_size(10);
    for services in [100, 1_000, 10_000] {
        let file = hour(services);
        group.bench_function(BenchmarkId::from_parameter(services), |b| {
            b.iter(|| read(&mut Archive::from_buffers([file.clone()]).expect("a history")));
        });
    }
    group.finish();
}

fn replay(c: &mut Criterion) {
    read_hours(c, "replay an hour of one Service among", |archive| {
        let select = Select::Service(ObjectKey::new("shop", "app-7"));
        let mut replay = archive.replay(select, start()).expect("a state");
        while let Some(change) = replay.next_change().expect("a history") {
            black_box(change);
        }
    });
}

#[cfg(feature = "causes")]
fn summary(c: &mut Criterion) {
    use kube_endpoints_history::summary::{Options, Summary};

    read_hours(c, "summary of an hour of all Services of", |archive| {
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
