//! Time to compute the hints of one Service: without changes, with one changed slice, and with new slices.

use std::hint::black_box;
use std::sync::Arc;

use criterion::{BatchSize, BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use kube_endpoint_model::{
    Address, AddressType, Endpoint, EndpointConditions, EndpointSlice, Node, ObjectMeta, ObjectReference, Text,
};
use kube_topology::{SliceSet, TrafficDistribution, ZoneRatios, add_hints, traffic_hints};

/// Default maximum number of endpoints per slice of the controller.
const PER_SLICE: usize = 100;

/// Zones and their CPU, slightly uneven.
const ZONES: [(&str, i64); 5] =
    [("region-1a", 16_000), ("region-1b", 16_500), ("region-1c", 17_000), ("region-1d", 17_500), ("region-1e", 18_000)];

fn ratios(zones: usize) -> ZoneRatios {
    let node =
        |(zone, cpu): &(&str, i64)| Node { zone: Text::from(*zone), cpu_milli: *cpu, ready: true, ..Node::default() };
    ZoneRatios::from_nodes(&ZONES[..zones].iter().map(node).collect::<Vec<_>>())
}

/// Endpoints as built from Pods. More than half of them run in the first zone, so that hints must move.
fn slices(zones: usize, endpoints: usize) -> Vec<EndpointSlice> {
    let zones: Vec<Text> = ZONES[..zones].iter().map(|(zone, _)| Text::from(*zone)).collect();
    let endpoint = |at: usize| Endpoint {
        addresses: Address::new(&format!("10.{}.{}.{}", at >> 16, (at >> 8) & 255, at & 255)).into(),
        conditions: EndpointConditions { ready: Some(true), serving: Some(true), terminating: Some(false) },
        node_name: Some(format!("node-{}", at % 500).into()),
        target_ref: Some(ObjectReference::default().into()),
        zone: Some(zones[if at.is_multiple_of(2) { 0 } else { at / 2 % zones.len() }].clone()),
        ..Endpoint::default()
    };
    let slice = |first: usize| EndpointSlice {
        metadata: ObjectMeta::default(),
        address_type: AddressType::IPv4,
        endpoints: (first..endpoints.min(first + PER_SLICE)).map(endpoint).collect(),
        ports: Vec::new(),
    };
    (0..endpoints).step_by(PER_SLICE).map(slice).collect()
}

type Hint<'a> = &'a dyn Fn(&mut SliceSet);

fn bench(criterion: &mut Criterion, name: &str, endpoints: usize, create: Vec<EndpointSlice>, hint: Hint<'_>) {
    let new = SliceSet { create, ..SliceSet::default() };
    let mut hinted = new.clone();
    hint(&mut hinted);
    let steady = SliceSet { unchanged: hinted.create.into_iter().map(Arc::new).collect(), ..SliceSet::default() };
    let mut check = steady.clone();
    hint(&mut check);
    assert!(check == steady, "the bench must measure a steady state");
    // The first slice is to be written, and its endpoints have no hints.
    let changed = SliceSet {
        update: vec![new.create[0].clone()],
        unchanged: steady.unchanged[1..].to_vec(),
        ..SliceSet::default()
    };

    let mut group = criterion.benchmark_group(name);
    group.throughput(Throughput::Elements(endpoints as u64));
    for (state, slices) in [("steady", steady), ("changed", changed), ("new", new)] {
        group.bench_with_input(BenchmarkId::new(state, endpoints), &slices, |bencher, slices| {
            // Copying the input and dropping the result are not measured.
            let run = |mut slices: SliceSet| {
                hint(black_box(&mut slices));
                slices
            };
            bencher.iter_batched(|| slices.clone(), run, BatchSize::SmallInput);
        });
    }
    group.finish();
}

fn hints(criterion: &mut Criterion) {
    for zones in [3, 5] {
        let ratios = ratios(zones);
        let hint = |slices: &mut SliceSet| {
            let outcome = add_hints(&ratios, true, &AddressType::IPv4, slices);
            assert!(outcome.allocated.is_some());
        };
        for endpoints in [10, 100, 1_000, 10_000] {
            bench(criterion, &format!("topology/{zones} zones"), endpoints, slices(zones, endpoints), &hint);
        }
    }
    for endpoints in [10, 100, 1_000, 10_000] {
        let hint = |slices: &mut SliceSet| traffic_hints(TrafficDistribution::PreferSameNode, slices);
        bench(criterion, "traffic", endpoints, slices(3, endpoints), &hint);
    }
}

criterion_group!(benches, hints);
criterion_main!(benches);
