//! Table rows of kinds with few columns.

use jiff::Timestamp;
use serde_json::{Map, Value, json};

use super::{age, at, has_condition, list, name, or, text};

pub(super) const NODE_COLUMNS: &str = "Name Status Roles Age Version Internal-IP+";

const ROLE_PREFIX: &str = "node-role.kubernetes.io/";

pub(super) fn node(node: &Value, now: Timestamp) -> Vec<Value> {
    let mut status = if has_condition(node, "Ready") { "Ready" } else { "NotReady" }.to_owned();
    if at(node, "spec.unschedulable") == Some(&Value::Bool(true)) {
        status.push_str(",SchedulingDisabled");
    }
    let labels = at(node, "metadata.labels").and_then(Value::as_object).into_iter().flatten();
    let roles: Vec<&str> = labels.filter_map(|(key, _)| key.strip_prefix(ROLE_PREFIX)).collect();
    let internal = list(node, "status.addresses").iter().find(|address| text(address, "type") == "InternalIP");
    vec![
        name(node),
        json!(status),
        json!(or(&roles.join(","), "<none>")),
        age(node, now),
        json!(text(node, "status.nodeInfo.kubeletVersion")),
        json!(internal.map_or("<none>", |address| text(address, "address"))),
    ]
}

pub(super) fn deployment(object: &Value, now: Timestamp) -> Vec<Value> {
    vec![
        name(object),
        json!(format!("{}/{}", count(object, "status.readyReplicas"), count(object, "spec.replicas"))),
        json!(count(object, "status.updatedReplicas")),
        json!(count(object, "status.availableReplicas")),
        age(object, now),
    ]
}

pub(super) fn replica_set(object: &Value, now: Timestamp) -> Vec<Value> {
    let counts = ["spec.replicas", "status.replicas", "status.readyReplicas"].map(|path| json!(count(object, path)));
    std::iter::once(name(object)).chain(counts).chain([age(object, now)]).collect()
}

pub(super) fn job(object: &Value, now: Timestamp) -> Vec<Value> {
    let status = ["Complete", "Failed", "Suspended"].into_iter().find(|it| has_condition(object, it));
    let completions = format!("{}/{}", count(object, "status.succeeded"), count(object, "spec.completions"));
    let start = text(object, "status.startTime");
    let duration = if start.is_empty() { String::new() } else { super::age::since(start, now) };
    vec![name(object), json!(status.unwrap_or("Running")), json!(completions), json!(duration), age(object, now)]
}

pub(super) fn event(event: &Value, now: Timestamp) -> Vec<Value> {
    let last = or(text(event, "lastTimestamp"), or(text(event, "firstTimestamp"), text(event, "eventTime")));
    let object =
        format!("{}/{}", text(event, "involvedObject.kind").to_lowercase(), text(event, "involvedObject.name"));
    vec![
        json!(super::age::since(last, now)),
        json!(text(event, "type")),
        json!(text(event, "reason")),
        json!(object),
        json!(text(event, "message").trim()),
    ]
}

pub(super) fn secret(object: &Value, now: Timestamp) -> Vec<Value> {
    vec![name(object), json!(text(object, "type")), json!(size(object, "data")), age(object, now)]
}

pub(super) fn namespace(namespace: &Value, now: Timestamp) -> Vec<Value> {
    vec![name(namespace), json!(text(namespace, "status.phase")), age(namespace, now)]
}

pub(super) fn config_map(map: &Value, now: Timestamp) -> Vec<Value> {
    vec![name(map), json!((size(map, "data") + size(map, "binaryData")).to_string()), age(map, now)]
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

fn count(object: &Value, path: &str) -> i64 {
    at(object, path).and_then(Value::as_i64).unwrap_or_default()
}

fn size(object: &Value, field: &str) -> usize {
    object.get(field).and_then(Value::as_object).map_or(0, Map::len)
}
