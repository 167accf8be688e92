//! `check` and `diff`.

use kube_dev_apiserver::{Config, Fault, On};
use rstest::rstest;
use serde_json::{Value, json};

use crate::cluster::{Cluster, pod};

fn objects(items: &Value) -> Vec<String> {
    let items = items["items"].as_array().expect("items");
    let name = |item: &Value| format!("{} {}", item["object"]["kind"], item["object"]["name"]).replace('"', "");
    let mut names: Vec<String> = items.iter().map(name).collect();
    names.sort();
    names.dedup();
    names
}

#[tokio::test]
async fn check_lists_findings_and_exits_with_1() {
    let cluster = Cluster::start().await;
    let run = cluster.run("check -n shop -o json").await;
    assert_eq!((run.status, run.stderr.as_str()), (1, ""));
    let findings = run.json();
    assert!(objects(&findings).contains(&"Service typo".to_owned()), "{findings}");
    for finding in findings["items"].as_array().unwrap() {
        assert!(["warning", "error"].contains(&finding["severity"].as_str().unwrap()), "{finding}");
        assert!(finding["code"].as_str().unwrap().starts_with("EP"), "{finding}");
    }
    let text = cluster.run("check -n shop").await;
    assert!(text.stdout.contains("EP002") && text.status == 1, "{text:?}");
}

#[rstest]
#[case::selected("check -A -l team=typo -o json", true)]
#[case::other("check -A -l team=web -o json", false)]
#[tokio::test]
async fn selector_restricts_the_findings(#[case] line: &str, #[case] expect: bool) {
    let run = Cluster::start().await.run(line).await;
    assert_eq!(objects(&run.json()).contains(&"Service typo".to_owned()), expect, "{run:?}");
}

/// A Node is the object of one finding for all Services without topology hints.
#[tokio::test]
async fn selector_restricts_findings_about_nodes() {
    let service = |name: &str| {
        json!({"apiVersion": "v1", "kind": "Service",
            "metadata": {"namespace": "shop", "name": name, "labels": {"team": name},
                "annotations": {"service.kubernetes.io/topology-mode": "Auto"}},
            "spec": {"selector": {"app": "web"}, "ports": [{"name": "http", "port": 80}]}})
    };
    let ready = json!({"conditions": [{"type": "Ready", "status": "True"}]});
    let node = json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "bare"}, "status": ready});
    let cluster = Cluster::start_with(Config::default(), [node, service("orders"), service("payments")]).await;
    for (selector, expected) in [("-l team=orders", Some("1 Service")), ("-l team=web", None), ("", Some("2 Services"))]
    {
        let run = cluster.run(format!("check -A -o json {selector}").trim_end()).await.json();
        let found = run["items"].as_array().into_iter().flatten().find(|it| it["code"] == "EP403");
        let message = found.map(|it| it["message"].as_str().expect("text"));
        let expected =
            expected.map(|services| format!("Node bare has no zone label: no topology hints for {services}"));
        assert_eq!(message, expected.as_deref(), "{selector}: {run:#}");
    }
}

#[tokio::test]
async fn only_selected_services_are_counted() {
    let run = Cluster::start().await.run("check -n shop -l team=nobody").await;
    let expect = (0, "", "No findings in namespace shop: 0 Services checked.\n");
    assert_eq!((run.status, run.stdout.as_str(), run.stderr.as_str()), expect);
}

/// A slice of a deleted Service, in a namespace without Services.
#[tokio::test]
async fn pods_of_a_left_over_slice_are_read() {
    let namespace = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "old"}});
    let mut db = pod("db-0", "10.0.0.9", true);
    db["metadata"]["namespace"] = json!("old");
    let endpoint =
        |pod: &str| json!({"addresses": ["10.0.0.9"], "targetRef": {"kind": "Pod", "namespace": "old", "name": pod}});
    let slice = json!({"apiVersion": "discovery.k8s.io/v1", "kind": "EndpointSlice", "addressType": "IPv4",
        "metadata": {"namespace": "old", "name": "db-x", "labels": {"kubernetes.io/service-name": "db"}},
        "endpoints": [endpoint("db-0"), endpoint("db-1")], "ports": []});
    let cluster = Cluster::start_with(Config::default(), [namespace, db, slice]).await;
    let run = cluster.run("check -A -o json").await.json();
    let missing = run["items"].as_array().into_iter().flatten().find(|it| it["code"] == "EP511");
    let message = missing.map(|it| it["message"].clone());
    assert_eq!(message, Some(json!("refers to Pods that do not exist: db-1")), "{run:#}");
    let lists = cluster.server.requests().matching(&On::any().verb("list").resource("pods"));
    assert_eq!(lists.len(), 2, "one for each namespace: {lists:#?}");
}

#[tokio::test]
async fn check_without_findings_exits_with_0() {
    let run = Cluster::start().await.run("check -n quiet").await;
    let expect = (0, "", "No findings in namespace quiet: 0 Services checked.\n");
    assert_eq!((run.status, run.stdout.as_str(), run.stderr.as_str()), expect);
}

#[rstest]
#[case::namespace("diff -n shop")]
#[case::all("diff -A")]
#[tokio::test]
async fn diff_shows_the_creates_and_exits_with_1(#[case] line: &str) {
    let run = Cluster::start().await.run(line).await;
    assert_eq!((run.status, run.stderr.as_str()), (1, ""));
    let lines: Vec<&str> = run.stdout.lines().collect();
    assert!(lines[0].starts_with("# objects EP50"), "{run:?}");
    for part in ["--- /dev/null", "+++ Endpoints shop/web", "+kind: Endpoints", "+kind: EndpointSlice"] {
        assert!(lines.contains(&part), "no {part:?} in {}", run.stdout);
    }
    assert!(run.stdout.contains("10.0.0.1"), "{}", run.stdout);
}

#[tokio::test]
async fn diff_as_json_has_both_states() {
    let run = Cluster::start().await.run("diff -n shop -l team=web -o json").await;
    let changes = run.json();
    assert_eq!(objects(&changes).first().map(String::as_str), Some("EndpointSlice web-..."), "{changes}");
    for change in changes["items"].as_array().unwrap() {
        assert!(change["before"].is_null() && change["after"].is_object(), "{change}");
        assert_eq!(change["class"], "objects", "{change}");
        assert!(change["object"]["name"].as_str().unwrap().starts_with("web"), "{change}");
    }
}

#[rstest]
#[case::check("check -n typo")]
#[case::diff("diff -n typo")]
#[tokio::test]
async fn a_namespace_that_does_not_exist_is_an_error(#[case] line: &str) {
    let run = Cluster::start().await.run(line).await;
    let expect = (2, "", "error: namespace \"typo\" does not exist\n");
    assert_eq!((run.status, run.stdout.as_str(), run.stderr.as_str()), expect);
}

#[tokio::test]
async fn diff_without_differences_exits_with_0() {
    let run = Cluster::start().await.run("diff -n quiet").await;
    assert_eq!((run.status, run.stdout.as_str(), run.stderr.as_str()), (0, "", ""));
}

#[rstest]
#[case::check("check -n shop", 2)]
#[case::diff("diff -n shop", 2)]
#[tokio::test]
async fn failed_request_is_an_error(#[case] line: &str, #[case] status: i32) {
    let cluster = Cluster::start().await;
    cluster.server.faults().inject(Fault::reject(500).on(On::any().verb("list").resource("pods")));
    let run = cluster.run(line).await;
    assert_eq!((run.status, run.stdout.as_str()), (status, ""), "{run:?}");
    assert!(run.stderr.starts_with("error: list pods in namespace shop: "), "{run:?}");
    assert_eq!(run.stderr.lines().count(), 1, "{run:?}");
}

#[tokio::test]
async fn lists_may_be_cached() {
    let cluster = Cluster::start().await;
    cluster.run("check -n shop").await;
    let lists = cluster.server.requests().matching(&On::any().verb("list"));
    assert_eq!(lists.len(), 5, "{lists:#?}");
    assert!(lists.iter().all(|list| list.path.contains("resourceVersion=0")), "{lists:#?}");
}
