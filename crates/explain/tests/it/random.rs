//! The law over random clusters.

use kube_endpoint_model::well_known::{SERVICE_NAME_LABEL, SLICE_MANAGED_BY_LABEL};
use kube_endpoint_model::{
    Address, Addresses, Endpoint, EndpointConditions, EndpointPort, EndpointSlice, IpFamily, Labels, NamedPort, Node,
    ObjectKey, ObjectMeta, Pod, Service, ServicePort, TargetPort, TargetRef,
};
use kube_wire::Object;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use proptest::strategy::ValueTree as _;
use proptest::test_runner::TestRunner;

use crate::cluster::{Cluster, expect_rest};
use crate::law;

fn labels() -> impl Strategy<Value = Labels> {
    vec((select(&["app", "tier"][..]), select(&["web", "wab", "db"][..])), 0..3)
        .prop_map(|pairs| pairs.into_iter().collect())
}

fn pod() -> impl Strategy<Value = Pod> {
    let addresses = vec(select(&["10.0.0.1", "10.0.0.2", "fd00::1", "nonsense"][..]), 0..3);
    let ports = vec((select(&["http", "dns"][..]), select(&["TCP", "UDP"][..]), 1..3_i32), 0..3);
    let flags = (any::<bool>(), any::<bool>(), prop::bool::weighted(0.2));
    (labels(), addresses, ports, flags, select(&["a", "b", "gone", ""][..])).prop_map(
        |(labels, addresses, ports, (ready, terminating, finished), node)| {
            let pod_ips: Addresses = addresses.into_iter().collect();
            Pod {
                namespace: "shop".into(),
                labels,
                pod_ip_family: pod_ips.first().map(|it| it.family().unwrap_or(IpFamily::V4)),
                pod_ips,
                named_ports: ports
                    .into_iter()
                    .map(|(name, protocol, port)| NamedPort { name: name.into(), protocol: protocol.into(), port })
                    .collect(),
                ready,
                terminating,
                finished,
                node_name: node.into(),
                ..Pod::default()
            }
        },
    )
}

fn port() -> impl Strategy<Value = ServicePort> {
    let target = prop_oneof![
        (1..4_i32).prop_map(TargetPort::Number),
        select(&["http", "dns"][..]).prop_map(|name| TargetPort::Name(name.into()))
    ];
    (target, select(&["TCP", "UDP"][..])).prop_map(|(target, protocol)| ServicePort {
        target,
        protocol: protocol.into(),
        ..ServicePort::default()
    })
}

fn service() -> impl Strategy<Value = Service> {
    let families = select(vec![vec![IpFamily::V4], vec![IpFamily::V6], vec![IpFamily::V4, IpFamily::V6], vec![]]);
    let policy = select(vec![None, Some("PreferSameZone"), Some("Nonsense")]);
    (
        prop::option::weighted(0.9, labels()),
        families,
        vec(port(), 0..3),
        (any::<bool>(), prop::bool::weighted(0.1), any::<bool>(), prop::bool::weighted(0.1), any::<bool>()),
        policy,
    )
        .prop_map(|(selector, ip_families, mut ports, flags, policy)| {
            let (publish, external_name, topology, terminating, headless) = flags;
            for (at, port) in ports.iter_mut().enumerate() {
                port.name = format!("p{at}").into();
            }
            Service {
                namespace: "shop".into(),
                uid: "uid".into(),
                cluster_ip: if headless { "None".into() } else { "10.96.0.1".into() },
                terminating,
                selector,
                ip_families,
                ports,
                publish_not_ready_addresses: publish,
                external_name,
                topology_annotation: topology.then(|| "Auto".into()),
                traffic_distribution: policy.map(Into::into),
                ..Service::default()
            }
        })
}

fn node() -> impl Strategy<Value = Node> {
    (any::<bool>(), select(&["", "z1", "z2"][..]), select(&[0_i64, 1_000, 4_000][..]))
        .prop_map(|(ready, zone, cpu)| Node { ready, zone: zone.into(), cpu_milli: cpu, ..Node::default() })
}

fn named<T: Object>(
    objects: Vec<T>,
    names: &[&str],
    name: impl Fn(&mut T, &str),
) -> std::collections::BTreeMap<ObjectKey, T> {
    objects
        .into_iter()
        .zip(names)
        .map(|(mut object, text)| {
            name(&mut object, text);
            (object.key(), object)
        })
        .collect()
}

/// A slice that another program writes for one of the Services.
fn slice() -> impl Strategy<Value = EndpointSlice> {
    let condition = || select(vec![None, Some(true), Some(false)]);
    let endpoint =
        (condition(), condition(), condition(), select(&["10.0.0.1", "fd00::1", "10.0.0.9"][..]), any::<bool>());
    let endpoint = endpoint.prop_map(|(ready, serving, terminating, address, of_pod)| Endpoint {
        addresses: [address].into_iter().collect(),
        conditions: EndpointConditions { ready, serving, terminating },
        target_ref: of_pod.then(|| TargetRef::pod("shop".into(), "p1".into(), "p1".into())),
        ..Endpoint::default()
    });
    let name = select(vec![None, Some(""), Some("p0"), Some("p1"), Some("other")]);
    let port = (name, select(&["TCP", "UDP"][..]), select(vec![None, Some(0), Some(1)]));
    let port = port.prop_map(|(name, protocol, port)| EndpointPort {
        name: name.map(Into::into),
        protocol: Some(protocol.into()),
        port,
        app_protocol: None,
    });
    let address_type = select(&["IPv4", "IPv6", "FQDN", "IP"][..]);
    (address_type, vec(endpoint, 0..3), vec(port, 0..3), select(&["s1", "s2", "none"][..]), any::<bool>()).prop_map(
        |(address_type, endpoints, ports, service, is_managed)| {
            let manager = is_managed.then_some((SLICE_MANAGED_BY_LABEL, "mesh.example.com"));
            let labels = [(SERVICE_NAME_LABEL, service)].into_iter().chain(manager).collect();
            let metadata = ObjectMeta { namespace: "shop".into(), labels, ..ObjectMeta::default() };
            EndpointSlice { metadata, address_type: address_type.into(), endpoints, ports }
        },
    )
}

fn cluster() -> impl Strategy<Value = Cluster> {
    let objects = (vec(service(), 1..4), vec(pod(), 0..8), vec(node(), 0..3), vec(slice(), 0..3));
    objects.prop_map(|(services, pods, nodes, slices)| Cluster {
        slices: named(slices, &["f1", "f2"], |it, name| it.metadata.name = name.into()),
        services: named(services, &["s1", "s2", "s3"], |it, name| it.name = name.into()),
        pods: named(pods, &["p1", "p2", "p3", "p4", "p5", "p6", "p7"], |it, name| {
            it.name = name.into();
            it.uid = name.into();
        }),
        nodes: named(nodes, &["a", "b"], |it, name| it.name = name.into()),
        ..Cluster::default()
    })
}

// Two writes of the controllers in between: the explanation must not depend on the slices that exist.
#[test]
fn endpoints_and_reasons_are_those_of_the_controllers() {
    let law = |(mut cluster, then): (Cluster, Vec<Pod>)| {
        law::check_and_settle(&mut cluster);
        let names = ["p1", "p2", "p9"];
        cluster.pods.extend(named(then, &names, |it, name| it.name = name.into()));
        let (_, changes) = law::check(&cluster);
        cluster.write_all(changes);
        let world = cluster.world();
        expect_rest(world.changes());
        prop_assert!(!world.check().iter().any(|finding| finding.reason.code.as_str().starts_with("EP501")));
        Ok(())
    };
    // The longest test of this crate: two threads, of which each draws its own half of the cases.
    let half = || TestRunner::new(ProptestConfig { cases: 5_000, ..ProptestConfig::with_source_file(file!()) });
    let run = || half().run(&(cluster(), vec(pod(), 0..3)), law).unwrap_or_else(|error| panic!("{error}"));
    std::thread::scope(|scope| [scope.spawn(run), scope.spawn(run)].map(|it| it.join().expect("the law holds")));
}

#[test]
fn generated_clusters_have_addresses() {
    let mut runner = TestRunner::deterministic();
    let clusters = (0..100).map(|_| cluster().new_tree(&mut runner).expect("a cluster").current());
    let valid =
        |cluster: &Cluster| cluster.pods.values().any(|pod| pod.pod_ips.iter().any(|it| Address::ip(it).is_some()));
    assert!(clusters.filter(valid).count() > 50);
}
