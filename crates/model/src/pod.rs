//! Pods: what the endpoint controllers read of them.

use jiff::Timestamp;
use k8s_openapi::api::core::v1 as core;
use serde::de::IgnoredAny;
use serde::{Deserialize, Deserializer};

use crate::nullable::nullable;
use crate::projection::Metadata;
use crate::{Labels, ResourceVersion, Text, Uid};

/// What the endpoint controllers read of a core/v1 Pod. Read only: never written back.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Pod {
    /// Namespace.
    pub namespace: Text,
    /// Name.
    pub name: Text,
    /// Identity.
    pub uid: Uid,
    /// Version.
    pub resource_version: ResourceVersion,
    /// Labels.
    pub labels: Labels,
    /// Whether it is being deleted.
    pub terminating: bool,
    /// `spec.hostname`; empty for none.
    pub hostname: Text,
    /// `spec.subdomain`; empty for none.
    pub subdomain: Text,
    /// `spec.nodeName`; empty while unscheduled.
    pub node_name: Text,
    /// Whether the phase is `Failed` or `Succeeded`: it will never run again.
    pub finished: bool,
    /// `status.podIP`, as it came; empty for none.
    pub pod_ip: Text,
    /// `status.podIPs`, as they came.
    pub pod_ips: Vec<Text>,
    /// Whether the first condition of type Ready is `True`.
    pub ready: bool,
    /// When that condition last changed; `None` without the condition or the time.
    pub ready_changed: Option<Timestamp>,
    /// The named ports of its containers in order, then those of its sidecars (init containers that restart always).
    pub named_ports: Vec<NamedPort>,
}

/// A port of a container that a Service may name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedPort {
    /// Name.
    pub name: Text,
    /// `TCP`, `UDP` or `SCTP`.
    pub protocol: Text,
    /// Number.
    pub port: i32,
}

const READY: &str = "Ready";
const TRUE: &str = "True";
const FINISHED_PHASES: [&str; 2] = ["Failed", "Succeeded"];
const ALWAYS: &str = "Always";

mod wire {
    //! The shape of a Pod on the wire, as far as it is read.
    use super::{Deserialize, Metadata, Text, Timestamp, nullable};

    #[derive(Deserialize, Default)]
    #[serde(default)]
    pub(super) struct Pod {
        pub(super) metadata: Metadata,
        #[serde(deserialize_with = "nullable")]
        pub(super) spec: Spec,
        #[serde(deserialize_with = "nullable")]
        pub(super) status: Status,
    }

    #[derive(Deserialize, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub(super) struct Spec {
        pub(super) hostname: Text,
        pub(super) subdomain: Text,
        pub(super) node_name: Text,
        #[serde(deserialize_with = "nullable")]
        pub(super) containers: Vec<Container>,
        #[serde(deserialize_with = "nullable")]
        pub(super) init_containers: Vec<Container>,
    }

    #[derive(Deserialize, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub(super) struct Container {
        pub(super) restart_policy: Option<Text>,
        #[serde(deserialize_with = "nullable")]
        pub(super) ports: Vec<Port>,
    }

    #[derive(Deserialize, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub(super) struct Port {
        pub(super) name: Text,
        pub(super) protocol: Text,
        #[serde(rename = "containerPort")]
        pub(super) number: i32,
    }

    #[derive(Deserialize, Default)]
    #[serde(default)]
    pub(super) struct Status {
        pub(super) phase: Text,
        #[serde(rename = "podIP")]
        pub(super) pod_ip: Text,
        #[serde(rename = "podIPs", deserialize_with = "nullable")]
        pub(super) pod_ips: Vec<PodIp>,
        #[serde(deserialize_with = "nullable")]
        pub(super) conditions: Vec<Condition>,
    }

    #[derive(Deserialize, Default)]
    #[serde(default)]
    pub(super) struct PodIp {
        pub(super) ip: Text,
    }

    #[derive(Deserialize, Default)]
    #[serde(rename_all = "camelCase", default)]
    pub(super) struct Condition {
        #[serde(rename = "type")]
        pub(super) kind: Text,
        pub(super) status: Text,
        pub(super) last_transition_time: Option<Timestamp>,
    }
}

impl From<wire::Pod> for Pod {
    fn from(it: wire::Pod) -> Self {
        let wire::Pod { metadata, spec, status } = it;
        let ready = status.conditions.iter().find(|condition| &*condition.kind == READY);
        let sidecars = spec.init_containers.into_iter().filter(|it| it.restart_policy.as_deref() == Some(ALWAYS));
        Pod {
            namespace: metadata.namespace,
            name: metadata.name,
            uid: metadata.uid,
            resource_version: metadata.resource_version,
            labels: metadata.labels,
            terminating: metadata.deletion_timestamp.is_some(),
            hostname: spec.hostname,
            subdomain: spec.subdomain,
            node_name: spec.node_name,
            finished: FINISHED_PHASES.contains(&&*status.phase),
            ready: ready.is_some_and(|condition| &*condition.status == TRUE),
            ready_changed: ready.and_then(|condition| condition.last_transition_time),
            pod_ip: status.pod_ip,
            pod_ips: status.pod_ips.into_iter().map(|it| it.ip).collect(),
            named_ports: spec
                .containers
                .into_iter()
                .chain(sidecars)
                .flat_map(|container| container.ports)
                .filter(|port| !port.name.is_empty())
                .map(|port| NamedPort { name: port.name, protocol: port.protocol, port: port.number })
                .collect(),
        }
    }
}

impl<'de> Deserialize<'de> for Pod {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        wire::Pod::deserialize(deserializer).map(Pod::from)
    }
}

impl From<&core::Pod> for Pod {
    fn from(it: &core::Pod) -> Self {
        let text = crate::metadata::text;
        let ports = |container: &core::Container| {
            container
                .ports
                .iter()
                .flatten()
                .map(|port| wire::Port {
                    name: text(port.name.as_ref()),
                    protocol: text(port.protocol.as_ref()),
                    number: port.container_port,
                })
                .collect()
        };
        let containers = |list: &[core::Container]| {
            list.iter()
                .map(|it| wire::Container {
                    restart_policy: crate::metadata::optional_text(it.restart_policy.as_ref()),
                    ports: ports(it),
                })
                .collect()
        };
        let spec = it.spec.as_ref();
        let status = it.status.as_ref();
        Pod::from(wire::Pod {
            metadata: Metadata::of(&it.metadata, IgnoredAny),
            spec: wire::Spec {
                hostname: text(spec.and_then(|it| it.hostname.as_ref())),
                subdomain: text(spec.and_then(|it| it.subdomain.as_ref())),
                node_name: text(spec.and_then(|it| it.node_name.as_ref())),
                containers: spec.map(|it| containers(&it.containers)).unwrap_or_default(),
                init_containers: spec.and_then(|it| it.init_containers.as_deref()).map(containers).unwrap_or_default(),
            },
            status: wire::Status {
                phase: text(status.and_then(|it| it.phase.as_ref())),
                pod_ip: text(status.and_then(|it| it.pod_ip.as_ref())),
                pod_ips: status
                    .and_then(|it| it.pod_ips.as_ref())
                    .into_iter()
                    .flatten()
                    .map(|it| wire::PodIp { ip: Text::from(it.ip.as_str()) })
                    .collect(),
                conditions: status
                    .and_then(|it| it.conditions.as_ref())
                    .into_iter()
                    .flatten()
                    .map(|it| wire::Condition {
                        kind: Text::from(it.type_.as_str()),
                        status: Text::from(it.status.as_str()),
                        last_transition_time: it.last_transition_time.as_ref().map(|time| time.0),
                    })
                    .collect(),
            },
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FULL: &str = r#"{
        "apiVersion": "v1", "kind": "Pod",
        "metadata": {"name": "p", "namespace": "shop", "uid": "u", "resourceVersion": "9", "labels": {"app": "web"},
            "deletionTimestamp": "2026-02-03T05:00:00Z", "creationTimestamp": null},
        "spec": {"hostname": "h", "subdomain": "s", "nodeName": "n",
            "initContainers": [
                {"name": "init", "ports": [{"name": "http", "containerPort": 1, "protocol": "TCP"}]},
                {"name": "side", "restartPolicy": "Always",
                    "ports": [{"name": "http", "containerPort": 2, "protocol": "TCP"}]}],
            "containers": [{"name": "c", "ports": [{"containerPort": 3, "protocol": "TCP"},
                {"name": "dns", "containerPort": 53, "protocol": "UDP"}]}, {"name": "bare", "ports": null}]},
        "status": {"phase": "Succeeded", "podIP": "10.0.0.1", "podIPs": [{"ip": "10.0.0.1"}, {"ip": "fd00::1"}],
            "conditions": [{"type": "Initialized", "status": "True"},
                {"type": "Ready", "status": "True", "lastProbeTime": null,
                 "lastTransitionTime": "2026-02-03T04:00:00Z"}]}
    }"#;

    #[test]
    fn reads_what_the_controllers_need() {
        let pod: Pod = serde_json::from_str(FULL).unwrap();
        assert!(pod.terminating && pod.finished && pod.ready);
        assert_eq!(pod.pod_ips.len(), 2);
        let ports: Vec<_> = pod.named_ports.iter().map(|it| (&*it.name, &*it.protocol, it.port)).collect();
        assert_eq!(ports, [("dns", "UDP", 53), ("http", "TCP", 2)], "containers first, then sidecars only");
    }

    #[test]
    fn both_ways_of_reading_agree() {
        let full: core::Pod = serde_json::from_str(FULL).unwrap();
        assert_eq!(Pod::from(&full), serde_json::from_str::<Pod>(FULL).unwrap());
    }
}
