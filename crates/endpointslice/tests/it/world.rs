//! Services, endpoints and slices for plans, and the slices after a plan.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::sync::Arc;

use kube_endpoint_model::well_known::SLICE_CONTROLLER;
use kube_endpoint_model::{
    Address, AddressType, Endpoint, EndpointConditions, EndpointPort, EndpointSlice, Service, TargetRef, Text, Uid,
    Write,
};
use kube_endpointslice::{DesiredGroup, Hints, Input, Options, Owner, Plan, SliceLabels, TriggerTime, plan};

pub(crate) const IPV4: &[AddressType] = &[AddressType::IPv4];

pub(crate) fn service() -> Service {
    Service {
        namespace: "ns".into(),
        name: "web".into(),
        uid: "u-web".into(),
        cluster_ip: "10.96.0.1".into(),
        ..Service::default()
    }
}

pub(crate) fn endpoint(number: usize, ready: bool) -> Endpoint {
    endpoint_of(&AddressType::IPv4, number, ready)
}

pub(crate) fn endpoint_of(address_type: &AddressType, number: usize, ready: bool) -> Endpoint {
    let address = match address_type {
        AddressType::IPv6 => format!("fd00::{:x}", number + 1),
        _ => format!("10.{}.{}.{}", number >> 16, (number >> 8) & 255, number & 255),
    };
    Endpoint {
        addresses: Address::new(&address).into(),
        conditions: EndpointConditions { ready: Some(ready), ..EndpointConditions::default() },
        target_ref: Some(TargetRef::pod("ns".into(), format!("p{number:05}").into(), Uid::default())),
        ..Endpoint::default()
    }
}

pub(crate) fn ports(number: i32) -> Vec<EndpointPort> {
    vec![EndpointPort {
        name: Some("http".into()),
        protocol: Some("TCP".into()),
        port: Some(number),
        app_protocol: None,
    }]
}

pub(crate) fn group(numbers: impl IntoIterator<Item = usize>, port: i32, ready: bool) -> DesiredGroup {
    DesiredGroup {
        address_type: AddressType::IPv4,
        ports: ports(port),
        endpoints: numbers.into_iter().map(|number| endpoint(number, ready)).collect(),
    }
}

pub(crate) fn options(max: usize) -> Options {
    Options::for_services(SLICE_CONTROLLER).max_endpoints_per_slice(NonZeroUsize::new(max).expect("not zero"))
}

pub(crate) fn plan_for(
    service: &Service,
    types: &[AddressType],
    desired: Vec<DesiredGroup>,
    existing: &[Arc<EndpointSlice>],
    options: &Options,
) -> Plan {
    let (owner, labels) = (Owner::service(service), SliceLabels::for_service(service));
    let input = Input::new(&owner, types, desired, existing).labels(&labels).trigger_time(TriggerTime::Write(None));
    plan(input, Hints::Leave, options)
}

/// Returns the slices after a plan is applied. `next` is the counter for generated names.
pub(crate) fn carry_out(existing: &[Arc<EndpointSlice>], plan: &Plan, next: &mut usize) -> Vec<Arc<EndpointSlice>> {
    let mut slices: BTreeMap<Text, Arc<EndpointSlice>> =
        existing.iter().map(|slice| (slice.metadata.name.clone(), Arc::clone(slice))).collect();
    for plan in &plan.types {
        for slice in plan.creates() {
            let mut slice = slice.clone();
            *next += 1;
            let prefix = slice.metadata.generate_name.clone().expect("new slices have a prefix");
            slice.metadata.name = format!("{prefix}{next:05}").into();
            slice.metadata.uid = format!("u{next}").into();
            slice.metadata.resource_version = 1.into();
            assert!(slices.insert(slice.metadata.name.clone(), Arc::new(slice)).is_none());
        }
        for slice in plan.updates() {
            let mut slice = slice.clone();
            slice.metadata.resource_version = 2.into();
            let before = slices.insert(slice.metadata.name.clone(), Arc::new(slice.clone()));
            assert!(before.is_some_and(|before| before.address_type == slice.address_type), "no slice to update");
        }
        for slice in plan.deletes() {
            assert!(slices.remove(&slice.metadata.name).is_some(), "no slice to delete");
        }
    }
    for slice in plan.unsupported.iter().filter_map(Write::before) {
        slices.remove(&slice.metadata.name);
    }
    slices.into_values().collect()
}

/// Returns slices of these sizes with consecutive endpoints, as an earlier plan would have created them.
pub(crate) fn slices_of(sizes: &[usize], ready: bool) -> Vec<Arc<EndpointSlice>> {
    let mut first = 0;
    let mut slices = Vec::new();
    for (at, size) in sizes.iter().enumerate() {
        let desired = vec![group(first..first + size, 80, ready)];
        slices.extend(carry_out(&[], &plan_for(&service(), IPV4, desired, &[], &options(1_000)), &mut (at * 10)));
        first += size;
    }
    slices
}
