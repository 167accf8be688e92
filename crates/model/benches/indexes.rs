//! Queries of both indexes in namespaces of different sizes, with results of the same size.

use std::hint::black_box;
use std::sync::Arc;

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use kube_endpoint_model::{Index as _, Labels, Pod, PodIndex, Service, ServiceIndex};

fn labels(pairs: &[(&str, &str)]) -> Labels {
    pairs.iter().copied().collect()
}

/// A Pod event: queries the Services of a Pod. The result has two.
fn services_of_a_pod(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("Services of a Pod");
    for count in [10, 1_000, 5_000, 10_000] {
        let mut index = ServiceIndex::default();
        let mut add = |name: &str, selector: &[(&str, &str)]| {
            let service = Service { name: name.into(), selector: Some(labels(selector)), ..Service::default() };
            index.update(None, Some(&Arc::new(service)));
        };
        for at in 0..count {
            add(&format!("s{at}"), &[("app", &format!("app-{at}")), ("tier", "web")]);
        }
        add("also", &[("app", "app-7")]);
        let pod = labels(&[
            ("app", "app-7"),
            ("tier", "web"),
            ("pod-template-hash", "5d4f8c7b9"),
            ("team", "shop"),
            ("version", "1.2.3"),
        ]);
        assert_eq!(index.select("", &pod).len(), 2);
        group.bench_function(BenchmarkId::from_parameter(count), |bencher| {
            bencher.iter(|| index.select("", black_box(&pod)));
        });
    }
    group.finish();
}

/// A sync of a Service: queries its Pods. The result has ten. `many sets`: no two Pods have the same labels.
fn pods_of_a_service(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("Pods of a Service");
    for many_sets in [false, true] {
        for count in [100, 10_000, 100_000] {
            let mut index = PodIndex::default();
            for at in 0..count {
                let (name, app) = (format!("p{at:06}"), format!("app-{}", at / 10));
                let mut pairs = vec![("app", app.as_str()), ("tier", "web"), ("team", "shop")];
                if many_sets {
                    pairs.push(("statefulset.kubernetes.io/pod-name", &name));
                }
                let pod = Pod { labels: labels(&pairs), name: name.as_str().into(), ..Pod::default() };
                index.update(None, Some(&Arc::new(pod)));
            }
            let selector = labels(&[("app", "app-7"), ("tier", "web")]);
            assert_eq!(index.select("", &selector).len(), 10);
            let name = if many_sets { "many sets" } else { "shared sets" };
            group.bench_function(BenchmarkId::new(name, count), |bencher| {
                bencher.iter(|| index.select("", black_box(&selector)));
            });
        }
    }
    group.finish();
}

criterion_group!(benches, services_of_a_pod, pods_of_a_service);
criterion_main!(benches);
