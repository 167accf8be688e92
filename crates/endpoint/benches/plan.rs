//! Cost of a sync without its write: `plan` with nothing to change, with one changed Pod and without an existing
//! object, and repacking alone.

use std::hint::black_box;
use std::sync::Arc;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use kube_endpoint::{Legacy, planned_write};
use kube_endpoint_model::subsets::repack;
use kube_endpoint_model::{
    EndpointAddress, EndpointSubset, Endpoints, IpFamily, ObjectReference, Pod, Service, ServicePort, SubsetPort,
    TargetPort, Write,
};

/// Numbers of addresses. More than 1,000 are truncated.
const SIZES: [usize; 4] = [10, 100, 1_000, 10_000];

fn service() -> Service {
    Service {
        namespace: "shop".into(),
        name: "web".into(),
        cluster_ip: "10.96.0.1".into(),
        ip_families: vec![IpFamily::V4],
        ports: vec![ServicePort {
            name: "http".into(),
            protocol: "TCP".into(),
            target: TargetPort::Number(8080),
            ..ServicePort::default()
        }],
        ..Service::default()
    }
}

fn ip(at: usize) -> String {
    format!("10.{}.{}.{}", 128 + at / 65_536, at / 256 % 256, at % 256)
}

fn pod(at: usize) -> Arc<Pod> {
    Arc::new(Pod {
        namespace: "shop".into(),
        name: format!("web-5d8f7c9b6-{at:05}").into(),
        uid: format!("{at:08x}-35f4-4ca7-8a2d-5b1c8f0d9e11").into(),
        node_name: format!("node-{}", at % 500).into(),
        pod_ips: [ip(at).as_str()].into(),
        pod_ip_family: Some(IpFamily::V4),
        ready: true,
        ..Pod::default()
    })
}

fn run_plan(service: &Service, pods: &[Arc<Pod>], current: Option<&Arc<Endpoints>>) -> Option<Write<Endpoints>> {
    planned_write(service, pods, current, None, Legacy::default())
}

fn plans(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("plan");
    let service = service();
    for size in SIZES {
        let pods: Vec<_> = (0..size).map(pod).collect();
        let Some(Write::Create(settled)) = run_plan(&service, &pods, None) else { panic!("no object exists yet") };
        let settled = Arc::new(settled);
        assert_eq!(run_plan(&service, &pods, Some(&settled)), None, "an up-to-date object is not written");
        let mut changed = pods.clone();
        Arc::make_mut(&mut changed[0]).ready = false;
        assert!(run_plan(&service, &changed, Some(&settled)).is_some(), "a changed Pod causes an update");
        group.throughput(Throughput::Elements(size as u64));
        for (state, pods, current) in
            [("steady", &pods, Some(&settled)), ("changed", &changed, Some(&settled)), ("new", &pods, None)]
        {
            group.bench_with_input(BenchmarkId::new(state, size), &(), |bencher, ()| {
                // The time to drop the object is not measured.
                bencher.iter_with_large_drop(|| run_plan(black_box(&service), pods, current));
            });
        }
    }
    group.finish();
}

fn repacking(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("repack");
    for size in SIZES {
        // As in the controller, each Pod is a subset; here with two ports.
        let port =
            |name: &str, port| SubsetPort { name: name.into(), port, protocol: "TCP".into(), ..SubsetPort::default() };
        let subset = |at| EndpointSubset {
            addresses: vec![EndpointAddress {
                ip: ip(at).as_str().into(),
                target_ref: Some(ObjectReference { uid: at.to_string().into(), ..ObjectReference::default() }.into()),
                hostname: "".into(),
                node_name: None,
            }],
            not_ready_addresses: Vec::new(),
            ports: vec![port("http", 8080), port("metrics", 9090)],
        };
        let subsets: Vec<_> = (0..size).map(subset).collect();
        assert_eq!(repack(&subsets).len(), 1, "subsets with the same ports merge");
        group.throughput(Throughput::Elements(size as u64));
        group.bench_with_input(BenchmarkId::from_parameter(size), &subsets, |bencher, subsets| {
            bencher.iter_with_large_drop(|| repack(black_box(subsets)));
        });
    }
    group.finish();
}

criterion_group!(benches, plans, repacking);
criterion_main!(benches);
