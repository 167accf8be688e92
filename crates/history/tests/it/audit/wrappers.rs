//! The forms in which clouds and agents export events.

use rstest::rstest;
use serde_json::{Value, json};

use super::log::{described, event, lines, logs, pod};

fn created() -> Value {
    event(1.0, "create", "pods/a", &json!({"responseObject": pod("a", 5, true)}))
}

const CREATED: &str = "01.000 + Pod shop/a ready on n1 10.1.0.1 by kubectl (alice)\n";

/// Returns an entry of Google Cloud Logging.
fn entry(method: &str, resource: &str, more: &Value) -> Value {
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
        let (parent, field) = pointer.rsplit_once('/').expect("a pointer");
        entry.pointer_mut(parent).expect("the parent")[field] = value.clone();
    }
    entry
}

fn google(more: &Value) -> Value {
    entry("core.v1.pods.create", "core/v1/namespaces/shop/pods/a", more)
}

#[rstest]
#[case::plain(format!("{}\n", created()))]
#[case::event_list(json!({"kind": "EventList", "apiVersion": "audit.k8s.io/v1", "metadata": {}, "items": [created()]}).to_string())]
#[case::google(google(&json!({"/protoPayload/response": pod("a", 5, true)})).to_string())]
#[case::google_status(google(&json!({"/protoPayload/response": pod("a", 5, true), "/protoPayload/status": {"code": 0}})).to_string())]
#[case::google_array(format!("{:#}", json!([google(&json!({"/protoPayload/response": pod("a", 5, true)}))])))]
#[case::amazon_export(format!("2026-11-27T14:00:01.000Z {}\n", created()))]
#[case::amazon_api(format!("{:#}", json!({"events": [{"timestamp": 1, "message": created().to_string()}], "nextToken": "t"})))]
#[case::amazon_subscription(json!({"messageType": "DATA_MESSAGE", "logGroup": "g",
    "logEvents": [{"id": "1", "timestamp": 1, "message": created().to_string()}]}).to_string())]
#[case::amazon_query(json!({"@timestamp": "t", "@message": created().to_string()}).to_string())]
#[case::amazon_parsed_query(json!({"@message": created()}).to_string())]
#[case::azure(json!({"category": "kube-audit", "time": "t", "properties": {"log": created().to_string(), "pod": "p"}}).to_string())]
#[case::azure_records(json!({"records": [{"category": "kube-audit-admin", "properties": {"log": created().to_string()}}]}).to_string())]
#[case::azure_query(json!({"Category": "kube-audit", "log_s": created().to_string()}).to_string())]
#[case::agent(json!({"log": format!("{}\n", created()), "stream": "stdout"}).to_string())]
fn wrappers(#[case] log: String) {
    let mut logs = logs([log.into_bytes()]);
    assert_eq!(described(&mut logs), CREATED);
    let summary = logs.summary();
    assert_eq!((summary.events, summary.writes, summary.foreign.count), ([0, 0, 1], 1, 0));
}

#[rstest]
#[case::failed(google(&json!({"/protoPayload/status": {"code": 7, "message": "PERMISSION_DENIED"}})))]
#[case::dry_run(google(&json!({"/labels": {"command.gke.io/dryRun": "All"}})))]
#[case::begun(google(&json!({"/operation/last": false})))]
#[case::read(entry("core.v1.pods.list", "core/v1/namespaces/shop/pods", &json!({})))]
fn entries_of_google_without_a_change(#[case] entry: Value) {
    let mut logs = logs([lines(&[entry])]);
    assert_eq!(described(&mut logs), "");
    assert_eq!(logs.summary().without_effect, 1);
}

#[test]
fn a_patch_in_an_entry_of_google_is_applied() {
    let created = google(&json!({"/protoPayload/response": pod("a", 5, true)}));
    let status = json!({"$setElementOrder/conditions": [{"type": "Ready"}], "conditions": [{"type": "Ready", "status": "False"}]});
    let patched = entry(
        "core.v1.pods.status.patch",
        "core/v1/namespaces/shop/pods/a/status",
        &json!({"/protoPayload/request": {"@type": "k8s.io/Patch", "status": status}, "/timestamp": "2026-11-27T14:00:02Z",
            "/protoPayload/authenticationInfo": {"principalEmail": "system:node:n1"}}),
    );
    let expected = format!("{CREATED}02.000 ~ Pod shop/a on n1 10.1.0.1 by kubectl (system:node:n1)\n");
    assert_eq!(described(&mut logs([lines(&[created, patched])])), expected);
}

#[rstest]
#[case::another_service(json!({"protoPayload": {"methodName": "google.container.v1.ClusterManager.GetCluster"}, "timestamp": "2026-11-27T14:00:01Z"}))]
#[case::another_category(json!({"category": "kube-scheduler", "properties": {"log": "I1127 started"}}))]
#[case::another_event(json!({"kind": "Event", "apiVersion": "v1", "message": "Started"}))]
#[case::no_time(json!({"kind": "Event", "apiVersion": "audit.k8s.io/v1", "verb": "get"}))]
#[case::wrong_types(json!({"kind": "Event", "apiVersion": "audit.k8s.io/v1", "verb": 7, "stageTimestamp": "2026-11-27T14:00:01Z"}))]
#[case::wrapped_too_often((0..9).fold(json!({}), |inner, _| json!({"log": inner})))]
#[case::number(json!({"message": 7}))]
fn other_lines(#[case] line: Value) {
    let mut logs = logs([lines(&[created(), line])]);
    assert_eq!(described(&mut logs), CREATED);
    assert_eq!(logs.summary().foreign.first, Some(("1.log".to_owned(), 2)));
}
