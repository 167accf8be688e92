//! Cost of a sync without its writes: the plan with nothing to change, with one changed address and without existing
//! slices.

use std::hint::black_box;
use std::num::NonZeroUsize;
use std::sync::Arc;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use kube_endpoint_model::{
    Cluster, EndpointAddress, EndpointSlice, EndpointSubset, Endpoints, ObjectKey, ObjectMeta, Service, SubsetPort,
};
use kube_endpointslice::Plan;
use kube_endpointslice_mirroring::plan;
use kube_wire::{Decode as _, Object as _};

/// Number of addresses of a subset: the default of `--mirroring-max-endpoints-per-subset`.
const PER_SUBSET: usize = 1_000;

/// Returns an object with one subset for each 1,000 addresses, each subset with a port of its own.
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
            port: 5_432 + i32::try_from(first / PER_SUBSET).expect("fits"),
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

/// A mirrored Endpoints object and the slices that exist.
struct Stored {
    endpoints: Arc<Endpoints>,
    slices: Vec<Arc<EndpointSlice>>,
}

impl Cluster for Stored {
    fn service(&self, _: &ObjectKey) -> Option<Arc<Service>> {
        Some(Arc::default())
    }

    fn endpoints(&self, _: &ObjectKey) -> Option<Arc<Endpoints>> {
        Some(Arc::clone(&self.endpoints))
    }

    fn slices(&self, _: &ObjectKey, _: &str) -> Vec<Arc<EndpointSlice>> {
        self.slices.clone()
    }
}

impl Stored {
    fn plan(&self) -> Plan {
        let max = NonZeroUsize::new(PER_SUBSET).expect("not zero");
        plan(self, &self.endpoints.key(), max).expect("mirrored").slices.plan
    }
}

/// Returns the slices that mirror these Endpoints as decoded from the API server, which share no strings with the
/// Endpoints.
fn settled(endpoints: &Arc<Endpoints>) -> Vec<Arc<EndpointSlice>> {
    let new = Stored { endpoints: Arc::clone(endpoints), slices: Vec::new() };
    let created = new.plan().types.into_iter().flat_map(|it| it.writes).filter_map(|write| write.after().cloned());
    let read_back = |(at, mut slice): (usize, EndpointSlice)| {
        slice.metadata.name = format!("database-{at:05}").into();
        let written = serde_json::to_vec(&slice).expect("JSON");
        Arc::new(EndpointSlice::from_json(&written).expect("a slice"))
    };
    created.enumerate().map(read_back).collect()
}

fn plans(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("mirror");
    for size in [10, 100, 1_000, 10_000] {
        let endpoints = Arc::new(endpoints(size));
        let slices = settled(&endpoints);
        let mut changed = Endpoints::clone(&endpoints);
        changed.subsets[0].addresses[0].ip = "192.0.2.1".into();
        let new = Stored { endpoints: Arc::clone(&endpoints), slices: Vec::new() };
        let changed = Stored { endpoints: Arc::new(changed), slices: slices.clone() };
        let steady = Stored { endpoints, slices };
        assert!(steady.plan().is_empty(), "up-to-date slices are not written");
        assert_eq!(changed.plan().len(), 1, "one changed address causes one write");
        group.throughput(Throughput::Elements(size as u64));
        for (state, stored) in [("steady", &steady), ("changed", &changed), ("new", &new)] {
            group.bench_with_input(BenchmarkId::new(state, size), &(), |bencher, ()| {
                // The time to drop the plan is not measured.
                bencher.iter_with_large_drop(|| black_box(stored).plan());
            });
        }
    }
    group.finish();
}

criterion_group!(benches, plans);
criterion_main!(benches);
