//! Pods, reduced to the fields that the endpoint controllers read.

mod json;
mod named_port;
mod protobuf;

use std::sync::Arc;

use jiff::Timestamp;

pub use named_port::NamedPort;

use crate::address::parse_sloppy;
use crate::projection::Metadata;
use crate::{Addresses, CompactTime, IpFamily, Labels, ResourceVersion, Text, Uid, intern};

/// A core/v1 Pod, reduced to what the endpoint controllers read. Never written back.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
#[expect(clippy::struct_excessive_bools, reason = "independent properties")]
pub struct Pod {
    /// `metadata.namespace`.
    pub namespace: Text,
    /// `metadata.name`.
    pub name: Text,
    /// `metadata.uid`.
    pub uid: Uid,
    /// `metadata.resourceVersion`.
    pub resource_version: ResourceVersion,
    /// `metadata.labels`.
    pub labels: Labels,
    /// `spec.hostname`; empty if absent.
    pub hostname: Text,
    /// `spec.subdomain`; empty if absent.
    pub subdomain: Text,
    /// `spec.nodeName`; empty until the Pod is scheduled.
    pub node_name: Text,
    /// `status.podIPs`, as received.
    pub pod_ips: Addresses,
    /// Family of `status.podIP`; `None` if it is empty. As in Go, text that is not an IP address counts as IPv4.
    pub pod_ip_family: Option<IpFamily>,
    /// Named ports of the containers in order, then those of the sidecars (init containers with restart policy
    /// `Always`).
    pub named_ports: Arc<[NamedPort]>,
    /// Last transition time of the first condition of type Ready; `None` without the condition or the time, and for a
    /// time that [`Timestamp`] cannot represent.
    pub ready_changed: Option<CompactTime>,
    /// Whether the first condition of type Ready is `True` (PD-2).
    pub ready: bool,
    /// Whether the Pod has a deletion timestamp.
    pub terminating: bool,
    /// Whether the phase is `Failed` or `Succeeded`, which are final.
    pub finished: bool,
    /// Whether older Kubernetes versions exclude the Pod because of its phase and restart policy (HI-2): `Never` and
    /// finished, or `OnFailure` and `Succeeded`.
    pub excluded_by_restart_policy: bool,
}

// With the counters of an `Arc`, 160 bytes, which is a size class of the allocator. Large clusters have a million Pods.
const _: () = assert!(size_of::<Pod>() <= 144);

/// Partially decoded Pod, common to all encodings.
#[derive(Default)]
pub(crate) struct PodBuilder {
    metadata: Metadata,
    pod: Pod,
    succeeded: bool,
    restart_policy: Text,
    ready_seen: bool,
    container_ports: Vec<NamedPort>,
    sidecar_ports: Vec<NamedPort>,
}

impl PodBuilder {
    fn phase(&mut self, phase: &str) {
        self.succeeded = phase == "Succeeded";
        self.pod.finished = self.succeeded || phase == "Failed";
    }

    fn pod_ip(&mut self, text: &str) {
        let family = || parse_sloppy(text).map_or(IpFamily::V4, IpFamily::of);
        self.pod.pod_ip_family = (!text.is_empty()).then(family);
    }

    fn condition(&mut self, kind: &str, status: &str, changed: impl FnOnce() -> Option<Timestamp>) {
        if kind == "Ready" && !self.ready_seen {
            self.ready_seen = true;
            self.pod.ready = status == "True";
            self.pod.ready_changed = changed().map(CompactTime::from);
        }
    }
}

impl From<PodBuilder> for Pod {
    fn from(builder: PodBuilder) -> Self {
        let PodBuilder { metadata, mut pod, succeeded, restart_policy, container_ports: mut ports, .. } = builder;
        pod.terminating = metadata.deletion_timestamp.is_some();
        (pod.namespace, pod.name, pod.labels) = (metadata.namespace, metadata.name, metadata.labels);
        (pod.uid, pod.resource_version) = (metadata.uid, metadata.resource_version);
        pod.excluded_by_restart_policy = match &*restart_policy {
            "Never" => pod.finished,
            "OnFailure" => succeeded,
            _ => false,
        };
        ports.extend(builder.sidecar_ports);
        pod.named_ports = intern::ports(&ports);
        pod
    }
}

/// Returns whether an init container with this restart policy is a sidecar.
fn is_sidecar(restart_policy: &str) -> bool {
    restart_policy == "Always"
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    const FULL: &str = r#"{
        "apiVersion": "v1", "kind": "Pod",
        "metadata": {"name": "p", "namespace": "shop", "uid": "u", "resourceVersion": "9", "labels": {"app": "web"},
            "deletionTimestamp": "2026-02-03T05:00:00Z", "creationTimestamp": null},
        "spec": {"hostname": "h", "subdomain": "s", "nodeName": "n", "restartPolicy": "OnFailure",
            "initContainers": [
                {"name": "init", "ports": [{"name": "http", "containerPort": 1, "protocol": "TCP"}]},
                {"name": "side", "restartPolicy": "Always",
                    "ports": [{"name": "http", "containerPort": 2, "protocol": "TCP"}]}],
            "containers": [{"name": "c", "ports": [{"containerPort": 3, "protocol": "TCP"},
                {"name": "dns", "containerPort": 53, "protocol": "UDP"}]}, {"name": "bare", "ports": null}]},
        "status": {"phase": "Succeeded", "podIP": "10.0.0.1", "podIPs": [{"ip": "10.0.0.1"}, {"ip": "fd00::1"}],
            "conditions": [{"type": "Initialized", "status": "True"},
                {"type": "Ready", "status": "True", "lastProbeTime": null,
                 "lastTransitionTime": "2026-02-03T04:00:00Z"},
                {"type": "Ready", "status": "False"}]}
    }"#;

    #[test]
    fn decodes_the_kept_fields() {
        let pod: Pod = serde_json::from_str(FULL).unwrap();
        assert!(
            pod.terminating
                && pod.finished
                && pod.excluded_by_restart_policy
                && pod.ready
                && pod.ready_changed.is_some()
        );
        assert_eq!((pod.pod_ips.len(), pod.pod_ip_family), (2, Some(IpFamily::V4)));
        let ports: Vec<_> = pod.named_ports.iter().map(|it| (&*it.name, &*it.protocol, it.port)).collect();
        assert_eq!(ports, [("dns", "UDP", 53), ("http", "TCP", 2)], "containers first, then sidecars only");
    }

    // upstream: the phases and restart policies of TestShouldPodBeInEndpoints
    #[rstest]
    #[case("Always", "Succeeded", true, false)]
    #[case("Always", "Failed", true, false)]
    #[case("OnFailure", "Succeeded", true, true)]
    #[case("OnFailure", "Failed", true, false)]
    #[case("Never", "Succeeded", true, true)]
    #[case("Never", "Failed", true, true)]
    #[case("Never", "Running", false, false)]
    #[case("Never", "Pending", false, false)]
    #[case("OnFailure", "Running", false, false)]
    #[case("OnFailure", "Unknown", false, false)]
    fn phases_and_restart_policies(
        #[case] policy: &str,
        #[case] phase: &str,
        #[case] finished: bool,
        #[case] excluded_by_restart_policy: bool,
    ) {
        let json = format!(r#"{{"spec": {{"restartPolicy": "{policy}"}}, "status": {{"phase": "{phase}"}}}}"#);
        let pod: Pod = serde_json::from_str(&json).unwrap();
        assert_eq!((pod.finished, pod.excluded_by_restart_policy), (finished, excluded_by_restart_policy));
    }

    #[test]
    fn null_fields_are_defaults() {
        let json = r#"{"metadata": {"name": "p", "namespace": null, "uid": null, "labels": null},
            "spec": {"hostname": null, "containers": null}, "status": {"podIP": null, "podIPs": null, "phase": null,
                "conditions": [{"type": "Ready", "status": null, "lastTransitionTime": null}]}}"#;
        let expected = Pod { name: "p".into(), ..Pod::default() };
        assert_eq!(serde_json::from_str::<Pod>(json).unwrap(), expected);
    }
}
