//! Conversion of the full types to Kubernetes' published protobuf messages, which checks every decoded field number by
//! name.
#![expect(clippy::ref_option, clippy::unnecessary_wraps, reason = "the generated types are made of options")]

use k8s_openapi::api::{core::v1 as core, discovery::v1 as discovery};
use k8s_openapi::apimachinery::pkg::apis::meta::v1 as meta;
use k8s_openapi::apimachinery::pkg::util::intstr::IntOrString;
use k8s_pb::api::{core::v1 as pb_core, discovery::v1 as pb_discovery};
use k8s_pb::apimachinery::pkg::apis::meta::v1 as pb_meta;
use kube_endpoint_model::{Node, Pod, Service, project};
use kube_wire::Decode;
use prost::Message as _;

pub(crate) fn time(it: &meta::Time) -> pb_meta::Time {
    // Go encodes the nanoseconds too, and ignores them when decoding.
    pb_meta::Time { seconds: Some(it.0.as_second()), nanos: Some(5) }
}

fn list<'a, T: 'a, U>(items: &'a Option<Vec<T>>, convert: impl Fn(&'a T) -> U) -> Vec<U> {
    items.iter().flatten().map(convert).collect()
}

/// Go encodes plain strings even if they are empty.
fn plain(text: &Option<String>) -> Option<String> {
    Some(text.clone().unwrap_or_default())
}

pub(crate) fn metadata(it: &meta::ObjectMeta) -> pb_meta::ObjectMeta {
    pb_meta::ObjectMeta {
        name: plain(&it.name),
        generate_name: plain(&it.generate_name),
        namespace: plain(&it.namespace),
        self_link: plain(&it.self_link),
        uid: plain(&it.uid),
        resource_version: plain(&it.resource_version),
        generation: Some(it.generation.unwrap_or_default()),
        creation_timestamp: Some(it.creation_timestamp.as_ref().map_or_else(pb_meta::Time::default, time)),
        deletion_timestamp: it.deletion_timestamp.as_ref().map(time),
        deletion_grace_period_seconds: it.deletion_grace_period_seconds,
        labels: it.labels.clone().unwrap_or_default(),
        annotations: it.annotations.clone().unwrap_or_default(),
        owner_references: list(&it.owner_references, |it| pb_meta::OwnerReference {
            api_version: Some(it.api_version.clone()),
            kind: Some(it.kind.clone()),
            name: Some(it.name.clone()),
            uid: Some(it.uid.clone()),
            controller: it.controller,
            block_owner_deletion: it.block_owner_deletion,
        }),
        finalizers: it.finalizers.clone().unwrap_or_default(),
        managed_fields: list(&it.managed_fields, |it| pb_meta::ManagedFieldsEntry {
            manager: it.manager.clone(),
            operation: it.operation.clone(),
            api_version: it.api_version.clone(),
            time: it.time.as_ref().map(time),
            fields_type: it.fields_type.clone(),
            fields_v1: it.fields_v1.as_ref().map(|it| pb_meta::FieldsV1 { raw: Some(it.0.to_string().into_bytes()) }),
            subresource: it.subresource.clone(),
        }),
    }
}

fn target(it: &core::ObjectReference) -> pb_core::ObjectReference {
    pb_core::ObjectReference {
        kind: plain(&it.kind),
        namespace: plain(&it.namespace),
        name: plain(&it.name),
        uid: plain(&it.uid),
        api_version: plain(&it.api_version),
        resource_version: plain(&it.resource_version),
        field_path: plain(&it.field_path),
    }
}

pub(crate) fn slice(it: &discovery::EndpointSlice) -> pb_discovery::EndpointSlice {
    pb_discovery::EndpointSlice {
        metadata: Some(metadata(&it.metadata)),
        address_type: Some(it.address_type.clone()),
        endpoints: list(&it.endpoints, |it| pb_discovery::Endpoint {
            addresses: it.addresses.clone(),
            conditions: it.conditions.as_ref().map(|it| pb_discovery::EndpointConditions {
                ready: it.ready,
                serving: it.serving,
                terminating: it.terminating,
            }),
            hostname: it.hostname.clone(),
            target_ref: it.target_ref.as_ref().map(target),
            deprecated_topology: it.deprecated_topology.clone().unwrap_or_default(),
            node_name: it.node_name.clone(),
            zone: it.zone.clone(),
            hints: it.hints.as_ref().map(|it| pb_discovery::EndpointHints {
                for_zones: list(&it.for_zones, |it| pb_discovery::ForZone { name: Some(it.name.clone()) }),
                for_nodes: list(&it.for_nodes, |it| pb_discovery::ForNode { name: Some(it.name.clone()) }),
            }),
        }),
        ports: list(&it.ports, |it| pb_discovery::EndpointPort {
            name: it.name.clone(),
            protocol: it.protocol.clone(),
            port: it.port,
            app_protocol: it.app_protocol.clone(),
        }),
    }
}

pub(crate) fn endpoints(it: &core::Endpoints) -> pb_core::Endpoints {
    let address = |it: &core::EndpointAddress| pb_core::EndpointAddress {
        ip: Some(it.ip.clone()),
        hostname: plain(&it.hostname),
        node_name: it.node_name.clone(),
        target_ref: it.target_ref.as_ref().map(target),
    };
    pb_core::Endpoints {
        metadata: Some(metadata(&it.metadata)),
        subsets: list(&it.subsets, |it| pb_core::EndpointSubset {
            addresses: list(&it.addresses, address),
            not_ready_addresses: list(&it.not_ready_addresses, address),
            ports: list(&it.ports, |it| pb_core::EndpointPort {
                name: plain(&it.name),
                port: Some(it.port),
                protocol: plain(&it.protocol),
                app_protocol: it.app_protocol.clone(),
            }),
        }),
    }
}

const METADATA: &str = r#""name": "it", "namespace": "shop", "uid": "u", "resourceVersion": "9",
    "creationTimestamp": "2026-02-03T04:00:00Z", "deletionTimestamp": "2026-02-03T05:00:00Z",
    "labels": {"app": "web", "topology.kubernetes.io/zone": "a", "node-role.kubernetes.io/master": ""},
    "annotations": {"service.kubernetes.io/topology-mode": "Auto"}, "deletionGracePeriodSeconds": 3595,
    "managedFields": [
        {"manager": "kubectl", "operation": "Update", "apiVersion": "v1", "time": "2026-02-03T04:00:02Z",
         "fieldsType": "FieldsV1", "fieldsV1": {"f:metadata": {}}},
        {"manager": "kubelet", "operation": "Update", "apiVersion": "v1", "time": "2026-02-03T04:00:00Z",
         "fieldsType": "FieldsV1", "fieldsV1": {"f:status": {}}, "subresource": "status"}]"#;

fn metadata_of<T: k8s_openapi::Metadata<Ty = meta::ObjectMeta>>(it: &T) -> Option<pb_meta::ObjectMeta> {
    Some(metadata(it.metadata()))
}

pub(crate) fn pod_message(full: &core::Pod) -> pb_core::Pod {
    let (spec, status) = (full.spec.as_ref().expect("a spec"), full.status.as_ref().expect("a status"));
    let container = |it: &core::Container| pb_core::Container {
        name: Some(it.name.clone()),
        restart_policy: it.restart_policy.clone(),
        ports: list(&it.ports, |it| pb_core::ContainerPort {
            name: it.name.clone(),
            host_port: it.host_port,
            container_port: Some(it.container_port),
            protocol: plain(&it.protocol),
            host_ip: Some("10.9.9.9".into()),
        }),
        ..Default::default()
    };
    pb_core::Pod {
        metadata: metadata_of(full),
        spec: Some(pb_core::PodSpec {
            init_containers: list(&spec.init_containers, container),
            containers: spec.containers.iter().map(container).collect(),
            restart_policy: spec.restart_policy.clone(),
            node_name: spec.node_name.clone(),
            hostname: spec.hostname.clone(),
            subdomain: spec.subdomain.clone(),
            ..Default::default()
        }),
        status: Some(pb_core::PodStatus {
            phase: status.phase.clone(),
            host_ip: status.host_ip.clone(),
            pod_ip: status.pod_ip.clone(),
            pod_ips: list(&status.pod_ips, |it| pb_core::PodIp { ip: Some(it.ip.clone()) }),
            conditions: list(&status.conditions, |it| pb_core::PodCondition {
                r#type: Some(it.type_.clone()),
                status: Some(it.status.clone()),
                last_probe_time: Some(pb_meta::Time { seconds: Some(1), nanos: None }),
                last_transition_time: it.last_transition_time.as_ref().map(time),
                ..Default::default()
            }),
            ..Default::default()
        }),
    }
}

pub(crate) fn service_message(full: &core::Service) -> pb_core::Service {
    let spec = full.spec.as_ref().expect("a spec");
    pb_core::Service {
        metadata: metadata_of(full),
        spec: Some(pb_core::ServiceSpec {
            ports: list(&spec.ports, |it| pb_core::ServicePort {
                name: it.name.clone(),
                protocol: it.protocol.clone(),
                port: Some(it.port),
                node_port: it.node_port,
                app_protocol: it.app_protocol.clone(),
                target_port: it.target_port.as_ref().map(|it| {
                    let (is_name, number, name) = match it {
                        IntOrString::Int(number) => (0, *number, String::new()),
                        IntOrString::String(name) => (1, 0, name.clone()),
                    };
                    k8s_pb::apimachinery::pkg::util::intstr::IntOrString {
                        r#type: Some(is_name),
                        int_val: Some(number),
                        str_val: Some(name),
                    }
                }),
            }),
            selector: spec.selector.clone().unwrap_or_default(),
            cluster_ip: spec.cluster_ip.clone(),
            r#type: spec.type_.clone(),
            ip_families: spec.ip_families.clone().unwrap_or_default(),
            publish_not_ready_addresses: spec.publish_not_ready_addresses,
            traffic_distribution: spec.traffic_distribution.clone(),
            ..Default::default()
        }),
        status: None,
    }
}

pub(crate) fn node_message(full: &core::Node) -> pb_core::Node {
    let status = full.status.as_ref().expect("a status");
    let quantities =
        |map: &Option<std::collections::BTreeMap<_, k8s_openapi::apimachinery::pkg::api::resource::Quantity>>| {
            let quantity =
                |text: &str| k8s_pb::apimachinery::pkg::api::resource::Quantity { string: Some(text.to_owned()) };
            map.iter().flatten().map(|(name, value)| (String::clone(name), quantity(&value.0))).collect()
        };
    pb_core::Node {
        metadata: metadata_of(full).map(|it| pb_meta::ObjectMeta { namespace: None, ..it }),
        spec: None,
        status: Some(pb_core::NodeStatus {
            capacity: quantities(&status.capacity),
            allocatable: quantities(&status.allocatable),
            conditions: list(&status.conditions, |it| pb_core::NodeCondition {
                r#type: Some(it.type_.clone()),
                status: Some(it.status.clone()),
                ..Default::default()
            }),
            ..Default::default()
        }),
    }
}

#[test]
fn pod() {
    let json = format!(
        r#"{{"metadata": {{{METADATA}}},
        "spec": {{"hostname": "h", "subdomain": "s", "nodeName": "n",
            "initContainers": [{{"name": "i", "ports": [{{"name": "x", "containerPort": 1, "protocol": "TCP"}}]}},
                {{"name": "s", "restartPolicy": "Always",
                  "ports": [{{"name": "side", "containerPort": 2, "protocol": "UDP", "hostPort": 7}}]}}],
            "containers": [{{"name": "c", "ports": [{{"containerPort": 3}}, {{"name": "http", "containerPort": 4}}]}}]}},
        "status": {{"phase": "Failed", "podIP": "fd00::1", "hostIP": "10.9.9.9",
            "podIPs": [{{"ip": "fd00::1"}}, {{"ip": "10.0.0.1"}}],
            "conditions": [{{"type": "Initialized", "status": "False"}},
                {{"type": "Ready", "status": "True", "lastTransitionTime": "2026-02-03T04:00:01Z"}}]}}}}"#
    );
    let full: core::Pod = serde_json::from_str(&json).unwrap();
    let message = pod_message(&full);
    let expected: Pod = project(&full).unwrap();
    assert!(expected.terminating && expected.finished && expected.ready && expected.named_ports.len() == 2);
    assert_eq!(Pod::from_protobuf(&message.encode_to_vec()).unwrap(), expected);
    assert_eq!(Pod::from_json(json.as_bytes()).unwrap(), expected);
}

#[test]
fn service() {
    let json = format!(
        r#"{{"metadata": {{{METADATA}}},
        "spec": {{"type": "ExternalName", "clusterIP": "10.96.0.1", "selector": {{"b": "2", "a": "1"}},
            "ports": [{{"name": "a", "port": 80, "protocol": "TCP", "targetPort": 8080, "nodePort": 30000}},
                {{"name": "b", "port": 81, "protocol": "UDP", "targetPort": "dns", "appProtocol": "x"}},
                {{"name": "c", "port": 82, "protocol": "TCP"}}],
            "ipFamilies": ["IPv6", "IPv4"], "publishNotReadyAddresses": true, "trafficDistribution": "PreferClose"}}}}"#
    );
    let full: core::Service = serde_json::from_str(&json).unwrap();
    let message = service_message(&full);
    let expected: Service = project(&full).unwrap();
    assert!(expected.external_name && expected.topology_annotation.is_some() && expected.selector.is_some());
    assert_eq!(Service::from_protobuf(&message.encode_to_vec()).unwrap(), expected);
    assert_eq!(Service::from_json(json.as_bytes()).unwrap(), expected);
}

#[test]
fn node() {
    let json = format!(
        r#"{{"metadata": {{{METADATA}}}, "status": {{"allocatable": {{"cpu": "3920m", "memory": "1Gi"}},
        "capacity": {{"cpu": "4"}},
        "conditions": [{{"type": "MemoryPressure", "status": "False"}}, {{"type": "Ready", "status": "True"}}]}}}}"#
    );
    let full: core::Node = serde_json::from_str(&json).unwrap();
    let message = node_message(&full);
    let expected: Node = project(&full).unwrap();
    assert_eq!((&*expected.zone, expected.ready, expected.cpu_milli, expected.control_plane), ("a", true, 3920, true));
    assert_eq!(Node::from_protobuf(&message.encode_to_vec()).unwrap(), expected);
    assert_eq!(Node::from_json(json.as_bytes()).unwrap(), expected);
}
