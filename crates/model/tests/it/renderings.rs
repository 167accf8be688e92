//! Documents that Go's decoders accept are accepted with the same meaning in every rendering, which is that of the JSON of
//! `k8s-openapi`.

use std::fmt::Debug;

use k8s_openapi::api::core::v1 as core;
use k8s_openapi::apimachinery::pkg::api::resource::Quantity;
use k8s_openapi::apimachinery::pkg::util::intstr::IntOrString;
use kube_endpoint_model::{EndpointSlice, Endpoints, Node, Pod, Service, project};
use kube_wire::Decode;
use prop::collection::vec;
use prop::option::of;
use proptest::prelude::*;
use serde::Serialize;

use crate::fuzz::targets::renderings::{self, Choices, Shape};
use crate::messages;
use crate::properties::{address, endpoints, list, map, metadata, plain, pointer, slice, text, time};

/// Text, sometimes with characters that result from invalid bytes and lone surrogates.
fn any_text() -> impl Strategy<Value = String> {
    prop_oneof![8 => text(), 1 => "[a\u{fffd}\u{1f600}/\u{0}]{1,4}"]
}

fn container() -> impl Strategy<Value = core::Container> {
    let port = (of(any_text()), any::<i32>(), plain()).prop_map(|(name, container_port, protocol)| {
        core::ContainerPort { name, container_port, protocol, ..Default::default() }
    });
    let policy = of(prop_oneof![Just("Always".to_owned()), text()]);
    (text(), list(port), policy).prop_map(|(name, ports, restart_policy)| core::Container {
        name,
        ports,
        restart_policy,
        ..Default::default()
    })
}

fn pod() -> impl Strategy<Value = core::Pod> {
    let policies = ["Always", "OnFailure", "Never", "Sometimes"].map(str::to_owned).to_vec();
    let spec = (
        (vec(container(), 0..3), list(container())),
        (plain(), of(any_text()), plain(), of(prop::sample::select(policies))),
    )
        .prop_map(|((containers, init_containers), (node_name, hostname, subdomain, restart_policy))| {
            core::PodSpec {
                containers,
                init_containers,
                node_name,
                hostname,
                subdomain,
                restart_policy,
                ..Default::default()
            }
        });
    let kinds = ["Ready", "Initialized", "a/b"].map(str::to_owned).to_vec();
    let states = ["True", "False", "Unknown", "other"].map(str::to_owned).to_vec();
    let condition = (prop::sample::select(kinds), prop::sample::select(states), of(time())).prop_map(
        |(type_, status, last_transition_time)| core::PodCondition {
            type_,
            status,
            last_transition_time,
            ..Default::default()
        },
    );
    let phases = ["Pending", "Running", "Succeeded", "Failed", "Lost"].map(str::to_owned).to_vec();
    let ip = address().prop_map(|ip| core::PodIP { ip });
    let status = (of(prop::sample::select(phases)), of(address()), list(ip), list(condition)).prop_map(
        |(phase, pod_ip, pod_ips, conditions)| core::PodStatus {
            phase,
            pod_ip,
            pod_ips,
            conditions,
            ..Default::default()
        },
    );
    (metadata(), spec, status).prop_map(|(metadata, spec, status)| core::Pod {
        metadata,
        spec: Some(spec),
        status: Some(status),
    })
}

fn service() -> impl Strategy<Value = core::Service> {
    let target = prop_oneof![any::<i32>().prop_map(IntOrString::Int), any_text().prop_map(IntOrString::String)];
    let port = (plain(), plain(), any::<i32>(), of(target), pointer()).prop_map(
        |(name, protocol, port, target_port, app_protocol)| core::ServicePort {
            name,
            protocol,
            port,
            target_port,
            app_protocol,
            ..Default::default()
        },
    );
    let families = prop::sample::select(["IPv4", "IPv6", "IPv5"].map(str::to_owned).to_vec());
    let kinds = prop::sample::select(["ClusterIP", "ExternalName", "NodePort"].map(str::to_owned).to_vec());
    let ip = prop_oneof![address(), Just("None".to_owned())];
    let spec = (list(port), map(), of(ip), of(kinds), of(any::<bool>()), list(families), pointer()).prop_map(
        |(ports, selector, cluster_ip, type_, publish_not_ready_addresses, ip_families, traffic_distribution)| {
            core::ServiceSpec {
                ports,
                selector,
                cluster_ip,
                type_,
                publish_not_ready_addresses,
                ip_families,
                traffic_distribution,
                ..Default::default()
            }
        },
    );
    (metadata(), spec).prop_map(|(metadata, spec)| core::Service { metadata, spec: Some(spec), status: None })
}

fn node() -> impl Strategy<Value = core::Node> {
    let condition = (prop_oneof![Just("Ready".to_owned()), text()], prop_oneof![Just("True".to_owned()), text()])
        .prop_map(|(type_, status)| core::NodeCondition { type_, status, ..Default::default() });
    let cpu = of(prop_oneof!["[1-9][0-9]{0,4}m?", "[1-9]\\.[0-9]{1,3}", "[1-9]e[0-3]"]);
    let status = (list(condition), cpu).prop_map(|(conditions, cpu)| core::NodeStatus {
        conditions,
        allocatable: cpu
            .map(|cpu| [("cpu".to_owned(), Quantity(cpu)), ("memory".to_owned(), Quantity("1Gi".to_owned()))].into()),
        ..Default::default()
    });
    (metadata(), status).prop_map(|(metadata, status)| core::Node { metadata, spec: None, status: Some(status) })
}

fn check<T, Full>(
    full: &Full,
    message: &impl prost::Message,
    kind: &'static str,
    seed: u64,
) -> Result<(), TestCaseError>
where
    T: Decode + PartialEq + Debug,
    Full: Serialize,
{
    let expected = project::<T>(full);
    let (shape, mut choices) = (Shape::of_kind(kind), Choices::new(&seed.to_le_bytes()));
    let document = serde_json::to_value(full).expect("JSON");
    let json = renderings::json(&document, shape, &mut choices);
    prop_assert_eq!(&T::from_json(&json), &expected, "{}", String::from_utf8_lossy(&json));
    let protobuf = renderings::protobuf(&message.encode_to_vec(), shape, &mut choices).expect("a good message");
    prop_assert_eq!(&T::from_protobuf(&protobuf), &expected, "{}", protobuf.escape_ascii());
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn pods(full in pod(), seed: u64) {
        check::<Pod, _>(&full, &messages::pod_message(&full), "Pod", seed)?;
    }

    #[test]
    fn services(full in service(), seed: u64) {
        check::<Service, _>(&full, &messages::service_message(&full), "Service", seed)?;
    }

    #[test]
    fn nodes(full in node(), seed: u64) {
        check::<Node, _>(&full, &messages::node_message(&full), "Node", seed)?;
    }

    #[test]
    fn endpoints_objects(full in endpoints(), seed: u64) {
        check::<Endpoints, _>(&full, &messages::endpoints(&full), "Endpoints", seed)?;
    }

    #[test]
    fn endpoint_slices(full in slice(), seed: u64) {
        check::<EndpointSlice, _>(&full, &messages::slice(&full), "EndpointSlice", seed)?;
    }
}

/// A null element is a zero value. It must not be skipped, since that would shift the elements after it.
#[test]
fn null_elements_are_zero_values() {
    let pod = Pod::from_json(
        br#"{"spec":{"containers":[null,{"ports":[null,{"name":"a"}]}],"initContainers":[null]},
            "status":{"conditions":[null],"podIPs":[null,{"ip":"10.0.0.1"}]}}"#,
    )
    .unwrap();
    assert_eq!((pod.named_ports.len(), pod.pod_ips.len(), pod.ready), (1, 2, false));
    let service = Service::from_json(br#"{"spec":{"ports":[null],"ipFamilies":[null]}}"#).unwrap();
    assert_eq!((service.ports.len(), service.ip_families.len()), (1, 0));
    assert!(!Node::from_json(br#"{"status":{"conditions":[null]}}"#).unwrap().ready);
    let endpoints = Endpoints::from_json(
        br#"{"subsets":[null,{"addresses":[null],"notReadyAddresses":[null],"ports":[null,{"port":null}]}]}"#,
    )
    .unwrap();
    assert_eq!(
        (endpoints.subsets.len(), endpoints.subsets[1].addresses.len(), endpoints.subsets[1].ports.len()),
        (2, 1, 2)
    );
    let slice = EndpointSlice::from_json(
        br#"{"metadata":{"ownerReferences":[null],"finalizers":[null]},"ports":[null],
            "endpoints":[null,{"addresses":[null],"hints":{"forZones":[null],"forNodes":null}}]}"#,
    )
    .unwrap();
    assert_eq!((slice.endpoints.len(), slice.ports.len(), slice.metadata.owner_references.len()), (2, 1, 1));
    assert_eq!(slice.endpoints[1].hints.as_ref().map(|hints| hints.for_zones.len()), Some(1));
}
