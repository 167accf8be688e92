//! The recorded history: files over restarts, the page, and what failures cost.

use std::fs;
use std::path::Path;
use std::time::Duration;

use endpoint_controller_manager::{HistorySettings, Settings};
use jiff::Timestamp;
use kube_controller_client::Config;
use kube_dev_apiserver::{Authorization, FieldTracking, Transport, User};
use kube_endpoint_model::{Code, ObjectKey};
use kube_endpoints_history::timeline::{EndpointState, Entry};
use kube_endpoints_history::{Archive, Kind, Recorded, Select, Timeline};
use kube_endpoints_testing::https::{HttpsClient, Reply};
use kube_endpoints_testing::until;
use rstest::rstest;

use crate::cluster::Cluster;
use crate::process::signal;
use crate::program::Program;
use crate::serving::{ServingProcess, rbac_cluster, start};

const PAGE: &str = "/history?namespace=default&service=web";

fn web() -> ObjectKey {
    ObjectKey::new("default", "web")
}

/// Returns what `kubectl endpoints history web` shows.
fn timeline(archive: &mut Archive) -> Timeline {
    let first = archive.headers().next().map_or(Timestamp::MIN, |header| header.started);
    let mut replay = archive.replay(Select::Service(web()), first).expect("readable");
    let settings = kube_endpoints_explain::Settings::default();
    Timeline::of_service(&web(), settings, &mut replay, Timestamp::MAX).expect("readable")
}

/// Returns whether an entry is a change of the endpoint of `web-0`, written into a slice.
fn is_shown(entry: &Entry, from: EndpointState, to: EndpointState) -> bool {
    let changed = entry.endpoint.as_ref().is_some_and(|it| (it.from, it.to) == (from, to));
    changed && entry.written.is_some()
}

/// Reads the page until it shows a change.
async fn page_with(client: &HttpsClient, from: EndpointState, to: EndpointState) -> Timeline {
    let read = async || {
        let Reply { code, body, .. } = client.get(PAGE).await;
        if code == 200 { timeline(&mut Archive::from_buffers([body]).expect("a history")) } else { Timeline::default() }
    };
    until("change on the page", read, |it| it.entries.iter().any(|entry| is_shown(entry, from, to))).await
}

async fn terminate(mut process: ServingProcess) {
    signal(&process.child, "TERM").await;
    assert!(process.child.wait().await.expect("an end").success());
}

#[tokio::test]
async fn causes_and_authors_are_known_after_a_restart() {
    let config = kube_dev_apiserver::Config {
        authorization: Authorization::Rbac,
        transport: Transport::Tls,
        field_tracking: FieldTracking::Always,
        ..Default::default()
    };
    let cluster = Cluster::start_with(config).await;
    let folder = cluster.folder().join("history");
    let dir = format!("--history-dir={}", folder.display());
    cluster.web().await;
    let process = start(&cluster, &[&dir]);
    cluster.wait_for_web().await;
    let master = process.master(&cluster).await;
    until("history", || master.get(PAGE), |reply| reply.code == 200).await;
    cluster.readiness("default", "web-0", "False", "2026-01-01T00:01:00Z").await;
    page_with(&master, EndpointState::Ready, EndpointState::NotReady).await;
    terminate(process).await;

    let process = start(&cluster, &[&dir]);
    let master = process.master(&cluster).await;
    let before = |reply: &Reply| reply.code == 200;
    until("history", || master.get(PAGE), before).await;
    cluster.readiness("default", "web-0", "True", "2026-01-01T00:02:00Z").await;
    let of_page = page_with(&master, EndpointState::NotReady, EndpointState::Ready).await;
    terminate(process).await;

    let of_files = timeline(&mut Archive::open(&folder).expect("a history"));
    // The Endpoints are written after the slice, perhaps after the page was read.
    let also_on_page = &of_files.entries[..of_files.entries.len().min(of_page.entries.len())];
    assert_eq!(also_on_page, of_page.entries, "the page and the files have the same history");
    let of = |from, to| of_files.entries.iter().find(|entry| is_shown(entry, from, to)).expect("a change");
    let unready = of(EndpointState::Ready, EndpointState::NotReady);
    assert_eq!(unready.cause.object.to_string(), "Pod default/web-0");
    assert_eq!(unready.cause.reason.as_ref().map(|reason| reason.code), Some(Code::PodNotReady));
    assert_eq!(unready.cause.manager.as_deref(), Some("test"));
    assert_eq!(unready.written.as_ref().and_then(|written| written.manager.as_deref()), Some("controller-manager"));
    assert!(unready.time < of(EndpointState::NotReady, EndpointState::Ready).time);
    let between_runs = of_files.gaps.iter().filter(|gap| gap.reason.starts_with("the recorder was not running"));
    assert_eq!(between_runs.count(), 1, "{:?}", of_files.gaps);
    assert_eq!(fs::read_dir(&folder).expect("a folder").count(), 3, "two segments and the lock");
    cluster.server.shutdown().await;
}

#[tokio::test]
async fn the_page_needs_authorization_and_says_what_it_lacks() {
    let cluster = rbac_cluster().await;
    cluster.web().await;
    let process = start(&cluster, &[]);
    let master = process.master(&cluster).await;
    // In memory.
    until("history", || master.get(PAGE), |reply| reply.code == 200).await;
    let user = HttpsClient { token: Some(cluster.server.token_for(User::new("alice"))), ..process.anonymous().await };
    assert_eq!(user.get("/history").await.code, 403);
    assert_eq!(master.get("/history?namespace=default").await.code, 200);
    assert_eq!(master.get("/history").await.code, 200);
    let early = master.get("/history?until=2020-01-01T00:00:00Z").await;
    assert!(early.code == 404 && early.text.starts_with("the history has no record of that time: "), "{early:?}");
    assert_eq!(master.get("/history?pod=web-0").await.code, 400);
    terminate(process).await;
    cluster.server.shutdown().await;
}

#[tokio::test]
async fn size_zero_records_nothing() {
    let cluster = rbac_cluster().await;
    let process = start(&cluster, &["--history-max-size=0"]);
    process.until("/readyz", |reply| reply.text == "ok").await;
    assert_eq!(process.master(&cluster).await.get("/history").await.code, 404);
    cluster.server.shutdown().await;
}

#[cfg(feature = "shadow")]
#[tokio::test]
async fn shadow_mode_records_what_others_write() {
    let (authorization, transport) = (Authorization::Rbac, Transport::Tls);
    let config = kube_dev_apiserver::Config { authorization, transport, ..Default::default() };
    let cluster = Cluster::start_with(config).await;
    cluster.web().await;
    let writer = start(&cluster, &[]);
    cluster.wait_for_web().await;
    terminate(writer).await;
    let shadow = start(&cluster, &["--mode=shadow"]);
    let master = shadow.master(&cluster).await;
    until("history", || master.get(PAGE), |reply| reply.code == 200).await;
    cluster.readiness("default", "web-0", "False", "2026-01-01T00:01:00Z").await;
    // No other controller writes.
    let read = async || timeline(&mut Archive::from_buffers([master.get(PAGE).await.body]).expect("a history"));
    let is_unwritten = |entry: &Entry| entry.endpoint.is_some() && entry.written.is_none();
    until("change without a write", read, |it| it.entries.iter().any(is_unwritten)).await;
    terminate(shadow).await;
    cluster.server.shutdown().await;
}

/// Starts the program in this process, with a history in a folder.
async fn start_program(cluster: &Cluster, dir: &Path) -> Program {
    let config = Config::from_kubeconfig(&cluster.kubeconfig()).await.expect("a kubeconfig");
    let history = HistorySettings { dir: Some(dir.to_owned()), max_size: 4 << 20, max_age: Duration::from_secs(3_600) };
    Program::start(config, Settings { history: Some(history), ..Settings::default() })
}

/// Waits until the folder has a history of which the last state of `web-0` is this one.
async fn recorded(dir: &Path, ready: bool) {
    let state = async || {
        let mut archive = Archive::open(dir).ok()?;
        let replay = archive.replay(Select::All, Timestamp::MAX).ok()?;
        match replay.object(Kind::Pod, &ObjectKey::new("default", "web-0"))? {
            Recorded::Pod(pod) => Some(pod.ready),
            _ => None,
        }
    };
    until("state in the files", state, |it| *it == Some(ready)).await;
}

#[rstest]
#[case::not_there_yet(false)]
#[case::removed_later(true)]
#[tokio::test]
async fn the_recording_goes_on_once_its_folder_is_writable(#[case] begins: bool) {
    let cluster = Cluster::start().await;
    cluster.web().await;
    let parent = cluster.folder().join("volume");
    let dir = parent.join("history");
    if !begins {
        fs::write(&parent, "a file in the place of the folder").expect("a file");
    }
    let program = start_program(&cluster, &dir).await;
    cluster.wait_for_web().await;
    if begins {
        recorded(&dir, true).await;
        fs::remove_dir_all(&parent).expect("removed");
        fs::write(&parent, "a file in the place of the folder").expect("a file");
    }
    // The controllers work all the same.
    cluster.readiness("default", "web-0", "False", "2026-01-01T00:01:00Z").await;
    until("no address", || cluster.addresses(), |(endpoints, _)| endpoints.get("web") == Some(&0)).await;
    fs::remove_file(&parent).expect("removed");
    recorded(&dir, false).await;
    program.stop().await;
    cluster.server.shutdown().await;
}
