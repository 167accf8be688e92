//! `history --summary`: what has happened to all Services.

use kube_endpoint_model::Service;
use kube_endpoints_testing::book::assert_table;
use rstest::rstest;
use serde_json::json;

use crate::cluster::Run;
use crate::timeline::{decoded, offline, pod, record_changes, slice};

async fn summary(args: &[&str]) -> Run {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("shop.history");
    let typo = decoded::<Service>(json!({"metadata": {"namespace": "shop", "name": "cart"},
        "spec": {"clusterIP": "10.96.0.2", "selector": {"app": "wbe"}, "ipFamilies": ["IPv4"]}}));
    let changes = [
        (120_000, "kubelet", pod(false).into()),
        (120_012, "kube-controller-manager", slice(false).into()),
        (161_400, "kubelet", pod(true).into()),
        (161_412, "kube-controller-manager", slice(true).into()),
        (200_000, "helm", typo.into()),
    ];
    record_changes(&file, changes);
    let history = format!("--history={}", file.display());
    offline(&[&["history", "--summary", history.as_str()], args].concat()).await
}

#[tokio::test]
async fn the_book_has_an_example() {
    let Run { stdout, .. } = summary(&["-n", "shop"]).await;
    let command = "kubectl endpoints history --summary -n shop --history=shop.history";
    assert_table("history", "summary", &format!("```console\n$ {command}\n{stdout}```\n"));
}

/// The recorder was running until then, and has seen no change.
const END: &str = "\
From 2026-11-27T14:10:00.000Z to 2026-11-27T15:00:00.000Z: 2 Services, 0 changes of endpoints.

Not ready since their creation, or since before: 1
  shop/cart  2026-11-27T14:10:00.000Z  50 min 0 s until the end: before: EP002 selector app=wbe matches none of 1 Pods of the namespace
";
const NONE: &str = "From 2026-11-27T14:00:00.000Z to 2026-11-27T14:01:00.000Z: 1 Service, 0 changes of endpoints.\n";
const NO_SERVICE: &str =
    "error: the history has no Service in namespace quiet between 2026-11-27T14:00:00Z and its end\n";

#[rstest]
#[case::until(&["-A", "--until=2026-11-27T14:01:00Z"], NONE, "", 0)]
#[case::beyond_the_end(&["-n", "shop", "--since=2026-11-27T14:10:00Z", "--until=2026-11-28T14:00:00Z", "--top=1"], END, "", 0)]
#[case::services_with_outages(&["-A", "-o", "name"], "service/web\n", "", 0)]
#[case::other_namespace(&["-n", "quiet"], "", NO_SERVICE, 1)]
#[tokio::test]
async fn services_are_summarized(
    #[case] args: &[&str],
    #[case] stdout: &str,
    #[case] stderr: &str,
    #[case] status: i32,
) {
    let run = summary(args).await;
    assert_eq!((run.stdout.as_str(), run.stderr.as_str(), run.status), (stdout, stderr, status));
}

#[tokio::test]
async fn a_namespace_is_a_part_of_all() {
    assert_eq!(summary(&["-n", "shop"]).await.stdout, summary(&["-A"]).await.stdout);
}

#[tokio::test]
async fn json_has_all_facts() {
    let document = summary(&["-n", "shop", "-o", "json"]).await.json();
    let outage = &document["outages"]["items"][0];
    assert_eq!(outage["service"]["name"], "web");
    assert_eq!((&outage["from"], &outage["cause"]["code"]), (&"2026-11-27T14:02:00Z".into(), &"EP102".into()));
    assert_eq!(document["timelines"]["items"][0]["points"][1]["reachable"], 0);
}

#[tokio::test]
async fn a_page_has_a_timeline() {
    let page = summary(&["-A", "-o", "html"]).await.stdout;
    assert!(page.starts_with("<!DOCTYPE html>") && page.contains("<path class=\"ready\""), "{page}");
}
