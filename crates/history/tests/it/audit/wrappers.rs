//! The forms in which clouds and agents export events.

use rstest::rstest;
use serde_json::{Value, json};

use super::log::{described, lines, logs, pod};
use super::samples::{created, entry, google, wrapped};

const CREATED: &str = "01.000 + Pod shop/a ready on n1 10.1.0.1 by kubectl (alice)\n";

#[test]
fn wrappers() {
    for (name, log) in wrapped() {
        let mut logs = logs([log.into_bytes()]);
        assert_eq!(described(&mut logs), CREATED, "{name}");
        let summary = logs.summary();
        assert_eq!((summary.events, summary.writes, summary.foreign.count), ([0, 0, 1], 1, 0), "{name}");
    }
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
