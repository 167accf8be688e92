//! Pods: what the endpoint controllers read of them.

mod full;
mod json;
mod protobuf;

use std::sync::Arc;

use jiff::Timestamp;

use crate::address::parse_sloppy;
use crate::projection::Metadata;
use crate::{Addresses, IpFamily, Labels, ResourceVersion, Text, Uid, intern};

/// What the endpoint controllers read of a core/v1 Pod. Read only: never written back.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
#[expect(clippy::struct_excessive_bools, reason = "they are independent of each other")]
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
    /// `spec.hostname`; empty for none.
    pub hostname: Text,
    /// `spec.subdomain`; empty for none.
    pub subdomain: Text,
    /// `spec.nodeName`; empty while unscheduled.
    pub node_name: Text,
    /// `status.podIPs`, as they came.
    pub pod_ips: Addresses,
    /// The family of `status.podIP`, `None` where that is empty. Text that is no address counts as IPv4, as in Go.
    pub pod_ip_family: Option<IpFamily>,
    /// The named ports of its containers in order, then those of its sidecars (init containers that restart always).
    pub named_ports: Arc<[NamedPort]>,
    /// When the first condition of type Ready last changed; `None` without the condition or the time, and for a time that
    /// [`Timestamp`] cannot represent.
    pub ready_changed: Option<Timestamp>,
    /// Whether that condition is `True`.
    pub ready: bool,
    /// Whether it is being deleted.
    pub terminating: bool,
    /// Whether the phase is `Failed` or `Succeeded`: it will never run again.
    pub finished: bool,
    /// Whether it has left by the older rule, which minds its restart policy (HI-2): `Never` and finished, or `OnFailure`
    /// and `Succeeded`.
    pub retired: bool,
}

// There are 150,000 of these in a large cluster.
const _: () = assert!(size_of::<Pod>() <= 168);

/// A port of a container that a Service may name.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct NamedPort {
    /// Name.
    pub name: Text,
    /// `TCP`, `UDP` or `SCTP`.
    pub protocol: Text,
    /// Number.
    pub port: i32,
}

/// A Pod while it is read, from wherever it comes.
#[derive(Default)]
struct Draft {
    pod: Pod,
    succeeded: bool,
    restarts: Restarts,
    ready_seen: bool,
    of_containers: Vec<NamedPort>,
    of_sidecars: Vec<NamedPort>,
}

impl Draft {
    fn metadata(&mut self, it: Metadata) {
        let pod = &mut self.pod;
        pod.terminating = it.deletion_timestamp.is_some();
        (pod.namespace, pod.name, pod.labels) = (it.namespace, it.name, it.labels);
        (pod.uid, pod.resource_version) = (it.uid, it.resource_version);
    }

    fn phase(&mut self, phase: &str) {
        self.succeeded = phase == "Succeeded";
        self.pod.finished = self.succeeded || phase == "Failed";
    }

    fn restart_policy(&mut self, policy: &str) {
        self.restarts = match policy {
            "Never" => Restarts::Never,
            "OnFailure" => Restarts::OnFailure,
            _ => Restarts::Always,
        };
    }

    fn pod_ip(&mut self, text: &str) {
        let family = || parse_sloppy(text).map_or(IpFamily::V4, IpFamily::of);
        self.pod.pod_ip_family = (!text.is_empty()).then(family);
    }

    fn condition(&mut self, kind: &str, status: &str, changed: impl FnOnce() -> Option<Timestamp>) {
        if kind == "Ready" && !self.ready_seen {
            self.ready_seen = true;
            self.pod.ready = status == "True";
            self.pod.ready_changed = changed();
        }
    }

    fn finish(self) -> Pod {
        let Draft { mut pod, succeeded, restarts, ready_seen: _, of_containers: mut ports, of_sidecars } = self;
        pod.retired = match restarts {
            Restarts::Always => false,
            Restarts::OnFailure => succeeded,
            Restarts::Never => pod.finished,
        };
        ports.extend(of_sidecars);
        pod.named_ports = intern::ports(&ports);
        pod
    }
}

/// When the containers of a Pod are started again.
#[derive(Default)]
enum Restarts {
    #[default]
    Always,
    OnFailure,
    Never,
}

/// Whether an init container of this restart policy is a sidecar.
fn is_sidecar(restart_policy: &str) -> bool {
    restart_policy == "Always"
}

#[cfg(test)]
mod tests {
    use super::*;
    use k8s_openapi::api::core::v1 as core;
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
    fn reads_what_the_controllers_need() {
        let pod: Pod = serde_json::from_str(FULL).unwrap();
        assert!(pod.terminating && pod.finished && pod.retired && pod.ready && pod.ready_changed.is_some());
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
    fn leaves(#[case] policy: &str, #[case] phase: &str, #[case] finished: bool, #[case] retired: bool) {
        let json = format!(r#"{{"spec": {{"restartPolicy": "{policy}"}}, "status": {{"phase": "{phase}"}}}}"#);
        let pod: Pod = serde_json::from_str(&json).unwrap();
        assert_eq!((pod.finished, pod.retired), (finished, retired));
    }

    #[test]
    fn both_ways_of_reading_agree() {
        let full: core::Pod = serde_json::from_str(FULL).unwrap();
        assert_eq!(Pod::from(&full), serde_json::from_str::<Pod>(FULL).unwrap());
    }

    #[test]
    fn nothing_but_null_reads_as_nothing() {
        let json = r#"{"metadata": {"name": "p", "namespace": null, "uid": null, "labels": null},
            "spec": {"hostname": null, "containers": null}, "status": {"podIP": null, "podIPs": null, "phase": null,
                "conditions": [{"type": "Ready", "status": null, "lastTransitionTime": null}]}}"#;
        let expected = Pod { name: "p".into(), ..Pod::default() };
        assert_eq!(serde_json::from_str::<Pod>(json).unwrap(), expected);
    }
}
