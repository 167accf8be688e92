//! `record`.

use std::fs;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use kube_controller_client::{Client, ClientOptions};
use kube_dev_apiserver::{Config, Fault, FieldTracking, History, On};
use kube_endpoint_model::{Pod, Service};
use kube_endpoints_history::{Archive, Change, Kind, Recorded, Select, What};
use kube_endpoints_testing::{LIMIT, until};
use rstest::rstest;
use serde_json::json;
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, BufReader};
use tokio::process::{Child, ChildStderr};
use tokio::time::timeout;

use crate::cluster::{Cluster, pod};
use crate::rights::{WITHOUT_NODES, rules};

/// A running recorder, whose first lists are in its file.
pub(crate) struct Recorder {
    child: Child,
    stderr: BufReader<ChildStderr>,
    /// What it has printed until it began.
    pub(crate) beginning: String,
    pub(crate) path: PathBuf,
}

impl Recorder {
    /// Starts `record` of the namespace `shop` into a file of the cluster's folder.
    pub(crate) async fn start(cluster: &Cluster) -> Recorder {
        Recorder::start_in(cluster, "-n shop", "namespace shop").await
    }

    /// Starts `record` of a scope, which it prints with these words.
    pub(crate) async fn start_in(cluster: &Cluster, scope: &str, printed: &str) -> Recorder {
        let path = cluster.folder().join("shop.history");
        let mut child =
            cluster.command(&format!("record {scope} --to {}", path.display())).spawn().expect("the program starts");
        let mut stderr = BufReader::new(child.stderr.take().expect("piped"));
        let mut beginning = String::new();
        while !beginning.contains(&format!("Recording {printed}")) {
            let read = timeout(LIMIT, stderr.read_line(&mut beginning)).await.expect("a line").expect("readable");
            assert_ne!(read, 0, "the program has ended: {beginning}");
        }
        Recorder { child, stderr, beginning, path }
    }

    /// Waits until the file has a change that `accept` accepts, and returns its time.
    pub(crate) async fn recorded(&self, what: &str, accept: impl Fn(&Change) -> bool) -> Timestamp {
        let observe = async || changes(&self.path).into_iter().find(&accept);
        until(what, observe, Option::is_some).await.expect("found").seen
    }

    /// Ends the program with a signal. Returns its exit status, and what it has printed since the beginning.
    pub(crate) async fn stop(mut self, signal: &str) -> (i32, String) {
        let id = self.child.id().expect("running").to_string();
        let sent = tokio::process::Command::new("kill").args(["-s", signal, &id]).status().await.expect("kill");
        assert!(sent.success());
        let mut end = String::new();
        timeout(LIMIT, self.stderr.read_to_string(&mut end)).await.expect("an end").expect("readable");
        (self.child.wait().await.expect("an exit status").code().expect("no signal"), end)
    }
}

fn changes(path: &Path) -> Vec<Change> {
    let mut archive = Archive::open(path).expect("a history");
    let mut replay = archive.replay(Select::All, Timestamp::MIN).expect("readable");
    std::iter::from_fn(|| replay.next_change().expect("readable")).collect()
}

/// Returns whether a change makes a Pod ready, or not ready.
pub(crate) fn is_flip(change: &Change, name: &str, ready: bool) -> bool {
    matches!(&change.what, What::Put { after: Recorded::Pod(pod), .. } if &*pod.name == name && pod.ready == ready)
}

pub(crate) async fn client(cluster: &Cluster) -> Client {
    let config = kube_controller_client::Config::from_kubeconfig(&cluster.kubeconfig()).await.expect("a kubeconfig");
    let user_agent = "prober/1.0".to_owned();
    Client::new(&config, ClientOptions { user_agent, ..ClientOptions::default() }).expect("a client")
}

pub(crate) async fn flip(client: &Client, name: &str, ready: bool) {
    let status = if ready { "True" } else { "False" };
    let condition = json!({"type": "Ready", "status": status, "lastTransitionTime": "2026-01-01T00:01:00Z"});
    let patch = json!({"status": {"conditions": [condition]}});
    client.merge_patch::<Pod>("shop", name, Some("status"), &patch).await.expect("patched");
}

#[rstest]
#[case::terminated("TERM")]
#[case::interrupted("INT")]
#[tokio::test]
async fn changes_are_recorded_until_a_signal(#[case] signal: &str) {
    let config = Config { field_tracking: FieldTracking::Always, ..Config::default() };
    let cluster = Cluster::start_with(config, []).await;
    let recorder = Recorder::start(&cluster).await;
    let path = recorder.path.clone();
    let client = client(&cluster).await;
    flip(&client, "web-1", true).await;
    recorder.recorded("flip", |change| is_flip(change, "web-1", true)).await;
    let own = pod("own", "10.0.0.9", true).to_string().into_bytes();
    let (pods, media_type) = ("/api/v1/namespaces/shop/pods", Some("application/json"));
    let created = client.raw("POST".parse().expect("a method"), pods, media_type, own).await.expect("an answer");
    assert_eq!(created.0, 201);
    let is_own = |change: &Change| is_flip(change, "own", false);
    recorder.recorded("creation", is_own).await;
    client.delete::<Service>("shop", "typo", None).await.expect("deleted");
    let (status, end) = recorder.stop(signal).await;
    assert_eq!(status, 0, "{end}");
    // Two Services, three Pods and a Node; the deletion may come after the signal.
    let is_summary = ["Recorded 2 changes of 6 objects: ", "Recorded 3 changes of 6 objects: "];
    assert!(is_summary.iter().any(|it| end.starts_with(it)) && end.lines().count() == 1, "{end}");

    let changes = changes(&path);
    let flip = changes.iter().find(|change| is_flip(change, "web-1", true)).expect("recorded");
    assert!(matches!(&flip.what, What::Put { before: Some(Recorded::Pod(before)), .. } if !before.ready));
    let author =
        changes.iter().find(|change| is_own(change)).and_then(|change| change.author.clone()).expect("an author");
    assert_eq!((&*author.manager, author.time.is_some()), ("prober", true));
}

#[tokio::test]
async fn a_recording_ends_after_its_time() {
    let cluster = Cluster::start().await;
    let path = cluster.folder().join("all.history");
    let run =
        timeout(LIMIT, cluster.run(&format!("record -A --for 10ms --to {}", path.display()))).await.expect("an end");
    assert_eq!((run.status, run.stdout.as_str()), (0, ""), "{run:?}");
    let lines: Vec<&str> = run.stderr.lines().collect();
    assert_eq!(lines[0], format!("Recording all namespaces to {}; Ctrl-C ends it.", path.display()));
    assert!(lines[1].starts_with("Recorded 0 changes of 5 objects: ") && lines.len() == 2, "{run:?}");
    let archive = Archive::open(&path).unwrap();
    let header = archive.headers().next().unwrap();
    assert_eq!((header.unknown.as_slice(), header.continues), ([].as_slice(), None));
    assert!(header.recorder.starts_with("kubectl-endpoints/"), "{header:?}");
}

#[tokio::test]
async fn existing_files_are_kept() {
    let cluster = Cluster::start().await;
    let path = cluster.folder().join("mine");
    fs::write(&path, "mine").unwrap();
    let run = cluster.run(&format!("record -n shop --to {}", path.display())).await;
    assert_eq!((run.status, fs::read_to_string(&path).unwrap().as_str()), (1, "mine"), "{run:?}");
    assert!(run.stderr.starts_with(&format!("error: {} exists: choose another name", path.display())), "{run:?}");
    assert_eq!(cluster.server.requests().count(&On::any().verb("list")), 0);
}

#[tokio::test]
async fn a_state_beyond_the_limit_is_an_error() {
    let cluster = Cluster::start().await;
    let path = cluster.folder().join("shop.history");
    let run = cluster.run(&format!("record -n shop --max-size 64 --to {}", path.display())).await;
    assert_eq!((run.status, path.exists()), (1, false), "{run:?}");
    assert!(
        run.stderr.starts_with(&format!("error: cannot write {}: the present state takes ", path.display())),
        "{run:?}"
    );
}

#[tokio::test]
async fn a_kind_without_rights_is_unknown() {
    let cluster = Cluster::with_rules(&rules(&WITHOUT_NODES)).await;
    let recorder = Recorder::start(&cluster).await;
    let beginning: Vec<&str> = recorder.beginning.lines().collect();
    assert!(beginning[0].starts_with("warning: may not list nodes: ") && beginning.len() == 2, "{beginning:?}");
    let unknown = Archive::open(&recorder.path).unwrap().headers().next().unwrap().unknown.clone();
    assert_eq!(unknown, [Kind::Node]);
}

#[tokio::test]
async fn no_rights_at_all_are_an_error() {
    let cluster = Cluster::with_rules(&rules(&[])).await;
    let path = cluster.folder().join("shop.history");
    let run = cluster.run(&format!("record -n shop --to {}", path.display())).await;
    assert_eq!((run.status, path.exists()), (1, false), "{run:?}");
    assert!(run.stderr.ends_with("error: nothing can be recorded\n"), "{run:?}");
}

#[tokio::test]
async fn a_lost_connection_is_a_gap_and_the_recording_goes_on() {
    let cluster = Cluster::start().await;
    let recorder = Recorder::start(&cluster).await;
    let client = client(&cluster).await;
    // The watch does not come back until the server no longer has the changes.
    let pods = On::any().user_agent("kubectl-endpoints").resource("pods");
    let fault = cluster.server.faults().inject(Fault::reset().on(pods.clone()));
    until("open watch", async || cluster.server.faults().cut_watches(&pods), |cut| *cut == 1).await;
    flip(&client, "web-1", true).await;
    cluster.server.load([pod("web-2", "10.0.0.3", true)]).expect("valid");
    cluster.server.restart(History::Lost);
    cluster.server.faults().remove(fault);
    recorder.recorded("flip", |change| is_flip(change, "web-1", true)).await;
    let relisted = recorder.recorded("new Pod", |change| is_flip(change, "web-2", true)).await;
    let gap = |change: &Change| match &change.what {
        What::Gap(gap) => gap.reason.starts_with("pods were listed again: ").then_some(gap.since),
        _ => None,
    };
    let at = recorder.recorded("gap", |change| gap(change).is_some()).await;
    assert!(at <= relisted, "the gap comes before the changes that were missed");
    let changes_until_now = changes(&recorder.path);
    let since = changes_until_now.iter().find_map(gap).unwrap();
    assert!(since < at, "{changes_until_now:#?}");
    flip(&client, "web-0", false).await;
    recorder.recorded("later flip", |change| is_flip(change, "web-0", false)).await;
    let path = recorder.path.clone();
    let (status, end) = recorder.stop("TERM").await;
    assert_eq!(status, 0, "{end}");
    assert_eq!(changes(&path).iter().filter_map(gap).count(), 1, "one gap for one list");
}
