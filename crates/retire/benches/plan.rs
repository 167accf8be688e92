//! Cost of a plan, by the number of Services and of readers, and of reading the reads in an audit log.

use std::hint::black_box;
use std::io::Cursor;
use std::sync::Arc;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use jiff::{SignedDuration, Timestamp};
use kube_endpoint_model::{Endpoints, Labels, Pod, Service, well_known};
use kube_endpoints_history::audit::reads::Reads;
use kube_endpoints_retire::{Accounts, Cluster, Facts, FoundEndpoints, Written};

/// Number of Pods of a Service.
const PODS: usize = 10;

fn now() -> Timestamp {
    Timestamp::from_second(1_800_000_000).expect("a time")
}

fn log(events: usize, users: usize) -> Vec<u8> {
    let hours = 24 * 8;
    let lines = (0..events).map(|at| {
        let ago = SignedDuration::from_secs(i64::try_from((events - at) * 3_600 * hours / events).expect("a week"));
        let user = at % users;
        format!(
            "{{\"kind\":\"Event\",\"apiVersion\":\"audit.k8s.io/v1\",\"level\":\"Metadata\",\"stage\":\"ResponseComplete\",\"verb\":\"list\",\
             \"user\":{{\"username\":\"user-{user}\"}},\"userAgent\":\"program/v1\",\"requestURI\":\"/api/v1/endpoints\",\
             \"objectRef\":{{\"resource\":\"endpoints\",\"namespace\":\"team-{user}\"}},\"stageTimestamp\":\"{}\"}}\n",
            now() - ago
        )
    });
    lines.collect::<String>().into_bytes()
}

fn reads(log: Vec<u8>) -> Reads {
    let mut reads = Reads::default();
    reads.add("audit.log", Cursor::new(log)).expect("readable");
    reads
}

fn facts(services: usize, readers: usize) -> Facts {
    let labels = |at: usize| -> Labels { [("app", format!("app-{at}").as_str())].into_iter().collect() };
    let namespace = |at: usize| format!("team-{}", at / 100);
    let service = |at: usize| Service {
        namespace: namespace(at).as_str().into(),
        name: format!("app-{at}").as_str().into(),
        selector: Some(labels(at)),
        ..Service::default()
    };
    let pod = |at: usize| Pod {
        namespace: namespace(at / PODS).as_str().into(),
        name: format!("app-{at}").as_str().into(),
        labels: labels(at / PODS),
        ready: true,
        ..Pod::default()
    };
    let found = |at: usize| {
        let mut endpoints = Endpoints::default();
        endpoints.metadata.namespace = namespace(at).as_str().into();
        endpoints.metadata.name = format!("app-{at}").as_str().into();
        let managed = (well_known::ENDPOINTS_MANAGED_BY_LABEL, well_known::ENDPOINTS_CONTROLLER);
        endpoints.metadata.labels = [managed].into_iter().collect();
        FoundEndpoints { endpoints: Arc::new(endpoints), written: Written::default() }
    };
    Facts {
        now: now(),
        cluster: Cluster { uid: "c".to_owned() },
        namespace: None,
        endpoints: (0..services).map(found).collect(),
        services: (0..services).map(|at| Arc::new(service(at))).collect(),
        pods: (0..services * PODS).map(|at| Arc::new(pod(at))).collect(),
        accounts: Accounts::default(),
        rights: None,
        unread: Vec::new(),
        is_comparable: true,
        reads: Some(reads(log(10_000, readers))),
        asked: SignedDuration::from_hours(7 * 24),
        api_servers: Some(1),
        is_merged_log: false,
        writes: None,
    }
}

fn plan(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("plan");
    group.sample_size(10);
    for services in [100, 1_000, 10_000] {
        let facts = facts(services, 10);
        group.throughput(Throughput::Elements(services as u64));
        group.bench_with_input(BenchmarkId::new("services", services), &facts, |bencher, facts| {
            bencher.iter(|| black_box(facts.plan()));
        });
    }
    for readers in [1, 100, 1_000] {
        let facts = facts(1_000, readers);
        group.throughput(Throughput::Elements(readers as u64));
        group.bench_with_input(BenchmarkId::new("readers", readers), &facts, |bencher, facts| {
            bencher.iter(|| black_box(facts.plan()));
        });
    }
    group.finish();
}

fn audit_log(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("audit log");
    for events in [1_000, 10_000, 100_000] {
        let log = log(events, 10);
        group.throughput(Throughput::Bytes(log.len() as u64));
        group.bench_with_input(BenchmarkId::from_parameter(events), &log, |bencher, log| {
            bencher.iter(|| black_box(reads(log.clone())));
        });
    }
    group.finish();
}

criterion_group!(benches, plan, audit_log);
criterion_main!(benches);
