//! `--history` and `--at`.

use std::fs;
use std::path::Path;

use jiff::{SignedDuration, Timestamp};
use kube_dev_apiserver::On;
use kube_endpoint_model::Service;
use kube_endpoints_history::{Archive, What};
use kube_endpoints_testing::LIMIT;
use rstest::rstest;
use serde_json::{Value, json};
use tokio::time::timeout;

use crate::cluster::{Cluster, Run, run};
use crate::record::{Recorder, client, flip, is_flip};
use crate::rights::{WITHOUT_NODES, rules};

/// Runs the program without a kubeconfig.
async fn offline(cluster: &Cluster, line: &str) -> Run {
    let mut command = cluster.command(line);
    command.env("KUBECONFIG", cluster.folder().join("none")).env("HOME", cluster.folder());
    run(command).await
}

fn started(path: &Path) -> Timestamp {
    Archive::open(path).expect("a history").headers().next().expect("a segment").started
}

async fn record_now(cluster: &Cluster, name: &str) {
    let path = cluster.folder().join(name);
    let line = format!("record -n shop --for 1ms --to {}", path.display());
    let run = timeout(LIMIT, cluster.run(&line)).await.expect("an end");
    assert_eq!(run.status, 0, "{run:?}");
}

fn services(findings: &Value) -> Vec<&str> {
    let objects = findings["items"].as_array().expect("a list").iter().map(|it| &it["object"]);
    objects.filter(|it| it["kind"] == "Service").filter_map(|it| it["name"].as_str()).collect()
}

#[tokio::test]
async fn each_moment_has_its_own_answer() {
    let cluster = Cluster::start().await;
    let recorder = Recorder::start(&cluster).await;
    let path = recorder.path.clone();
    let client = client(&cluster).await;
    flip(&client, "web-1", true).await;
    let ready = recorder.recorded("flip", |change| is_flip(change, "web-1", true)).await;
    flip(&client, "web-0", false).await;
    let unready = recorder.recorded("flip", |change| is_flip(change, "web-0", false)).await;
    client.delete::<Service>("shop", "typo", None).await.expect("deleted");
    let deleted = recorder.recorded("deletion", |change| matches!(change.what, What::Removed(_))).await;
    let (status, end) = recorder.stop("TERM").await;
    assert_eq!(status, 0, "{end}");
    let requests = cluster.server.requests().count(&On::any());

    let history = format!("--history {}", path.display());
    let before = ready - SignedDuration::from_micros(1);
    let moments = [
        (format!("--at {}", started(&path)), 1),
        (format!("--at {before}"), 1),
        (format!("--at {ready}"), 2),
        (format!("--at {unready}"), 1),
        (format!("--at {deleted}"), 1),
    ];
    for (at, ready) in moments {
        let run = offline(&cluster, &format!("explain svc/web -n shop -o json {history} {at}")).await;
        assert_eq!((run.status, run.stderr.as_str()), (0, ""), "{run:?}");
        assert_eq!(run.json()["wouldServe"], ready, "{at}: {run:?}");
    }
    let last = offline(&cluster, &format!("explain svc -l team=web -n shop {history}")).await;
    assert!(last.stdout.contains("✗ web-0") && last.stdout.contains("! web-1"), "{last:?}");
    assert!(!last.stdout.contains("typo"), "{last:?}");

    for (at, expect) in [(unready, true), (deleted, false)] {
        for scope in ["-n shop", "-A"] {
            let run = offline(&cluster, &format!("check {scope} -o json {history} --at {at}")).await;
            assert_eq!(run.status, 1, "{run:?}");
            assert_eq!(services(&run.json()).contains(&"typo"), expect, "{run:?}");
        }
    }
    let run = offline(&cluster, &format!("check -n shop -l team=typo -o json {history} --at {unready}")).await;
    let found = run.json();
    assert!(!services(&found).is_empty() && services(&found).iter().all(|it| *it == "typo"), "{found}");
    let run = offline(&cluster, &format!("diff -n shop {history} --at {unready}")).await;
    assert!(run.stdout.contains("+++ Endpoints shop/web") && run.status == 1, "{run:?}");
    assert_eq!(cluster.server.requests().count(&On::any()), requests, "no request to the API server");
}

#[tokio::test]
async fn the_namespace_is_that_of_the_context() {
    let cluster = Cluster::start().await;
    record_now(&cluster, "shop.history").await;
    let history = format!("--history {}", cluster.folder().join("shop.history").display());
    let kubeconfig = cluster.server.kubeconfig();
    cluster.write_kubeconfig(&kubeconfig.replace("namespace: default", "namespace: shop"));
    let run = cluster.run(&format!("explain svc/web -o name {history}")).await;
    assert_eq!((run.status, run.stdout.as_str()), (0, "service/web\n"), "{run:?}");
    let run = offline(&cluster, &format!("explain svc/web {history}")).await;
    assert_eq!((run.status, run.stderr.as_str()), (1, "error: services \"web\" not found\n"));
    let run = offline(&cluster, &format!("check {history}")).await;
    assert!(run.stderr.starts_with("error: the history has no object of namespace \"default\" at "), "{run:?}");
}

#[rstest]
#[case::before(-1)]
#[case::after(1)]
#[tokio::test]
async fn a_moment_outside_of_the_history_is_an_error(#[case] hours: i64) {
    let cluster = Cluster::start().await;
    record_now(&cluster, "shop.history").await;
    let path = cluster.folder().join("shop.history");
    let at = started(&path) + SignedDuration::from_hours(hours);
    let line = format!("explain svc/web -n shop --history {} --at {at}", path.display());
    let run = offline(&cluster, &line).await;
    assert_eq!((run.status, run.stdout.as_str()), (1, ""), "{run:?}");
    let from = started(&path).strftime("%Y-%m-%dT%H:%M:%SZ");
    assert!(run.stderr.starts_with("error: the history has no record of "), "{run:?}");
    assert!(run.stderr.contains(&format!(": it reaches from {from} to ")), "{run:?}");
    let run =
        offline(&cluster, &format!("explain svc/web -n shop -o name --history {} --at {from}", path.display())).await;
    assert_eq!((run.status, run.stdout.as_str()), (0, "service/web\n"), "as it is printed: {run:?}");
}

#[tokio::test]
async fn a_moment_between_two_recordings_is_answered_with_a_warning() {
    let cluster = Cluster::start().await;
    fs::create_dir(cluster.folder().join("runs")).unwrap();
    record_now(&cluster, "runs/1.history").await;
    let at = kube_ambient::now();
    flip(&client(&cluster).await, "web-1", true).await;
    record_now(&cluster, "runs/2.history").await;
    let line = format!("explain svc/web -n shop -o json --history {}", cluster.folder().join("runs").display());
    let run = offline(&cluster, &line).await;
    assert_eq!((run.status, run.json()["wouldServe"].as_u64()), (0, Some(2)), "{run:?}");
    let run = offline(&cluster, &format!("{line} --at {at}")).await;
    assert_eq!((run.status, run.json()["wouldServe"].as_u64()), (0, Some(1)), "{run:?}");
    assert!(run.stderr.starts_with("warning: changes between "), "{run:?}");
    assert!(run.stderr.ends_with(" may be missing: the recorder was not running, or could not write\n"), "{run:?}");
}

#[tokio::test]
async fn what_the_recorder_could_not_read_is_unknown() {
    let cluster = Cluster::with_rules(&rules(&WITHOUT_NODES)).await;
    record_now(&cluster, "shop.history").await;
    let history = format!("-n shop --history {}", cluster.folder().join("shop.history").display());
    let run = offline(&cluster, &format!("explain svc/web -o json {history}")).await;
    assert_eq!((run.status, &run.json()["unknown"]), (0, &json!(["Node"])), "{run:?}");
    assert_eq!(run.stderr, "warning: the recorder may not read Nodes\n");
    let run = offline(&cluster, &format!("check {history}")).await;
    assert!(run.stdout.contains("not fully checked: may not read Nodes") && run.status == 1, "{run:?}");
}

#[rstest]
#[case::explain("explain svc/web", 1)]
#[case::check("check", 2)]
#[case::diff("diff", 2)]
#[tokio::test]
async fn other_files_are_an_error(#[case] command: &str, #[case] status: i32) {
    let cluster = Cluster::start().await;
    let path = cluster.folder().join("kubeconfig");
    let run = offline(&cluster, &format!("{command} -n shop --history {}", path.display())).await;
    let expect = format!("error: {} is not a history file\n", path.display());
    assert_eq!((run.status, run.stdout.as_str(), run.stderr), (status, "", expect));
    let run = offline(&cluster, &format!("{command} -n shop --history {}", cluster.folder().display())).await;
    let expect = format!("error: {} has no records\n", cluster.folder().display());
    assert_eq!((run.status, run.stderr), (status, expect));
}
