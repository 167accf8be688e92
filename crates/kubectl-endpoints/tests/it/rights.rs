//! Missing rights, with RBAC.

use rstest::rstest;
use serde_json::{Value, json};

use crate::cluster::Cluster;

const README: &str = include_str!("../../README.md");

/// Rules for `VERB,VERB RESOURCE,RESOURCE[.GROUP]`, one a line.
fn rules(lines: &[&str]) -> Value {
    let rule = |line: &&str| {
        let (verbs, resources) = line.split_once(' ').expect("verbs and resources");
        let (resources, group) = resources.split_once('.').unwrap_or((resources, ""));
        let list = |text: &str| text.split(',').map(str::to_owned).collect::<Vec<_>>();
        json!({"verbs": list(verbs), "resources": list(resources), "apiGroups": [group]})
    };
    lines.iter().map(rule).collect()
}

#[tokio::test]
async fn missing_right_is_a_warning_and_the_rest_is_explained() {
    let allowed = ["list services,pods,endpoints", "get pods", "list endpointslices.discovery.k8s.io"];
    let cluster = Cluster::with_rules(&rules(&allowed)).await;
    let run = cluster.run("explain svc/web -n shop -o json").await;
    assert_eq!(run.status, 0, "{run:?}");
    assert!(run.stderr.starts_with("warning: may not list nodes: nodes is forbidden: "), "{run:?}");
    assert_eq!(run.stderr.lines().count(), 1, "{run:?}");
    let report = run.json();
    assert_eq!((&report["unknown"], &report["serving"]), (&json!(["Node"]), &json!(1)));
}

#[tokio::test]
async fn objects_that_may_not_be_listed_are_read_by_name() {
    let cluster = Cluster::with_rules(&rules(&["get services,pods,endpoints"])).await;
    for object in ["svc/web", "po/web-0"] {
        let run = cluster.run(&format!("explain {object} -n shop -o json")).await;
        assert_eq!(run.status, 0, "{run:?}");
        assert!(run.stderr.contains("warning: may not list services in namespace shop: "), "{run:?}");
        assert_eq!(run.json()["object"]["namespace"], "shop");
    }
    let run = cluster.run("explain svc/nope -n shop").await;
    assert_eq!((run.status, run.stderr.lines().last()), (1, Some("error: services \"nope\" not found")));
}

#[rstest]
#[case::explain("explain svc/web -n shop", 1, "error: get services shop/web: services \"web\" is forbidden: ")]
#[case::pod("explain po/web-0 -n shop", 1, "error: get pods shop/web-0: pods \"web-0\" is forbidden: ")]
#[case::check("check -n shop", 2, "error: may not list services in namespace shop: ")]
#[case::diff("diff -n shop", 2, "error: may not list services in namespace shop: ")]
#[tokio::test]
async fn object_that_may_not_be_read_is_an_error(#[case] line: &str, #[case] status: i32, #[case] expect: &str) {
    let run = Cluster::with_rules(&rules(&[])).await.run(line).await;
    assert_eq!((run.status, run.stdout.as_str()), (status, ""), "{run:?}");
    assert!(run.stderr.lines().last().is_some_and(|line| line.starts_with(expect)), "{run:?}");
}

#[tokio::test]
async fn cluster_role_of_the_readme_is_enough() {
    let yaml = README.split_once("```yaml\n").unwrap().1.split_once("```").unwrap().0;
    let role: Value = serde_saphyr::from_str(yaml).unwrap();
    assert_eq!(role["kind"], "ClusterRole");
    let cluster = Cluster::with_rules(&role["rules"]).await;
    let lines =
        ["explain svc/web -n shop -o name", "explain po/web-1 -n shop -o name", "check -A -o name", "diff -A -o name"];
    for line in lines {
        let run = cluster.run(line).await;
        assert!(!run.stdout.is_empty() && run.stderr.is_empty(), "{line}: {run:?}");
    }
    let run = cluster.run("__complete check -n q").await;
    assert_eq!(run.stdout, "quiet\n:4\n");
}
