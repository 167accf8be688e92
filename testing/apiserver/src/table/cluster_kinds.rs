//! Table rows of Nodes, Namespaces and kinds with few columns.

use jiff::Timestamp;
use serde_json::{Value, json};

use super::{age, at, list, name, or, text};

pub(super) const NODE_COLUMNS: &str =
    "Name Status Roles Age Version Internal-IP+ External-IP+ OS-Image+ Kernel-Version+ Container-Runtime+";

const ROLE_PREFIX: &str = "node-role.kubernetes.io/";
const ROLE_LABEL: &str = "kubernetes.io/role";

pub(super) fn node(node: &Value, now: Timestamp) -> Vec<Value> {
    let address = |type_name: &str| {
        let mut addresses = list(node, "status.addresses").iter();
        let found = addresses.find(|address| text(address, "type") == type_name);
        json!(or(found.map_or("", |address| text(address, "address")), "<none>"))
    };
    let info = |field: &str| json!(or(text(node, &format!("status.nodeInfo.{field}")), "<unknown>"));
    vec![
        name(node),
        json!(node_status(node)),
        json!(roles(node)),
        age(node, now),
        json!(text(node, "status.nodeInfo.kubeletVersion")),
        address("InternalIP"),
        address("ExternalIP"),
        info("osImage"),
        info("kernelVersion"),
        info("containerRuntimeVersion"),
    ]
}

fn node_status(node: &Value) -> String {
    let ready = list(node, "status.conditions").iter().find(|condition| text(condition, "type") == "Ready");
    let mut status = match ready.map(|condition| text(condition, "status")) {
        Some("True") => "Ready",
        Some(_) => "NotReady",
        None => "Unknown",
    }
    .to_owned();
    if at(node, "spec.unschedulable") == Some(&Value::Bool(true)) {
        status.push_str(",SchedulingDisabled");
    }
    status
}

fn roles(node: &Value) -> String {
    let labels = at(node, "metadata.labels").and_then(Value::as_object).into_iter().flatten();
    let mut roles: Vec<&str> = labels
        .filter_map(|(key, value)| match key.strip_prefix(ROLE_PREFIX) {
            Some(role) => Some(role),
            None if key == ROLE_LABEL => value.as_str(),
            None => None,
        })
        .filter(|role| !role.is_empty())
        .collect();
    roles.sort_unstable();
    roles.dedup();
    or(&roles.join(","), "<none>").to_owned()
}

pub(super) fn namespace(namespace: &Value, now: Timestamp) -> Vec<Value> {
    vec![name(namespace), json!(text(namespace, "status.phase")), age(namespace, now)]
}

pub(super) fn config_map(map: &Value, now: Timestamp) -> Vec<Value> {
    let size = |field: &str| map.get(field).and_then(Value::as_object).map_or(0, serde_json::Map::len);
    vec![name(map), json!((size("data") + size("binaryData")).to_string()), age(map, now)]
}

pub(super) fn service_account(account: &Value, now: Timestamp) -> Vec<Value> {
    vec![name(account), json!(list(account, "secrets").len().to_string()), age(account, now)]
}

pub(super) fn lease(lease: &Value, now: Timestamp) -> Vec<Value> {
    vec![name(lease), json!(text(lease, "spec.holderIdentity")), age(lease, now)]
}

pub(super) fn definition(definition: &Value, _now: Timestamp) -> Vec<Value> {
    vec![name(definition), json!(text(definition, "metadata.creationTimestamp"))]
}

pub(super) fn anything(object: &Value, now: Timestamp) -> Vec<Value> {
    vec![name(object), age(object, now)]
}
