use std::sync::Arc;

use jiff::Timestamp;
use kube_endpoint_model::{
    AddressType, Addresses, CompactTime, Endpoint, EndpointAddress, EndpointConditions, EndpointHints, EndpointPort,
    EndpointSlice, EndpointSubset, Endpoints, IpFamily, Labels, NamedPort, Node, ObjectMeta, ObjectReference,
    OwnerReference, Pod, ResourceVersion, Service, ServicePort, SubsetPort, TargetPort, TargetRef, Text, Uid,
};
use proptest::collection::vec;
use proptest::option::of;
use proptest::prelude::*;

use super::{Delta, HEARTBEAT, list};
use crate::codec::{Input, Output};
use crate::object::Recorded;

fn text() -> impl Strategy<Value = Text> {
    prop_oneof![Just(""), Just("web"), Just("web-0"), Just("web-1"), Just("größe"), Just("grün")].prop_map(Text::from)
}

fn uid() -> impl Strategy<Value = Uid> {
    prop_oneof![Just(""), Just("u"), Just("0e6b7a2c-35f4-4ca7-8a2d-5b1c8f0d9e11")].prop_map(Uid::from)
}

fn version() -> impl Strategy<Value = ResourceVersion> {
    prop_oneof![
        any::<u64>().prop_map(ResourceVersion::from),
        prop_oneof![Just(""), Just("007"), Just("x")].prop_map(ResourceVersion::from)
    ]
}

fn time() -> impl Strategy<Value = Timestamp> {
    let range = Timestamp::MIN.as_second()..=Timestamp::MAX.as_second();
    prop_oneof![
        (range, 0..1_000_000_000_i32).prop_filter_map("a time", |(second, nano)| Timestamp::new(second, nano).ok()),
        Just(Timestamp::MIN),
        Just(Timestamp::MAX)
    ]
}

fn labels() -> impl Strategy<Value = Labels> {
    vec((text(), text()), 0..4).prop_map(|pairs| pairs.into_iter().collect())
}

fn addresses() -> impl Strategy<Value = Addresses> {
    let address = prop_oneof![Just("10.0.0.1"), Just("10.0.0.12"), Just("fd00::1"), Just("a.example"), Just("")];
    vec(address, 0..3).prop_map(|all| all.into_iter().collect())
}

fn reference() -> impl Strategy<Value = TargetRef> {
    (text(), text(), text(), uid(), version()).prop_map(|(api_version, kind, name, uid, resource_version)| {
        ObjectReference { api_version, kind, name, uid, resource_version, ..ObjectReference::default() }.into()
    })
}

fn meta() -> impl Strategy<Value = ObjectMeta> {
    let owner = (text(), of(any::<bool>()), uid()).prop_map(|(name, controller, uid)| OwnerReference {
        name,
        controller,
        uid,
        ..OwnerReference::default()
    });
    let texts = (labels(), labels(), vec(text(), 0..3), of(text()));
    (texts, of(time()), of(any::<i64>()), any::<i64>(), vec(owner, 0..2), version(), uid()).prop_map(
        |(
            (annotations, labels, finalizers, generate_name),
            time,
            grace,
            generation,
            owner_references,
            version,
            uid,
        )| {
            ObjectMeta {
                annotations,
                labels,
                finalizers,
                generate_name,
                creation_timestamp: time,
                deletion_timestamp: time,
                deletion_grace_period_seconds: grace,
                generation,
                owner_references,
                resource_version: version,
                uid,
                ..ObjectMeta::default()
            }
        },
    )
}

fn endpoint() -> impl Strategy<Value = Endpoint> {
    let conditions = (of(any::<bool>()), of(any::<bool>()), of(any::<bool>()))
        .prop_map(|(ready, serving, terminating)| EndpointConditions { ready, serving, terminating });
    let hints = (vec(text(), 0..2), vec(text(), 0..2))
        .prop_map(|(for_nodes, for_zones)| Arc::new(EndpointHints { for_nodes, for_zones }));
    (addresses(), conditions, labels(), of(hints), of(text()), of(text()), of(reference())).prop_map(
        |(addresses, conditions, deprecated_topology, hints, hostname, zone, target_ref)| Endpoint {
            addresses,
            conditions,
            deprecated_topology,
            hints,
            hostname,
            node_name: zone.clone(),
            target_ref,
            zone,
        },
    )
}

fn slice() -> impl Strategy<Value = Recorded> {
    let port = (of(text()), of(any::<i32>())).prop_map(|(name, port)| EndpointPort {
        name: name.clone(),
        port,
        protocol: name,
        ..EndpointPort::default()
    });
    let address_type = prop_oneof![Just("IPv4"), Just("IPv6"), Just("FQDN"), Just("IP")].prop_map(AddressType::from);
    (meta(), address_type, vec(endpoint(), 0..6), vec(port, 0..3)).prop_map(
        |(metadata, address_type, endpoints, ports)| {
            Recorded::EndpointSlice(Arc::new(EndpointSlice { metadata, address_type, endpoints, ports }))
        },
    )
}

fn endpoint_address() -> impl Strategy<Value = EndpointAddress> {
    (text(), addresses(), of(text()), of(reference())).prop_map(|(hostname, ip, node_name, target_ref)| {
        let ip = ip.first().cloned().unwrap_or(EndpointAddress::default().ip);
        EndpointAddress { hostname, ip, node_name, target_ref }
    })
}

fn endpoints() -> impl Strategy<Value = Recorded> {
    let port = (text(), any::<i32>()).prop_map(|(name, port)| SubsetPort { name, port, ..SubsetPort::default() });
    let subset = (vec(endpoint_address(), 0..4), vec(endpoint_address(), 0..2), vec(port, 0..2))
        .prop_map(|(addresses, not_ready_addresses, ports)| EndpointSubset { addresses, not_ready_addresses, ports });
    (meta(), vec(subset, 0..3))
        .prop_map(|(metadata, subsets)| Recorded::Endpoints(Arc::new(Endpoints { metadata, subsets })))
}

fn pod() -> impl Strategy<Value = Recorded> {
    let port = (text(), any::<i32>()).prop_map(|(name, port)| NamedPort { protocol: name.clone(), name, port });
    let family = prop_oneof![Just(IpFamily::V4), Just(IpFamily::V6)];
    (text(), uid(), labels(), addresses(), of(family), vec(port, 0..3), of(time()), any::<[bool; 4]>()).prop_map(
        |(name, uid, labels, pod_ips, pod_ip_family, ports, changed, [ready, terminating, finished, excluded])| {
            Recorded::Pod(Arc::new(Pod {
                name,
                uid,
                labels,
                pod_ips,
                pod_ip_family,
                named_ports: ports.into(),
                ready_changed: changed.map(CompactTime::from),
                ready,
                terminating,
                finished,
                excluded_by_restart_policy: excluded,
                ..Pod::default()
            }))
        },
    )
}

fn service() -> impl Strategy<Value = Recorded> {
    let target = prop_oneof![any::<i32>().prop_map(TargetPort::Number), text().prop_map(TargetPort::Name)];
    let port = (text(), target, of(text())).prop_map(|(name, target, app_protocol)| ServicePort {
        name,
        target,
        app_protocol,
        ..ServicePort::default()
    });
    (text(), of(labels()), vec(port, 0..3), of(time()), any::<bool>()).prop_map(
        |(name, selector, ports, created, publish_not_ready_addresses)| {
            let ip_families = vec![IpFamily::V6; ports.len()];
            let service = Service {
                name,
                selector,
                ports,
                created,
                ip_families,
                publish_not_ready_addresses,
                ..Service::default()
            };
            Recorded::Service(Arc::new(service))
        },
    )
}

fn node() -> impl Strategy<Value = Recorded> {
    (text(), text(), any::<i64>(), any::<bool>()).prop_map(|(name, zone, cpu_milli, ready)| {
        Recorded::Node(Arc::new(Node { name, zone, cpu_milli, ready, ..Node::default() }))
    })
}

/// Returns two states of an object.
fn states() -> impl Strategy<Value = (Recorded, Recorded)> {
    prop_oneof![
        (slice(), slice()).boxed(),
        (endpoints(), endpoints()).boxed(),
        (pod(), pod()).boxed(),
        (service(), service()).boxed(),
        (node(), node()).boxed()
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1024, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn differences_lead_from_one_state_to_the_other((before, after) in states()) {
        let mut out = Output::default();
        prop_assert!(after.write_difference(&before, &mut out));
        let mut input = Input::new(out.as_slice());
        prop_assert_eq!(before.read_difference(&mut input).unwrap(), after);
        prop_assert!(input.is_empty());
    }

    #[test]
    fn whole_objects_come_back((object, _) in states()) {
        let mut out = Output::default();
        object.write(&mut out);
        let mut input = Input::new(out.as_slice());
        prop_assert_eq!(Recorded::read(&mut input).unwrap(), object);
        prop_assert!(input.is_empty());
    }

    #[test]
    fn other_bytes_are_read_without_panic((before, _) in states(), bytes in vec(any::<u8>(), 0..64)) {
        let _ = before.read_difference(&mut Input::new(&bytes));
        let _ = Recorded::read(&mut Input::new(&bytes));
    }
}

#[test]
fn a_flip_takes_a_few_bytes() {
    let endpoint = |at: usize, ready| Endpoint {
        addresses: [format!("10.1.0.{at}").as_str()].into(),
        conditions: EndpointConditions { ready: Some(ready), serving: Some(ready), terminating: Some(false) },
        ..Endpoint::default()
    };
    let slice = |version: u64, flipped: bool| EndpointSlice {
        metadata: ObjectMeta {
            resource_version: version.into(),
            generation: version.cast_signed(),
            ..ObjectMeta::default()
        },
        endpoints: (0..100).map(|at| endpoint(at, !(flipped && at == 70))).collect(),
        ..EndpointSlice::default()
    };
    let mut out = Output::default();
    slice(4_012, true).write(&slice(4_000, false), &mut out);
    assert!(out.len() <= 20, "{} bytes", out.len());
}

#[test]
fn a_list_is_no_longer_than_one_of_an_object_can_be() {
    let mut out = Output::default();
    for number in [0, 0, 1 << 20] {
        out.number(number);
    }
    out.raw(&vec![0; 1 << 20]);
    let error = list::read::<EndpointPort>(&[], &[], &mut Input::new(out.as_slice())).unwrap_err();
    assert_eq!(error.to_string(), "a list has more items than an object can have");
}

#[test]
fn a_heartbeat_is_a_node_of_another_version() {
    let node = |version: u64| Node { name: "node-1".into(), resource_version: version.into(), ..Node::default() };
    let mut out = Output::default();
    out.version = 8;
    node(8).write(&node(7), &mut out);
    assert_eq!(out.as_slice(), HEARTBEAT);
}
