//! `explain --watch`.

use kube_controller_client::{Client, ClientOptions, Config};
use kube_dev_apiserver::{Fault, On};
use kube_endpoint_model::{Pod, Service};
use kube_endpoints_testing::{LIMIT, eventually};
use serde_json::{Value, json};
use tokio::{
    io::{AsyncBufReadExt as _, AsyncReadExt as _, BufReader, Lines},
    process::{Child, ChildStdout},
    time::timeout,
};

use crate::cluster::{Cluster, pod};

/// A running program, and its reports.
struct Watch {
    child: Child,
    lines: Lines<BufReader<ChildStdout>>,
}

impl Watch {
    fn start(cluster: &Cluster, line: &str) -> Watch {
        let mut child = cluster.command(line).spawn().expect("the program starts");
        let lines = BufReader::new(child.stdout.take().expect("piped")).lines();
        Watch { child, lines }
    }

    /// Returns the next report. Fails if none is printed.
    async fn next(&mut self) -> Value {
        let report = async {
            let mut text = String::new();
            while let Some(line) = self.lines.next_line().await.expect("readable") {
                text.push_str(&line);
                if line == "}" {
                    return serde_json::from_str(&text).expect("JSON");
                }
            }
            panic!("the program has ended: {text}");
        };
        timeout(LIMIT, report).await.expect("a report")
    }
}

/// Makes the Pod `web-1` ready, which changes the report of `svc/web`.
async fn make_ready(cluster: &Cluster) {
    set_ready(cluster, "web-1", "True").await;
}

async fn set_ready(cluster: &Cluster, pod: &str, ready: &str) {
    let ready = json!({"status": {"conditions": [
        {"type": "Ready", "status": ready, "lastTransitionTime": "2026-01-01T00:01:00Z"}]}});
    let client = client(cluster).await;
    client.merge_patch::<Pod>("shop", pod, Some("status"), &ready).await.expect("patched");
}

async fn client(cluster: &Cluster) -> Client {
    let config = Config::from_kubeconfig(&cluster.kubeconfig()).await.expect("a kubeconfig");
    Client::new(&config, ClientOptions::default()).expect("a client")
}

/// Waits until the program watches Pods and all other kinds.
async fn watching(cluster: &Cluster, watches: usize) {
    let on = On::any().user_agent("kubectl-endpoints");
    eventually("open watches", &watches, async || cluster.server.faults().open_watches(&on)).await;
}

#[tokio::test]
async fn report_is_printed_again_after_a_change() {
    let cluster = Cluster::start().await;
    let mut watch = Watch::start(&cluster, "explain svc/web -n shop -o json --watch");
    assert_eq!(watch.next().await["wouldServe"], 1);
    watching(&cluster, 5).await;

    // This changes nothing in the report.
    let label = json!({"metadata": {"annotations": {"a": "b"}}});
    let client = client(&cluster).await;
    client.merge_patch::<Service>("shop", "web", None, &label).await.expect("patched");
    make_ready(&cluster).await;
    assert_eq!(watch.next().await["wouldServe"], 2);
    cluster.server.shutdown().await;
}

/// As while an API server restarts. The report needs the complete Pod, which the watches do not deliver.
#[tokio::test]
async fn a_failed_request_is_tried_again() {
    let cluster = Cluster::start().await;
    let mut watch = Watch::start(&cluster, "explain svc/web -n shop -o json --watch");
    assert_eq!(watch.next().await["wouldServe"], 1);
    watching(&cluster, 5).await;

    let gets = On::any().verb("get").resource("pods");
    cluster.server.faults().inject(Fault::reject(500).on(gets).times(2));
    let waiting = json!({"status": {"containerStatuses": [{"name": "main", "ready": false, "restartCount": 3, "image": "", "imageID": "",
        "state": {"waiting": {"reason": "CrashLoopBackOff"}}}]}});
    client(&cluster).await.merge_patch::<Pod>("shop", "web-1", Some("status"), &waiting).await.expect("patched");
    let report = watch.next().await.to_string();
    assert!(report.contains("CrashLoopBackOff"), "{report}");
    assert!(cluster.server.faults().unspent().is_empty());
    let Watch { mut child, .. } = watch;
    let mut stderr = child.stderr.take().expect("piped");
    child.kill().await.expect("killed");
    let mut text = String::new();
    stderr.read_to_string(&mut text).await.expect("readable");
    assert_eq!(text.matches("warning: get pods").count(), 1, "{text}");
    cluster.server.shutdown().await;
}

#[tokio::test]
async fn a_report_does_not_wait_for_details() {
    let cluster = Cluster::start().await;
    let mut watch = Watch::start(&cluster, "explain svc/web -n shop -o json --watch");
    assert_eq!(watch.next().await["wouldServe"], 1);
    watching(&cluster, 5).await;
    let gets = On::any().verb("get").resource("pods");
    cluster.server.faults().inject(Fault::reject(500).on(gets));
    set_ready(&cluster, "web-0", "False").await;
    assert_eq!(watch.next().await["wouldServe"], 0);
    cluster.server.shutdown().await;
}

#[tokio::test]
async fn watch_ends_at_the_next_report_after_its_reader() {
    let cluster = Cluster::start().await;
    let mut watch = Watch::start(&cluster, "explain svc/web -n shop -o json --watch");
    watch.next().await;
    watching(&cluster, 5).await;
    let Watch { mut child, lines } = watch;
    drop(lines);
    make_ready(&cluster).await;
    let status = timeout(LIMIT, child.wait()).await.expect("an end").expect("a status");
    assert!(status.success(), "{status}");
    cluster.server.shutdown().await;
}

#[tokio::test]
async fn only_the_objects_of_a_pod_are_watched() {
    let cluster = Cluster::start().await;
    let mut watch = Watch::start(&cluster, "explain po/web-0 -n shop -o json -w");
    assert_eq!(watch.next().await["object"]["name"], "web-0");
    // Services, the Pod, its Node and slices.
    watching(&cluster, 4).await;
    let others = On::any().verb("watch").resource("endpoints");
    assert_eq!(cluster.server.requests().count(&others), 0);
    cluster.server.shutdown().await;
}

/// A Pod of a StatefulSet keeps its name when it is created again.
#[tokio::test]
async fn pod_that_moves_is_explained_with_its_new_node() {
    let cluster = Cluster::start().await;
    let labels = json!({"topology.kubernetes.io/zone": "b"});
    let node = json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n2", "labels": labels}});
    let pod_on = |node: &str| {
        let mut pod = pod("db-0", "10.0.0.9", true);
        pod["spec"]["nodeName"] = json!(node);
        pod["spec"]["terminationGracePeriodSeconds"] = json!(0);
        pod
    };
    cluster.server.load([node, pod_on("n1")]).expect("valid objects");
    let mut watch = Watch::start(&cluster, "explain po/db-0 -n shop -o json -w");
    let own = |report: Value| report["services"][0]["pod"].clone();
    assert_eq!(own(watch.next().await)["node"], "n1");
    watching(&cluster, 4).await;

    client(&cluster).await.delete::<Pod>("shop", "db-0", None).await.expect("deleted");
    cluster.server.load([pod_on("n2")]).expect("a valid Pod");
    let report = own(watch.next().await);
    let seen = ["node", "state", "zone"].map(|field| report[field].as_str().unwrap_or_default());
    assert_eq!(seen, ["n2", "serving", "b"], "{report:#}");
    cluster.server.shutdown().await;
}

#[tokio::test]
async fn missing_object_ends_the_program_at_once() {
    let cluster = Cluster::start().await;
    let run = timeout(LIMIT, cluster.run("explain svc/nope -n shop -w")).await.expect("an end");
    assert_eq!((run.status, run.stderr.as_str()), (1, "error: services \"nope\" not found\n"));
}
