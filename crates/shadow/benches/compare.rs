//! Time to compare the plan of one Service, which has no writes: the usual case, in every sync. The Service has more and more
//! Pods, and there are more and more Services.

use std::sync::Arc;
use std::time::Duration;

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use kube_controller_client::{Client, ClientOptions, Config};
use kube_endpoint_model::well_known::SLICE_CONTROLLER_NAME;
use kube_endpoint_model::{
    EndpointSlice, Endpoints, Labels, Node, ObjectKey, Pod, PodIndex, Service, ServiceIndex, SliceIndex, Write,
};
use kube_endpoints_shadow::{Informers, Limits, Options, Shadow};
use kube_informer::ManualSource;

/// Returns a shadow of `services` Services, each with `pods` Pods.
fn shadow(services: usize, pods: usize) -> Arc<Shadow> {
    let labels = |at: usize| -> Labels { [("app", format!("app-{at}"))].into_iter().collect() };
    let (of_services, service_source) = ManualSource::with_index(ServiceIndex::default());
    let (of_pods, pod_source) = ManualSource::with_index(PodIndex::default());
    let service =
        |at: usize| Service { name: format!("app-{at}").into(), selector: Some(labels(at)), ..Service::default() };
    let pod = |at: usize| Pod { name: format!("pod-{at}").into(), labels: labels(at / pods), ..Pod::default() };
    service_source.replace((0..services).map(service), "1");
    pod_source.replace((0..services * pods).map(pod), "1");
    let informers = Informers {
        services: of_services,
        pods: of_pods,
        nodes: ManualSource::<Node>::new().0,
        endpoints: ManualSource::<Endpoints>::new().0,
        slices: ManualSource::<EndpointSlice, _>::with_index(SliceIndex::default()).0,
    };
    let options = Options {
        settle_period: Duration::from_secs(30),
        writer_lease: None,
        compare_period: Duration::from_secs(600),
        limits: Limits::default(),
    };
    Shadow::new(&informers, options).expect("metrics")
}

fn compare(criterion: &mut Criterion) {
    let config = Config::from_url("http://127.0.0.1:1").expect("a URL");
    let client = Client::new(&config, ClientOptions::default()).expect("a client");
    let mut group = criterion.benchmark_group("compare a plan without writes");
    for (services, pods) in [(1, 10), (1, 100), (1, 1_000), (1_000, 10)] {
        let shadow = shadow(services, pods);
        let reviewed = shadow.client::<EndpointSlice>(client.clone(), SLICE_CONTROLLER_NAME);
        let key = ObjectKey::new("", "app-0");
        group.bench_function(BenchmarkId::from_parameter(format!("{services} Services of {pods} Pods")), |bencher| {
            bencher.iter(|| reviewed.sends(&key, || [] as [&Write<EndpointSlice>; 0]));
        });
    }
    group.finish();
}

criterion_group!(benches, compare);
criterion_main!(benches);
