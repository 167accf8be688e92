//! Constructors of the user's requests and of the objects in them.

use std::time::Duration;

use serde_json::{Value, json};

use crate::{Operation, Step};

pub(super) fn create(path: impl Into<String>, object: Value) -> Operation {
    Operation::Create { path: path.into(), object }
}

pub(super) fn patch(path: impl Into<String>, patch: Value) -> Operation {
    Operation::Patch { path: path.into(), patch }
}

/// Returns a DELETE with the default grace period of the kind.
pub(super) fn delete(path: impl Into<String>) -> Operation {
    Operation::Delete { path: path.into(), options: json!({}) }
}

pub(super) fn delete_pod(path: impl Into<String>, grace: u32) -> Operation {
    Operation::Delete { path: path.into(), options: json!({ "gracePeriodSeconds": grace }) }
}

pub(super) fn step(after: Duration, operation: Operation) -> Step {
    Step { after, operation }
}

/// Returns the path of a collection of the core group.
pub(super) fn core(namespace: &str, resource: &str) -> String {
    format!("/api/v1/namespaces/{namespace}/{resource}")
}

/// Returns a Pod on a Node. `http` is the number of its port named `http`; `None` for a Pod without ports.
pub(super) fn pod(name: &str, node: &str, labels: &Value, http: Option<u16>) -> Value {
    let ports = http.map_or_else(|| json!([]), |number| json!([{ "name": "http", "containerPort": number }]));
    json!({
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": { "name": name, "labels": labels },
        "spec": {
            "nodeName": node,
            "containers": [{ "name": "main", "image": "registry.example/app:1", "ports": ports }],
        },
    })
}

/// Returns the patch of a Pod's status that makes it ready or not. The transition time is `at` seconds after the start
/// of 2026-01-01, modulo one day.
pub(super) fn readiness(ready: bool, at: usize) -> Value {
    let status = if ready { "True" } else { "False" };
    let time = format!("2026-01-01T{:02}:{:02}:{:02}Z", at / 3_600 % 24, at / 60 % 60, at % 60);
    json!({ "status": { "conditions": [{ "type": "Ready", "status": status, "lastTransitionTime": time }] } })
}

/// Returns the patch of a Pod's status that sets phase, addresses and readiness. For `at`, see [`readiness`].
pub(super) fn running(phase: &str, ips: &[String], ready: bool, at: usize) -> Value {
    let mut patch = readiness(ready, at);
    let status = &mut patch["status"];
    status["phase"] = phase.into();
    status["podIP"] = ips.first().map_or(Value::Null, |ip| ip.as_str().into());
    status["podIPs"] = ips.iter().map(|ip| json!({ "ip": ip })).collect();
    patch
}

pub(super) fn service(name: &str, selector: &Value, ports: &Value) -> Value {
    json!({
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": { "name": name },
        "spec": { "selector": selector, "ports": ports },
    })
}

/// Returns a ready Node, without a zone if `zone` is `None`.
pub(super) fn node(name: &str, zone: Option<&str>) -> Value {
    let labels = zone.map_or_else(|| json!({}), |zone| json!({ super::object::ZONE: zone }));
    json!({
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": { "name": name, "labels": labels },
        "status": {
            "allocatable": { "cpu": "4" },
            "conditions": [{ "type": "Ready", "status": "True" }],
        },
    })
}
