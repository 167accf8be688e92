//! Table rows of Pods, as upstream's `printPod` for Pods without init containers.

use jiff::Timestamp;
use serde_json::{Value, json};

use super::{at, has_condition, list, or, text};

pub(super) const COLUMNS: &str = "Name Ready Status Restarts Age IP+ Node+=spec.nodeName? \
                                  Nominated_Node+=status.nominatedNodeName? Readiness_Gates+";

pub(super) fn cells(pod: &Value, _now: Timestamp) -> Vec<Value> {
    let statuses = list(pod, "status.containerStatuses");
    let ready = statuses.iter().filter(|status| at(status, "ready") == Some(&Value::Bool(true))).count();
    let restarts: i64 = statuses.iter().filter_map(|status| at(status, "restartCount")?.as_i64()).sum();
    let ip = list(pod, "status.podIPs").first().map_or_else(|| text(pod, "status.podIP"), |ip| text(ip, "ip"));
    let gates = list(pod, "spec.readinessGates");
    let passed = gates.iter().filter(|gate| has_condition(pod, text(gate, "conditionType"))).count();
    let gates = if gates.is_empty() { "<none>".to_owned() } else { format!("{passed}/{}", gates.len()) };
    vec![
        json!(format!("{ready}/{}", list(pod, "spec.containers").len())),
        json!(status(pod, statuses)),
        json!(restarts.to_string()),
        json!(or(ip, "<none>")),
        json!(gates),
    ]
}

fn status<'a>(pod: &'a Value, statuses: &'a [Value]) -> &'a str {
    let phase = text(pod, "status.phase");
    if !text(pod, "metadata.deletionTimestamp").is_empty() && !matches!(phase, "Succeeded" | "Failed") {
        return "Terminating";
    }
    let of_container = |status| {
        let waiting = text(status, "state.waiting.reason");
        or(waiting, text(status, "state.terminated.reason"))
    };
    let reason = statuses.iter().map(of_container).find(|reason| !reason.is_empty());
    reason.unwrap_or(or(text(pod, "status.reason"), phase))
}
