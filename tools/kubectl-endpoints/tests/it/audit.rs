//! `record --from-audit-log`, and what the commands say about such a history.

use std::fs;
use std::path::Path;

use kube_endpoints_testing::audit;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::cluster::{Run, run};

const KUBELET: &str = "system:node:n1";

/// Runs the program in a folder, without a kubeconfig.
async fn offline(folder: &TempDir, line: &str) -> Run {
    let mut command = tokio::process::Command::new(env!("CARGO_BIN_EXE_kubectl-endpoints"));
    command.env_clear().env("HOME", "/nonexistent").current_dir(folder.path()).args(line.split(' '));
    command.stdin(std::process::Stdio::null());
    run(command).await
}

fn event(second: u64, user: &str, verb: &str, target: (&str, &str, &str), body: (&str, Value)) -> Value {
    let (resource, name, subresource) = target;
    let agent = if user == KUBELET { "kubelet/v1.36.0 (linux/amd64)" } else { "kubectl/v1.36.0 (linux/amd64)" };
    let mut event = audit::event(
        verb,
        &json!({
            "level": match body.0 { "responseObject" => "RequestResponse", "requestObject" => "Request", _ => "Metadata" },
            "user": {"username": user}, "userAgent": agent,
            "objectRef": {"resource": resource, "namespace": "shop", "name": name, "subresource": subresource},
            "stageTimestamp": format!("2026-11-27T14:00:{second:02}.000000Z"),
        }),
    );
    if resource == "endpointslices" {
        event["objectRef"]["apiGroup"] = json!("discovery.k8s.io");
    }
    if !body.0.is_empty() {
        event[body.0] = body.1;
    }
    event
}

fn ready(ready: bool) -> Value {
    json!([{"type": "Ready", "status": if ready { "True" } else { "False" }}])
}

/// Returns a ready Pod.
fn pod(number: u64) -> Value {
    let address = format!("10.1.0.{}", number + 1);
    json!({"kind": "Pod",
        "metadata": {"namespace": "shop", "name": format!("web-{number}"), "uid": format!("u{number}"),
            "resourceVersion": (number + 2).to_string(), "labels": {"app": "web"}},
        "spec": {"nodeName": "n1"}, "status": {"phase": "Running", "podIP": address, "podIPs": [{"ip": address}],
            "conditions": ready(true)}})
}

/// Writes a log in which a Service and a Pod are created, and a kubelet writes that the Pod is not ready.
fn write_log(path: &Path, more: &[Value]) {
    let service = json!({"kind": "Service", "metadata": {"namespace": "shop", "name": "web", "resourceVersion": "1"},
        "spec": {"clusterIP": "10.96.0.1", "selector": {"app": "web"}, "ipFamilies": ["IPv4"],
            "ports": [{"port": 80, "targetPort": 8080, "protocol": "TCP"}]}});
    let node = json!({"kind": "Node", "metadata": {"name": "n1", "resourceVersion": "1"}});
    let status = json!({"status": {"$setElementOrder/conditions": [], "conditions": ready(false)}});
    let log = [
        event(0, "alice", "create", ("services", "web", ""), ("responseObject", service)),
        event(0, KUBELET, "create", ("nodes", "n1", ""), ("responseObject", node)),
        event(1, "alice", "create", ("pods", "web-0", ""), ("responseObject", pod(0))),
        event(2, KUBELET, "patch", ("pods", "web-0", "status"), ("requestObject", status)),
    ];
    fs::write(path, audit::lines(&[&log, more].concat())).expect("written");
}

#[tokio::test]
async fn a_history_names_the_users() {
    let folder = tempfile::tempdir().expect("a folder");
    let more = [
        event(3, "bob", "patch", ("pods", "web-0", ""), ("", json!(null))),
        event(4, KUBELET, "patch", ("pods", "web-1", "status"), ("responseObject", pod(1))),
    ];
    write_log(&folder.path().join("audit.log"), &more);
    fs::write(folder.path().join("older.log"), "started\n").expect("written");
    let run = offline(&folder, "record --from-audit-log older.log audit.log --to day.history").await;
    assert_eq!((run.status, run.stdout.as_str()), (0, ""), "{run:?}");
    let lines: Vec<&str> = run.stderr.lines().collect();
    assert_eq!(
        lines[..3],
        [
            "Read 6 audit events (1 at level Metadata, 1 Request, 4 RequestResponse): 6 writes, 0 of other objects, 0 without an effect.",
            "warning: writes without the content of their objects: 1; the history names who wrote them",
            "warning: lines that are no audit event: 1, first line 1 of older.log",
        ]
    );
    assert!(lines[3].starts_with("Recorded 6 changes of 4 objects: ") && lines.len() == 4, "{run:?}");
    assert!(lines[3].ends_with(", from 2026-11-27T14:00:00Z to 2026-11-27T14:00:04Z."), "{run:?}");

    let run = offline(&folder, "history web -n shop --history=day.history --since=2026-11-27T14:00:01Z").await;
    let expected = "2026-11-27T14:00:02.000Z  10.1.0.1 (Pod web-0): ready -> not ready, 0 ready: EP102 not ready; Pod shop/web-0 was \
                    changed by kubelet (system:node:n1); in no slice\n\
                    2026-11-27T14:00:03.000Z  changes since 2026-11-27T14:00:02.999Z may be missing: Pod shop/web-0 was changed by \
                    kubectl (bob), and the audit log does not have its content\n\
                    2026-11-27T14:00:04.000Z  10.1.0.2 (Pod web-1): absent -> ready, 1 ready: Pod shop/web-1 was changed by kubelet \
                    (system:node:n1); in no slice\n";
    assert_eq!((run.status, run.stdout.as_str()), (0, expected), "{run:?}");
    let run = offline(&folder, "history web -n shop --history=day.history --pod=web-9 -o json").await;
    let (from, until) = ("2026-11-27T14:00:02.999Z", "2026-11-27T14:00:03Z");
    let reason = "Pod shop/web-0 was changed by kubectl (bob), and the audit log does not have its content";
    assert_eq!(run.json(), json!({"items": [], "gaps": [{"from": from, "until": until, "reason": reason}]}));

    let moment =
        |time: &str| format!("explain svc/web -n shop -o json --history=day.history --at=2026-11-27T14:00:{time}Z");
    let run = offline(&folder, &moment("01")).await;
    assert_eq!((run.json()["wouldServe"].as_u64(), run.stderr.as_str()), (Some(1), ""), "{run:?}");
    let run = offline(&folder, &moment("03")).await;
    assert_eq!(run.json()["wouldServe"], 0, "{run:?}");
    let warning = "warning: the audit log does not have what some objects contain: Pod shop/web-0 was written at 2026-11-27T14:00:03Z\n";
    assert_eq!(run.stderr, warning);
}

/// There can be more logs than a process may open.
#[cfg(unix)]
#[tokio::test]
async fn logs_are_closed_between_two_reads() {
    let folder = tempfile::tempdir().expect("a folder");
    (0..40).for_each(|number| write_log(&folder.path().join(format!("{number}.log")), &[]));
    let mut command = tokio::process::Command::new("sh");
    let line = "ulimit -n 24 && exec \"$0\" record --to=day.history --from-audit-log *.log";
    command.env_clear().current_dir(folder.path()).args(["-c", line, env!("CARGO_BIN_EXE_kubectl-endpoints")]);
    let run = run(command).await;
    assert!(run.status == 0 && run.stderr.starts_with("Read 160 audit events "), "{run:?}");
}

#[tokio::test]
async fn a_log_of_metadata_names_who_wrote_what() {
    let folder = tempfile::tempdir().expect("a folder");
    let none = || ("", json!(null));
    let log = [
        event(0, "alice", "patch", ("services", "web", ""), none()),
        event(1, "bob", "delete", ("pods", "web-0", ""), none()),
        event(2, "carol", "delete", ("pods", "db-0", ""), none()),
        event(3, "dave", "update", ("endpointslices", "web-x", ""), none()),
    ];
    fs::write(folder.path().join("audit.log"), audit::lines(&log)).expect("written");
    let run = offline(&folder, "record --to day.history --from-audit-log audit.log").await;
    assert_eq!(run.status, 0, "{run:?}");
    let run = offline(&folder, "history web -n shop --history=day.history").await;
    let named: Vec<&str> = run.stdout.lines().filter_map(|line| line.split(" may be missing: ").nth(1)).collect();
    assert_eq!(
        named,
        [
            "Service shop/web was changed by kubectl (alice), and the audit log does not have its content",
            "Pod shop/web-0 was deleted by kubectl (bob), and the audit log does not have its content",
            "EndpointSlice shop/web-x was changed by kubectl (dave), and the audit log does not have its content",
        ],
        "{run:?}"
    );
    let end = "The history ends at 2026-11-27T14:00:03Z: later changes are unknown.\n";
    assert_eq!((run.status, run.stderr.as_str()), (0, end));
}

#[tokio::test]
async fn files_without_an_event_are_an_error() {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("notes.txt"), "a\nb\n").expect("written");
    let run = offline(&folder, "record --to day.history --from-audit-log notes.txt").await;
    let expected =
        "error: there is no audit event in the files; lines that are no audit event: 2, first line 1 of notes.txt\n";
    assert_eq!((run.status, run.stderr.as_str()), (1, expected));
    assert!(!folder.path().join("day.history").exists());
    let run = offline(&folder, "record --to day.history --from-audit-log missing.log").await;
    assert!(run.status == 1 && run.stderr.starts_with("error: cannot read missing.log: "), "{run:?}");
}
