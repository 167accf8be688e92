//! Compares rows with the output of kubectl for the same objects on a real cluster.

use rstest::rstest;

use super::*;
use crate::kinds::KindTable;

const NOW: Timestamp = Timestamp::constant(1_800_000_000, 0);

#[track_caller]
fn row(plural: &str, object: &Value) -> String {
    let kinds = KindTable::builtin();
    let kind = kinds.all().iter().find(|kind| kind.plural == plural).unwrap();
    let printer = Printer::of(kind);
    let cells = printer.cells(object, NOW);
    assert_eq!(cells.len(), printer.columns.len(), "one cell per column");
    cells
        .iter()
        .map(|cell| cell.as_str().map_or_else(|| cell.to_string(), str::to_owned))
        .collect::<Vec<_>>()
        .join(" | ")
}

#[rstest]
#[case::service("services", json!({
    "metadata": {"name": "web", "creationTimestamp": "2027-01-15T07:55:00Z"},
    "spec": {"type": "NodePort", "clusterIPs": ["10.96.0.9"], "selector": {"app": "web", "b": "c"},
        "ports": [{"port": 80, "protocol": "TCP", "nodePort": 30080}, {"port": 53, "protocol": "UDP"}]}
}), "web | NodePort | 10.96.0.9 | <none> | 80:30080/TCP,53/UDP | 5m | app=web,b=c")]
#[case::load_balancer("services", json!({
    "metadata": {"name": "lb"},
    "spec": {"type": "LoadBalancer", "clusterIPs": ["None"]}
}), "lb | LoadBalancer | None | <pending> | <none> | <unknown> | <none>")]
#[case::external("services", json!({
    "metadata": {"name": "ext"}, "spec": {"type": "ExternalName", "externalName": "example.com"}
}), "ext | ExternalName | <none> | example.com | <none> | <unknown> | <none>")]
#[case::endpoints("endpoints", json!({
    "metadata": {"name": "web"},
    "subsets": [{"addresses": [{"ip": "10.1.0.1"}, {"ip": "fd00::1"}], "ports": [{"port": 80}, {"port": 443}]}]
}), "web | 10.1.0.1:80,[fd00::1]:80,10.1.0.1:443 + 1 more... | <unknown>")]
#[case::no_endpoints("endpoints", json!({"metadata": {"name": "web"}}), "web | <none> | <unknown>")]
#[case::slice("endpointslices", json!({
    "metadata": {"name": "web-1"}, "addressType": "IPv4", "ports": [{"name": "a", "port": 80}, {"name": "any"}, {}],
    "endpoints": [{"addresses": ["10.1.0.1"]}, {"addresses": ["10.1.0.2"]}]
}), "web-1 | IPv4 | 80,any,* | 10.1.0.1,10.1.0.2 | <unknown>")]
#[case::slice_of_all_ports("endpointslices", json!({
    "metadata": {"name": "web-1"}, "addressType": "IPv4", "ports": [{"name": "", "protocol": "TCP"}],
    "endpoints": [{"addresses": ["10.1.0.1"]}]
}), "web-1 | IPv4 |  | 10.1.0.1 | <unknown>")]
#[case::empty_slice("endpointslices", json!({"metadata": {"name": "web-1"}, "addressType": "IPv6", "endpoints": null}),
    "web-1 | IPv6 | <unset> | <unset> | <unknown>")]
#[case::node("nodes", json!({
    "metadata": {"name": "n", "labels": {"node-role.kubernetes.io/worker": "", "node-role.kubernetes.io/edge": ""}},
    "spec": {"unschedulable": true},
    "status": {"conditions": [{"type": "Ready", "status": "True"}], "nodeInfo": {"kubeletVersion": "v1.36.2", "osImage": "Linux"},
        "addresses": [{"type": "InternalIP", "address": "192.0.2.1"}]}
}), "n | Ready,SchedulingDisabled | edge,worker | <unknown> | v1.36.2 | 192.0.2.1 | <none> | Linux | <unknown> | <unknown>")]
#[case::event("events", json!({
    "metadata": {"name": "e"}, "type": "Warning", "reason": "Failed", "message": "no ",
    "involvedObject": {"kind": "Pod", "name": "p"}, "source": {"component": "c", "host": "n"},
    "firstTimestamp": "2027-01-15T07:50:00Z", "lastTimestamp": "2027-01-15T07:59:30Z", "count": 4
}), "30s (x4 over 10m) | Warning | Failed | pod/p |  | c, n | no | 10m | 4 | e")]
#[case::secret("secrets", json!({"metadata": {"name": "s"}, "type": "Opaque", "data": {"a": ""}}), "s | Opaque | 1 | <unknown>")]
#[case::deployment("deployments", json!({
    "metadata": {"name": "web"},
    "spec": {"replicas": 3, "selector": {"matchLabels": {"app": "web"}, "matchExpressions": [{"key": "a", "operator": "Exists"}]},
        "template": {"spec": {"containers": [{"name": "a", "image": "a:1"}, {"name": "b", "image": "b:2"}]}}},
    "status": {"replicas": 4, "readyReplicas": 2, "updatedReplicas": 1, "availableReplicas": 2}
}), "web | 2/3 | 1 | 2 | <unknown> | a,b | a:1,b:2 | a,app=web")]
#[case::replica_set("replicasets", json!({
    "metadata": {"name": "web-1"}, "spec": {"replicas": 3}, "status": {"replicas": 2, "readyReplicas": 1}
}), "web-1 | 3 | 2 | 1 | <unknown> |  |  | <none>")]
#[case::running_job("jobs", json!({
    "metadata": {"name": "j"}, "spec": {"parallelism": 2},
    "status": {"startTime": "2027-01-15T07:59:30Z"}
}), "j | Running | 0/1 of 2 | 30s | <unknown> |  |  | <none>")]
#[case::complete_job("jobs", json!({
    "metadata": {"name": "j"}, "spec": {"parallelism": 1, "completions": 2},
    "status": {"startTime": "2027-01-15T07:50:00Z", "completionTime": "2027-01-15T07:52:00Z", "succeeded": 2,
        "conditions": [{"type": "Complete", "status": "True"}]}
}), "j | Complete | 2/2 | 2m | <unknown> |  |  | <none>")]
#[case::suspended_job("jobs", json!({
    "metadata": {"name": "j"}, "spec": {}, "status": {"conditions": [{"type": "Suspended", "status": "True"}]}
}), "j | Suspended | 0/1 |  | <unknown> |  |  | <none>")]
#[case::config_map("configmaps", json!({"metadata": {"name": "c"}, "data": {"a": "", "b": ""}}), "c | 2 | <unknown>")]
fn rows(#[case] plural: &str, #[case] object: Value, #[case] expect: &str) {
    assert_eq!(row(plural, &object), expect);
}

#[rstest]
#[case::pending(json!({}), json!({"phase": "Pending"}), "0/1 | Pending | 0")]
#[case::running(json!({}), json!({"phase": "Running", "containerStatuses": [
    {"name": "a", "ready": true, "restartCount": 2, "state": {"running": {}},
     "lastState": {"terminated": {"finishedAt": "2027-01-15T07:00:00Z"}}}
]}), "1/1 | Running | 2 (60m ago)")]
#[case::crashing(json!({}), json!({"phase": "Running", "containerStatuses": [
    {"name": "a", "restartCount": 1, "state": {"waiting": {"reason": "CrashLoopBackOff"}}}
]}), "0/1 | CrashLoopBackOff | 1")]
#[case::evicted(json!({}), json!({"phase": "Failed", "reason": "Evicted"}), "0/1 | Evicted | 0")]
#[case::ended(json!({}), json!({"phase": "Failed", "containerStatuses": [
    {"name": "a", "state": {"terminated": {"exitCode": 3}}}
]}), "0/1 | ExitCode:3 | 0")]
#[case::initializing(json!({"initContainers": [{"name": "i"}, {"name": "j"}]}),
    json!({"phase": "Pending", "initContainerStatuses": [
        {"name": "i", "state": {"terminated": {"exitCode": 0}}}, {"name": "j", "state": {"waiting": {"reason": "PodInitializing"}}}
    ]}), "0/1 | Init:1/2 | 0")]
#[case::sidecar(json!({"initContainers": [{"name": "s", "restartPolicy": "Always"}]}),
    json!({"phase": "Running",
        "initContainerStatuses": [{"name": "s", "ready": true, "started": true, "state": {"running": {}}}],
        "containerStatuses": [{"name": "a", "ready": true, "state": {"running": {}}}]}), "2/2 | Running | 0")]
#[case::gated(json!({}), json!({"phase": "Pending", "conditions": [{"type": "PodScheduled", "reason": "SchedulingGated"}]}),
    "0/1 | SchedulingGated | 0")]
fn pods(#[case] spec: Value, #[case] status: Value, #[case] expect: &str) {
    let mut pod = json!({"metadata": {"name": "p"}, "spec": spec, "status": status});
    pod["spec"]["containers"] = json!([{"name": "a"}]);
    assert_eq!(row("pods", &pod), format!("p | {expect} | <unknown> | <none> | <none> | <none> | <none>"));
    pod["metadata"]["deletionTimestamp"] = json!("2027-01-15T08:00:00Z");
    let terminating = row("pods", &pod).contains("Terminating");
    assert_eq!(terminating, !matches!(text(&pod, "status.phase"), "Failed"));
}
