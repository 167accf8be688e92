//! Time to encode an EndpointSlice: directly from the compact type, and via the type of `k8s-openapi`.

use std::hint::black_box;
use std::net::Ipv4Addr;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use kube_endpoint_model::{
    AddressType, Endpoint, EndpointConditions, EndpointPort, EndpointSlice, ObjectMeta, TargetRef,
};

/// Returns a slice with Pod endpoints, as the slice controller writes it.
fn slice(endpoints: u32) -> EndpointSlice {
    let endpoint = |at: u32| Endpoint {
        addresses: [Ipv4Addr::from_bits(0x0a01_0000 + at).to_string().as_str()].into(),
        conditions: EndpointConditions { ready: Some(true), serving: Some(true), terminating: Some(false) },
        node_name: Some(format!("node-{}", at % 500).into()),
        zone: Some("region-1a".into()),
        target_ref: Some(TargetRef::pod(
            "shop".into(),
            format!("web-5b7c9d-{at:05}").into(),
            format!("{at:08x}-35f4-4ca7-8a2d-5b1c8f0d9e11").as_str().into(),
        )),
        ..Endpoint::default()
    };
    EndpointSlice {
        metadata: ObjectMeta {
            name: "web-x7k2p".into(),
            namespace: "shop".into(),
            generate_name: Some("web-".into()),
            creation_timestamp: Some(jiff::Timestamp::UNIX_EPOCH),
            labels: [("kubernetes.io/service-name", "web")].into_iter().collect(),
            resource_version: 123_456.into(),
            uid: "0e6b7a2c-35f4-4ca7-8a2d-5b1c8f0d9e11".into(),
            ..ObjectMeta::default()
        },
        address_type: AddressType::IPv4,
        endpoints: (0..endpoints).map(endpoint).collect(),
        ports: vec![EndpointPort {
            name: Some("http".into()),
            port: Some(8080),
            protocol: Some("TCP".into()),
            app_protocol: None,
        }],
    }
}

fn write(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("write a slice");
    for endpoints in [10, 100, 1_000] {
        let slice = slice(endpoints);
        group.throughput(Throughput::Elements(endpoints.into()));
        group.bench_with_input(BenchmarkId::from_parameter(endpoints), &slice, |bencher, slice| {
            bencher.iter(|| serde_json::to_vec(black_box(slice)));
        });
    }
    group.finish();
}

criterion_group!(benches, write);
criterion_main!(benches);
