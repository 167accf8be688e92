//! `history`: the changes of a recorded Service.

use std::path::Path;
use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};
use kube_endpoint_model::{EndpointSlice, Node, Pod, Service};
use kube_endpoints_history::{Author, Encoder, Recorded};
use kube_endpoints_testing::shop;
use rstest::rstest;
use serde_json::{Value, json};

use crate::cluster::{Run, run};

/// Runs the program on a machine without a kubeconfig.
pub(crate) async fn offline(args: &[&str]) -> Run {
    let mut command = tokio::process::Command::new(env!("CARGO_BIN_EXE_kubectl-endpoints"));
    command.env_clear().env("HOME", "/nonexistent").args(args).stdin(std::process::Stdio::null());
    run(command).await
}

pub(crate) fn decoded<T: serde::de::DeserializeOwned>(object: Value) -> Arc<T> {
    Arc::new(serde_json::from_value(object).expect("an object"))
}

/// The Pod `web-1`.
pub(crate) fn pod(ready: bool) -> Arc<Pod> {
    decoded(shop::pod("web", 1, ready))
}

pub(crate) fn slice(ready: bool) -> Arc<EndpointSlice> {
    decoded(shop::slice("web", &[shop::endpoint("web", 1, [ready, ready, false])]))
}

/// Writes an hour in which a Pod ceases to be ready at 14:02.
pub(crate) fn record(path: &Path) {
    record_changes(
        path,
        [(120_000, "kubelet", pod(false).into()), (120_012, "kube-controller-manager", slice(false).into())],
    );
}

/// Writes an hour with one ready Pod, and changes after 14:00: their milliseconds, field managers and objects.
pub(crate) fn record_changes(path: &Path, changes: impl IntoIterator<Item = (i64, &'static str, Recorded)>) {
    let at = |text: &str| text.parse::<Timestamp>().expect("a time");
    let author = |manager: &str| Author { manager: manager.into(), ..Author::default() };
    let (mut encoder, mut file) = (Encoder::new("test", []).expect("memory"), Vec::new());
    let start = at("2026-11-27T14:00:00Z");
    encoder.put(start, None, decoded::<Node>(shop::node()));
    encoder.put(start, None, decoded::<Service>(shop::service("web")));
    encoder.put(start, None, pod(true));
    encoder.put(start, None, slice(true));
    encoder.begin_segment(start, &mut file).expect("memory");
    for (after, manager, object) in changes {
        encoder.put(start + SignedDuration::from_millis(after), Some(&author(manager)), object);
    }
    encoder.mark_time(start + SignedDuration::from_hours(1), &mut file).expect("memory");
    encoder.end_segment(&mut file).expect("memory");
    std::fs::write(path, file).expect("the file");
}

pub(crate) const FLIP: &str = "2026-11-27T14:02:00.000Z  10.1.0.1 (Pod web-1): ready -> not ready, 0 ready: EP102 not ready; Pod shop/web-1 \
                    was changed by kubelet; EndpointSlice shop/web-x was written by kube-controller-manager 12 ms later\n";

pub(crate) const END: &str = "The history ends at 2026-11-27T15:00:00Z: later changes are unknown.\n";

#[rstest]
#[case::whole(&["web"], FLIP, END, 0)]
#[case::of_the_pod(&["web", "--pod=web-1"], FLIP, END, 0)]
#[case::of_another_pod(
    &["web", "--pod=web-2"], "", "No change of Pod web-2 as an endpoint of shop/web from 2026-11-27T14:00:00Z to 2026-11-27T15:00:00Z.\n", 0
)]
#[case::until_after_a_change(&["web", "--until=2026-11-27T14:03:00Z"], FLIP, "", 0)]
#[case::until_the_end(&["web", "--until=2026-11-27T15:01:00Z"], FLIP, "", 0)]
#[case::until_after_the_end(&["web", "--until=2026-11-27T15:01:01Z"], FLIP, END, 0)]
#[case::since(
    &["web", "--since=2026-11-27T14:03:00Z"], "", "No change of the endpoints of shop/web from 2026-11-27T14:03:00Z to 2026-11-27T15:00:00Z.\n", 0
)]
#[case::until(
    &["web", "--until=2026-11-27T14:01:00Z"], "", "No change of the endpoints of shop/web from 2026-11-27T14:00:00Z to 2026-11-27T14:01:00Z.\n", 0
)]
#[case::of_another_service(
    &["api"], "", "error: the history has no Service shop/api between 2026-11-27T14:00:00Z and its end\n", 1
)]
#[case::since_after_the_end(&["web", "--since=2026-11-27T15:00:01Z"], "", "error: the history has no record of 2026-11-27T15:00:01Z: {REACHES}\n", 1)]
#[case::summary_after_the_end(
    &["--summary", "--since=2026-11-27T15:00:01Z"], "", "error: the history has no record of 2026-11-27T15:00:01Z: {REACHES}\n", 1
)]
#[case::until_before_the_beginning(
    &["web", "--until=2026-11-27T13:59:59Z"], "", "error: the history has no record of 2026-11-27T13:59:59Z: {REACHES}\n", 1
)]
#[case::reversed(
    &["web", "--since=2026-11-27T14:02:00Z", "--until=2026-11-27T14:01:00Z"], "", "error: --since is later than --until\n", 1
)]
#[tokio::test]
async fn changes_are_explained(#[case] args: &[&str], #[case] stdout: &str, #[case] stderr: &str, #[case] status: i32) {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("day.history");
    record(&file);
    let history = format!("--history={}", file.display());
    let output = offline(&[&["history", "-n", "shop", history.as_str()], args].concat()).await;
    let stderr = stderr.replace("{REACHES}", "it reaches from 2026-11-27T14:00:00Z to 2026-11-27T15:00:00Z");
    assert_eq!((output.stdout.as_str(), output.stderr, output.status), (stdout, stderr, status));
}

#[tokio::test]
async fn json_has_the_cause() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("day.history");
    record(&file);
    let history = format!("--history={}", file.display());
    let output = offline(&["history", "-n", "shop", &history, "web", "-o", "json"]).await;
    let document: Value = serde_json::from_str(&output.stdout).expect("JSON");
    let expected = json!({"items": [{
        "time": "2026-11-27T14:02:00Z",
        "endpoint": {"address": "10.1.0.1", "pod": "web-1", "from": "ready", "to": "notReady"},
        "cause": {"object": {"kind": "Pod", "namespace": "shop", "name": "web-1"}, "action": "changed", "code": "EP102", "message": "not ready",
            "ended": false, "manager": "kubelet"},
        "ready": 0,
        "written": {"object": {"kind": "EndpointSlice", "namespace": "shop", "name": "web-x"},
            "manager": "kube-controller-manager", "afterMilliseconds": 12},
    }], "gaps": []});
    assert_eq!(document, expected);
}

/// What precedes the damage is known, and the rest is missing.
#[tokio::test]
async fn damage_in_the_last_segment_is_a_gap() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("day.history");
    record(&file);
    let mut bytes = std::fs::read(&file).expect("the file");
    let frames: Vec<usize> = (0..bytes.len()).filter(|at| bytes[*at..].starts_with(b"\x50\x2a\x4d\x18")).collect();
    // Header, state, changes, and the time of the end.
    bytes[frames[3] - 1] ^= 1;
    std::fs::write(&file, bytes).expect("the file");
    let history = format!("--history={}", file.display());
    let problem = format!("{} is damaged at offset {}: ", file.display(), frames[2]);
    let output = offline(&["history", "-n", "shop", &history, "web"]).await;
    let gap = format!("2026-11-27T15:00:00.000Z  changes since 2026-11-27T14:00:00.000Z may be missing: {problem}");
    assert!(output.status == 0 && output.stdout.starts_with(&gap), "{output:?}");
    let output = offline(&["explain", "-n", "shop", &history, "svc/web"]).await;
    let gap =
        format!("warning: changes between 2026-11-27T14:00:00Z and 2026-11-27T15:00:00Z may be missing: {problem}");
    assert!(output.status == 0 && output.stderr.starts_with(&gap), "{output:?}");
}

#[tokio::test]
async fn a_file_must_be_named() {
    let output = offline(&["history", "web"]).await;
    assert_eq!(output.status, 2);
    assert!(output.stderr.contains("--history or --url names it"), "{}", output.stderr);
}
