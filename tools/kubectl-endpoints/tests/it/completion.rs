//! Completion of names in the cluster, as kubectl requests it.

use kube_dev_apiserver::{Fault, On};
use rstest::rstest;

use crate::cluster::Cluster;

const SCRIPT: &str = include_str!("../../completion/kubectl_complete-endpoints");

#[rstest]
#[case::services("__complete -n shop explain svc ", "typo\nweb\n:4\n")]
#[case::slash("__complete explain -n shop svc/w", "svc/web\n:4\n")]
#[case::pods("__complete --namespace=shop explain po/", "po/web-0\npo/web-1\n:4\n")]
#[case::namespace("__complete check -n sh", "shop\n:4\n")]
#[case::namespace_without_services("__complete -n quiet explain svc/", ":4\n")]
#[tokio::test]
async fn names_are_completed(#[case] line: &str, #[case] expect: &str) {
    let run = Cluster::start().await.run(line).await;
    assert_eq!((run.status, run.stdout.as_str(), run.stderr.as_str()), (0, expect, ""));
}

#[rstest]
#[case::rejected("__complete -n shop explain svc/")]
#[case::no_such_context("__complete --context=prod explain svc/")]
#[tokio::test]
async fn failed_request_completes_nothing(#[case] line: &str) {
    let cluster = Cluster::start().await;
    cluster.server.faults().inject(Fault::reject(500).on(On::any()));
    let run = cluster.run(line).await;
    assert_eq!((run.status, run.stdout.as_str()), (0, ":4\n"));
}

#[tokio::test]
async fn words_need_no_server() {
    let cluster = Cluster::start().await;
    let run = cluster.run("__complete explain --wa").await;
    assert!(run.stdout.starts_with("--watch\t") && run.stdout.ends_with("\n:4\n"), "{run:?}");
    assert_eq!(cluster.server.requests().all(), []);
}

#[test]
fn script_passes_all_words() {
    assert_eq!(SCRIPT, "#!/usr/bin/env sh\nkubectl endpoints __complete \"$@\"\n");
}
