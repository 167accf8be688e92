//! Table rows of kinds with few columns.

use jiff::Timestamp;
use serde_json::{Map, Value, json};

use super::age::since;
use super::{at, count, has_condition, list, or, text};

pub(super) const NODE_COLUMNS: &str = "Name Status Roles Age Version=status.nodeInfo.kubeletVersion Internal-IP+";
pub(super) const DEPLOYMENT_COLUMNS: &str =
    "Name Ready Up-to-date=#status.updatedReplicas Available=#status.availableReplicas Age";
pub(super) const REPLICA_SET_COLUMNS: &str =
    "Name Desired#=#spec.replicas Current#=#status.replicas Ready#=#status.readyReplicas Age";

const ROLE_PREFIX: &str = "node-role.kubernetes.io/";

pub(super) fn node(node: &Value, _now: Timestamp) -> Vec<Value> {
    let mut status = if has_condition(node, "Ready") { "Ready" } else { "NotReady" }.to_owned();
    if at(node, "spec.unschedulable") == Some(&Value::Bool(true)) {
        status.push_str(",SchedulingDisabled");
    }
    let labels = at(node, "metadata.labels").and_then(Value::as_object).into_iter().flatten();
    let roles: Vec<&str> = labels.filter_map(|(key, _)| key.strip_prefix(ROLE_PREFIX)).collect();
    let internal = list(node, "status.addresses").iter().find(|address| text(address, "type") == "InternalIP");
    let address = internal.map_or("<none>", |address| text(address, "address"));
    vec![json!(status), json!(or(&roles.join(","), "<none>")), json!(address)]
}

pub(super) fn deployment(object: &Value, _now: Timestamp) -> Vec<Value> {
    vec![json!(format!("{}/{}", count(object, "status.readyReplicas"), count(object, "spec.replicas")))]
}

pub(super) fn job(object: &Value, now: Timestamp) -> Vec<Value> {
    let status = ["Complete", "Failed", "Suspended"].into_iter().find(|it| has_condition(object, it));
    let completions = format!("{}/{}", count(object, "status.succeeded"), count(object, "spec.completions"));
    let start = text(object, "status.startTime");
    let duration = if start.is_empty() { String::new() } else { since(start, now) };
    vec![json!(status.unwrap_or("Running")), json!(completions), json!(duration)]
}

pub(super) fn event(event: &Value, now: Timestamp) -> Vec<Value> {
    let last = or(text(event, "lastTimestamp"), or(text(event, "firstTimestamp"), text(event, "eventTime")));
    let object =
        format!("{}/{}", text(event, "involvedObject.kind").to_lowercase(), text(event, "involvedObject.name"));
    vec![json!(since(last, now)), json!(object), json!(text(event, "message").trim())]
}

pub(super) fn secret(object: &Value, _now: Timestamp) -> Vec<Value> {
    vec![json!(size(object, "data"))]
}

pub(super) fn config_map(map: &Value, _now: Timestamp) -> Vec<Value> {
    vec![json!((size(map, "data") + size(map, "binaryData")).to_string())]
}

fn size(object: &Value, field: &str) -> usize {
    object.get(field).and_then(Value::as_object).map_or(0, Map::len)
}
