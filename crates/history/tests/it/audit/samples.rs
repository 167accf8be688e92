//! Samples of logs: events, and the forms in which they are exported. They are seeds of the fuzz target `audit`, too.

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

/// Returns the event of a Pod that is created.
pub(crate) fn created() -> Value {
    event(1.0, "create", "pods/a", &json!({"responseObject": pod("a", 5, true)}))
}

/// Returns an entry of Google Cloud Logging.
pub(crate) fn entry(method: &str, resource: &str, more: &Value) -> Value {
    let mut entry = json!({
        "insertId": "i", "logName": "projects/p/logs/cloudaudit.googleapis.com%2Factivity", "labels": {},
        "operation": {"first": true, "last": true, "id": "i", "producer": "k8s.io"},
        "protoPayload": {
            "@type": "type.googleapis.com/google.cloud.audit.AuditLog", "serviceName": "k8s.io",
            "authenticationInfo": {"principalEmail": "alice"},
            "methodName": format!("io.k8s.{method}"), "resourceName": resource,
            "requestMetadata": {"callerIp": "10.0.0.1", "callerSuppliedUserAgent": "kubectl/v1.36.0 (linux/amd64)"},
            "status": {}},
        "resource": {"type": "k8s_cluster", "labels": {}}, "timestamp": "2026-11-27T14:00:01Z",
    });
    for (pointer, value) in more.as_object().into_iter().flatten() {
        entry = with(entry, pointer, value.clone());
    }
    entry
}

/// Returns an entry about a Pod that is created.
pub(crate) fn google(more: &Value) -> Value {
    entry("core.v1.pods.create", "core/v1/namespaces/shop/pods/a", more)
}

/// Returns the event of [`created`] in each form, with its name.
pub(crate) fn wrapped() -> Vec<(&'static str, String)> {
    let answered = || google(&json!({"/protoPayload/response": pod("a", 5, true)}));
    let with_status =
        google(&json!({"/protoPayload/response": pod("a", 5, true), "/protoPayload/status": {"code": 0}}));
    let text = || created().to_string();
    vec![
        ("plain", format!("{}\n", created())),
        (
            "event_list",
            json!({"kind": "EventList", "apiVersion": "audit.k8s.io/v1", "metadata": {}, "items": [created()]})
                .to_string(),
        ),
        ("google", answered().to_string()),
        ("google_status", with_status.to_string()),
        ("google_array", format!("{:#}", json!([answered()]))),
        ("amazon_export", format!("2026-11-27T14:00:01.000Z {}\n", created())),
        ("amazon_api", format!("{:#}", json!({"events": [{"timestamp": 1, "message": text()}], "nextToken": "t"}))),
        (
            "amazon_subscription",
            json!({"messageType": "DATA_MESSAGE", "logGroup": "g",
    "logEvents": [{"id": "1", "timestamp": 1, "message": text()}]})
            .to_string(),
        ),
        ("amazon_query", json!({"@timestamp": "t", "@message": text()}).to_string()),
        ("amazon_parsed_query", json!({"@message": created()}).to_string()),
        (
            "azure",
            json!({"category": "kube-audit", "time": "t", "properties": {"log": text(), "pod": "p"}}).to_string(),
        ),
        (
            "azure_records",
            json!({"records": [{"category": "kube-audit-admin", "properties": {"log": text()}}]}).to_string(),
        ),
        ("azure_query", json!({"Category": "kube-audit", "log_s": text()}).to_string()),
        ("agent", json!({"log": format!("{}\n", created()), "stream": "stdout"}).to_string()),
    ]
}

/// Returns all logs, with their names.
pub(crate) fn all() -> Vec<(&'static str, Vec<u8>)> {
    let wrapped = wrapped().into_iter().map(|(name, log)| (name, log.into_bytes()));
    wrapped.chain([("requests", requests())]).collect()
}

/// Returns a log with requests of all levels, and what they are about.
fn requests() -> Vec<u8> {
    let level = |level: &str, body: &str, object: Value| {
        let mut more = json!({"level": level});
        more[body] = object;
        more
    };
    let status = json!({"$setElementOrder/conditions": [{"type": "Ready"}], "conditions": [{"type": "Ready", "status": "False"}]});
    let labels = json!({"metadata": {"labels": {"app": null, "version": "2"}}});
    let service = json!({"kind": "Service", "apiVersion": "v1", "spec": {"selector": {"app": "web"}},
        "metadata": {"namespace": "shop", "name": "web", "resourceVersion": "3",
            "managedFields": [{"manager": "helm", "time": "2026-11-27T14:00:00Z"}]}});
    let slice = json!({"kind": "EndpointSlice", "apiVersion": "discovery.k8s.io/v1", "addressType": "IPv4",
        "metadata": {"namespace": "shop", "name": "web-x", "labels": {"kubernetes.io/service-name": "web"}},
        "endpoints": [{"addresses": ["10.1.0.1"], "conditions": {"ready": true}}], "ports": [{"port": 8080}]});
    let node = json!({"kind": "Node", "metadata": {"name": "n1", "resourceVersion": "4"}});
    let deleted = with(pod("b", 9, true), "/metadata/deletionTimestamp", json!("2026-11-27T14:00:30Z"));
    lines(&[
        created(),
        event(2.0, "create", "services/web", &json!({"responseObject": service})),
        event(3.0, "create", "endpointslices/web-x", &level("Request", "requestObject", slice)),
        event(4.0, "create", "nodes/n1", &json!({"responseObject": node})),
        event(5.0, "patch", "pods/a/status", &level("Request", "requestObject", json!({"status": status}))),
        event(6.0, "patch", "pods/a", &level("Request", "requestObject", labels)),
        event(7.0, "update", "pods/a", &level("Metadata", "annotations", json!({}))),
        event(8.0, "delete", "pods/b", &json!({"responseObject": deleted})),
        event(
            9.0,
            "deletecollection",
            "pods",
            &json!({"responseObject": {"kind": "PodList", "items": [pod("a", 11, true)]}}),
        ),
        event(10.0, "create", "pods/a/eviction", &level("Request", "requestObject", json!({"kind": "Eviction"}))),
    ])
}
