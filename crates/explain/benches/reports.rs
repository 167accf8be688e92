//! Time to explain one Service, to check all Services, and to compute all writes, in worlds of different sizes.

use std::hint::black_box;
use std::sync::Arc;

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use kube_endpoint_model::{IpFamily, Labels, Node, ObjectKey, Pod, Service, ServicePort, TargetPort, Text};
use kube_endpoints_explain::{Settings, World};

const PODS_PER_SERVICE: usize = 10;
const SERVICES_PER_NAMESPACE: usize = 40;

fn namespace(service: usize) -> Text {
    format!("ns-{}", service / SERVICES_PER_NAMESPACE).into()
}

fn labels(service: usize) -> Labels {
    [("app", format!("app-{service}"))].into_iter().collect()
}

/// Returns a world without slices and Endpoints, in which every tenth Pod is not ready.
fn world(services: usize) -> World {
    let service = |at: usize| Service {
        namespace: namespace(at),
        name: format!("app-{at}").into(),
        selector: Some(labels(at)),
        ip_families: vec![IpFamily::V4],
        ports: vec![ServicePort { protocol: "TCP".into(), target: TargetPort::Number(8080), ..ServicePort::default() }],
        ..Service::default()
    };
    let pod = |at: usize| Pod {
        namespace: namespace(at / PODS_PER_SERVICE),
        name: format!("app-{}-{at}", at / PODS_PER_SERVICE).into(),
        labels: labels(at / PODS_PER_SERVICE),
        pod_ips: [format!("10.{}.{}.{}", at >> 16, (at >> 8) & 255, at & 255).as_str()].into(),
        node_name: "node".into(),
        ready: !at.is_multiple_of(10),
        ..Pod::default()
    };
    let mut world = World::new(Settings::default());
    world.add_nodes([Arc::new(Node { name: "node".into(), ready: true, ..Node::default() })]);
    world.add_services((0..services).map(service).map(Arc::new));
    world.add_pods((0..services * PODS_PER_SERVICE).map(pod).map(Arc::new));
    world
}

fn reports(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("reports");
    group.sample_size(10);
    for services in [10, 100, 1_000] {
        let world = world(services);
        let key = ObjectKey::new("ns-0", "app-7");
        group.bench_function(BenchmarkId::new("a Service", services), |bencher| {
            bencher.iter(|| world.service(black_box(&key)));
        });
        group.bench_function(BenchmarkId::new("check", services), |bencher| bencher.iter(|| world.check()));
        group.bench_function(BenchmarkId::new("changes", services), |bencher| bencher.iter(|| world.changes()));
    }
    group.finish();
}

criterion_group!(benches, reports);
criterion_main!(benches);
