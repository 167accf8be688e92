//! Logs, and what is read from them.

use std::io::Cursor;

use kube_endpoints_history::audit::{AuditChange, AuditLogs};
use kube_endpoints_history::{Action, Author, Recorded, What};
use serde_json::{Value, json};

/// Returns an event of an answered request about an object of the namespace `shop`, at 14:00 and some seconds.
pub(crate) fn event(seconds: f64, verb: &str, target: &str, more: &Value) -> Value {
    let mut words = target.split('/');
    let (resource, name, subresource) = (words.next(), words.next(), words.next());
    let resource = resource.unwrap_or_default();
    let mut event = json!({
        "kind": "Event", "apiVersion": "audit.k8s.io/v1", "level": "RequestResponse", "auditID": "a",
        "stage": "ResponseComplete", "requestURI": "/api/v1/namespaces/shop/x", "verb": verb,
        "user": {"username": "alice", "groups": ["system:authenticated"]}, "sourceIPs": ["10.0.0.1"],
        "userAgent": "kubectl/v1.36.0 (linux/amd64) kubernetes/abc",
        "objectRef": {"resource": resource, "apiVersion": "v1"},
        "responseStatus": {"metadata": {}, "code": 200},
        "requestReceivedTimestamp": format!("2026-11-27T14:00:{:09.6}Z", (seconds - 0.01_f64).max(0.0)),
        "stageTimestamp": format!("2026-11-27T14:00:{seconds:09.6}Z"),
    });
    if resource != "nodes" {
        event["objectRef"]["namespace"] = json!("shop");
    }
    if resource == "endpointslices" {
        event["objectRef"]["apiGroup"] = json!("discovery.k8s.io");
    }
    for (field, value) in [("name", name), ("subresource", subresource)] {
        if let Some(value) = value.filter(|value| !value.is_empty()) {
            event["objectRef"][field] = json!(value);
        }
    }
    for (field, value) in more.as_object().into_iter().flatten() {
        event[field] = value.clone();
    }
    event
}

/// Returns a Pod of the Node `n1` with a version.
pub(crate) fn pod(name: &str, version: u64, ready: bool) -> Value {
    let status = if ready { "True" } else { "False" };
    json!({"kind": "Pod", "apiVersion": "v1",
        "metadata": {"namespace": "shop", "name": name, "uid": format!("uid-{name}"), "resourceVersion": version.to_string(),
            "labels": {"app": "web"}},
        "spec": {"nodeName": "n1", "containers": [{"name": "main"}]},
        "status": {"phase": "Running", "podIP": "10.1.0.1", "podIPs": [{"ip": "10.1.0.1"}],
            "conditions": [{"type": "Ready", "status": status, "lastTransitionTime": "2026-11-27T13:00:00Z"}]}})
}

/// Returns a value with another field at a JSON pointer.
pub(crate) fn with(mut value: Value, pointer: &str, field: Value) -> Value {
    let (parent, name) = pointer.rsplit_once('/').expect("a pointer");
    value.pointer_mut(parent).expect("the parent")[name] = field;
    value
}

/// Returns the values as lines.
pub(crate) fn lines(values: &[Value]) -> Vec<u8> {
    values.iter().flat_map(|value| format!("{value}\n").into_bytes()).collect()
}

/// Reads files as one log.
pub(crate) fn logs(files: impl IntoIterator<Item = Vec<u8>>) -> AuditLogs {
    let mut logs = AuditLogs::new(None);
    for (number, file) in files.into_iter().enumerate() {
        logs.add(&format!("{}.log", number + 1), Cursor::new(file)).expect("readable");
    }
    logs
}

/// Returns the changes in words.
pub(crate) fn changes(log: &[Value]) -> String {
    described(&mut logs([lines(log)]))
}

pub(crate) fn described(logs: &mut AuditLogs) -> String {
    std::iter::from_fn(|| logs.next_change()).map(|change| describe(&change) + "\n").collect()
}

fn describe(change: &AuditChange) -> String {
    let time = change.seen.strftime("%S%.3f");
    let by = match &change.author {
        Some(Author { manager, user, .. }) => format!(" by {manager} ({user})"),
        None => String::new(),
    };
    let what = match &change.what {
        What::Put { before: None, after } => format!("+ {}", state(after)),
        What::Put { before: Some(_), after } => format!("~ {}", state(after)),
        What::Removed(before) => format!("- {:?} {}", before.kind(), before.key()),
        What::Gap(gap) => format!("gap: {}", gap.reason),
        What::Unknown(write) => {
            let action = match write.action {
                Action::Created => "created",
                Action::Changed => "changed",
                Action::Deleted => "deleted",
            };
            let known = if write.is_recorded { "" } else { "unknown " };
            format!("? {known}{:?} {} {action}", write.kind, write.key)
        }
    };
    format!("{time} {what}{by}")
}

fn state(object: &Recorded) -> String {
    let flag = |set: bool, name: &str| if set { format!(" {name}") } else { String::new() };
    let more = match object {
        Recorded::Pod(pod) => {
            let ips: Vec<String> = pod.pod_ips.iter().map(ToString::to_string).collect();
            [
                flag(pod.ready, "ready"),
                flag(pod.terminating, "terminating"),
                flag(pod.finished, "finished"),
                flag(!pod.node_name.is_empty(), &format!("on {}", pod.node_name)),
                flag(!ips.is_empty(), &ips.join(",")),
                flag(pod.labels.get("app") != Some("web"), &format!("{:?}", pod.labels)),
            ]
            .concat()
        }
        Recorded::Node(node) => flag(node.ready, "ready") + &flag(!node.zone.is_empty(), &node.zone),
        Recorded::EndpointSlice(slice) => format!(" {}", slice.endpoints.len()),
        Recorded::Service(service) => flag(service.terminating, "terminating"),
        Recorded::Endpoints(_) => String::new(),
    };
    format!("{:?} {}{more}", object.kind(), object.key())
}
