//! Decoding of Pods from JSON in one pass: unused fields are skipped, used strings are interned.

use serde::{Deserialize, Deserializer};

use super::{NamedPort, Pod, PodBuilder, is_sidecar};
use crate::json::{Str, each, nullable, text};
use crate::projection::Metadata;
use crate::{Address, Addresses, Text, time};

impl<'de> Deserialize<'de> for Pod {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let Document { metadata, spec, status } = Document::deserialize(deserializer)?;
        let Status(mut builder) = status;
        builder.metadata = metadata;
        (builder.pod.hostname, builder.pod.subdomain, builder.pod.node_name) =
            (spec.hostname, spec.subdomain, spec.node_name);
        builder.restart_policy = spec.restart_policy;
        (builder.container_ports, builder.sidecar_ports) = (spec.containers, spec.init_containers);
        Ok(builder.into())
    }
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Document {
    #[serde(deserialize_with = "nullable")]
    metadata: Metadata,
    #[serde(deserialize_with = "nullable")]
    spec: Spec,
    #[serde(deserialize_with = "nullable")]
    status: Status,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct Spec {
    #[serde(deserialize_with = "text")]
    restart_policy: Text,
    #[serde(deserialize_with = "text")]
    hostname: Text,
    #[serde(deserialize_with = "text")]
    subdomain: Text,
    #[serde(deserialize_with = "text")]
    node_name: Text,
    #[serde(deserialize_with = "ports_of_containers")]
    containers: Vec<NamedPort>,
    #[serde(deserialize_with = "ports_of_sidecars")]
    init_containers: Vec<NamedPort>,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct Container<'a> {
    #[serde(borrow)]
    restart_policy: Str<'a>,
    #[serde(deserialize_with = "named_ports")]
    ports: Vec<NamedPort>,
}

fn ports_of_containers<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<NamedPort>, D::Error> {
    let mut ports = Vec::new();
    each(deserializer, |container: Container<'_>| ports.extend(container.ports))?;
    Ok(ports)
}

fn ports_of_sidecars<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<NamedPort>, D::Error> {
    let mut ports = Vec::new();
    each(deserializer, |container: Container<'_>| {
        if is_sidecar(&container.restart_policy.0) {
            ports.extend(container.ports);
        }
    })?;
    Ok(ports)
}

fn named_ports<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<NamedPort>, D::Error> {
    #[derive(Deserialize, Default)]
    #[serde(default)]
    struct Port {
        #[serde(deserialize_with = "text")]
        name: Text,
        #[serde(deserialize_with = "text")]
        protocol: Text,
        #[serde(rename = "containerPort", deserialize_with = "nullable")]
        number: i32,
    }
    let mut ports = Vec::new();
    each(deserializer, |Port { name, protocol, number: port }| {
        if !name.is_empty() {
            ports.push(NamedPort { name, protocol, port });
        }
    })?;
    Ok(ports)
}

#[derive(Default)]
struct Status(PodBuilder);

impl<'de> Deserialize<'de> for Status {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize, Default)]
        #[serde(default)]
        struct Document<'a> {
            #[serde(borrow)]
            phase: Str<'a>,
            #[serde(rename = "podIP", borrow)]
            pod_ip: Str<'a>,
            #[serde(rename = "podIPs", deserialize_with = "pod_ips")]
            pod_ips: Addresses,
            #[serde(deserialize_with = "conditions")]
            conditions: PodBuilder,
        }
        let Document { phase, pod_ip, pod_ips, conditions: mut builder } = Document::deserialize(deserializer)?;
        builder.phase(&phase.0);
        builder.pod_ip(&pod_ip.0);
        builder.pod.pod_ips = pod_ips;
        Ok(Status(builder))
    }
}

fn pod_ips<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Addresses, D::Error> {
    #[derive(Deserialize, Default)]
    #[serde(default)]
    struct PodIp<'a> {
        #[serde(borrow)]
        ip: Str<'a>,
    }
    let mut addresses = Addresses::default();
    each(deserializer, |PodIp { ip }: PodIp<'_>| addresses.push(Address::new(&ip.0)))?;
    Ok(addresses)
}

fn conditions<'de, D: Deserializer<'de>>(deserializer: D) -> Result<PodBuilder, D::Error> {
    #[derive(Deserialize, Default)]
    #[serde(rename_all = "camelCase", default)]
    struct Condition<'a> {
        #[serde(rename = "type", borrow)]
        kind: Str<'a>,
        #[serde(borrow)]
        status: Str<'a>,
        #[serde(borrow)]
        last_transition_time: Str<'a>,
    }
    let mut builder = PodBuilder::default();
    each(deserializer, |it: Condition<'_>| {
        builder.condition(&it.kind.0, &it.status.0, || time::from_text(&it.last_transition_time.0));
    })?;
    Ok(builder)
}
