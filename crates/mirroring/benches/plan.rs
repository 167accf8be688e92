//! What mirroring costs before it writes: with nothing to do, with one address changed, and from nothing.

use std::hint::black_box;
use std::num::NonZeroUsize;
use std::sync::Arc;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use kube_endpoint_model::{EndpointAddress, EndpointSlice, EndpointSubset, Endpoints, ObjectMeta, SubsetPort};
use kube_endpointslice_mirroring::{MirrorPlan, plan};

/// Addresses of a subset, as many as are mirrored of one by default.
const PER_SUBSET: usize = 1_000;

/// Subsets with a port of their own each.
fn endpoints(addresses: usize) -> Endpoints {
    let address = |at: usize| EndpointAddress {
        ip: format!("10.{}.{}.{}", 128 + at / 65_536, at / 256 % 256, at % 256).as_str().into(),
        hostname: "".into(),
        node_name: None,
        target_ref: None,
    };
    let subset = |first: usize| EndpointSubset {
        addresses: (first..addresses.min(first + PER_SUBSET)).map(address).collect(),
        not_ready_addresses: Vec::new(),
        ports: vec![SubsetPort {
            name: "sql".into(),
            port: 5_432 + i32::try_from(first / PER_SUBSET).expect("a few subsets"),
            protocol: "TCP".into(),
            ..SubsetPort::default()
        }],
    };
    Endpoints {
        metadata: ObjectMeta {
            namespace: "shop".into(),
            name: "database".into(),
            uid: "0e6b7a2c-35f4-4ca7-8a2d-5b1c8f0d9e11".into(),
            ..ObjectMeta::default()
        },
        subsets: (0..addresses).step_by(PER_SUBSET).map(subset).collect(),
    }
}

fn mirror(endpoints: &Endpoints, existing: &[Arc<EndpointSlice>]) -> MirrorPlan {
    plan(endpoints, existing, NonZeroUsize::new(PER_SUBSET).expect("not zero"))
}

/// The slices that mirror these Endpoints, as they come back from the API server: every text its own.
fn settled(endpoints: &Endpoints) -> Vec<Arc<EndpointSlice>> {
    let created = mirror(endpoints, &[]).plan.types.into_iter().flat_map(|it| it.create);
    let read_back = |(at, mut slice): (usize, EndpointSlice)| {
        slice.metadata.name = format!("database-{at:05}").into();
        let full = k8s_openapi::api::discovery::v1::EndpointSlice::from(&slice);
        Arc::new(EndpointSlice::from(&full))
    };
    created.enumerate().map(read_back).collect()
}

fn plans(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("mirror");
    for size in [10, 100, 1_000, 10_000] {
        let endpoints = endpoints(size);
        let slices = settled(&endpoints);
        assert!(mirror(&endpoints, &slices).plan.is_empty(), "the steady state is to be steady");
        let mut changed = endpoints.clone();
        changed.subsets[0].addresses[0].ip = "192.0.2.1".into();
        assert_eq!(mirror(&changed, &slices).plan.writes(), 1, "one change takes one write");
        group.throughput(Throughput::Elements(size as u64));
        for (state, endpoints, existing) in
            [("steady", &endpoints, &slices[..]), ("changed", &changed, &slices), ("new", &endpoints, &[])]
        {
            group.bench_with_input(BenchmarkId::new(state, size), &(), |bencher, ()| {
                // Dropping the plan is not measured.
                bencher.iter_with_large_drop(|| mirror(black_box(endpoints), existing));
            });
        }
    }
    group.finish();
}

criterion_group!(benches, plans);
criterion_main!(benches);
