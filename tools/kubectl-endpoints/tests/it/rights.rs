//! Missing rights, with RBAC.

use rstest::rstest;
use serde_json::{Value, json};

use crate::cluster::Cluster;

const README: &str = include_str!("../../README.md");

/// Rules for `VERB,VERB RESOURCE,RESOURCE[.GROUP]`, one a line.
pub(crate) fn rules(lines: &[&str]) -> Value {
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
    assert_eq!((&report["unknown"], &report["wouldServe"]), (&json!(["Node"]), &json!(1)));
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

#[rstest]
#[case::administrator("", 0, "")]
#[case::user("--as=alice", 1, "error: get services shop/web: services \"web\" is forbidden: User \"alice\" ")]
#[case::group("--as=alice --as-group=system:masters", 0, "")]
#[case::group_without_a_user("--as-group=system:masters", 2, "")]
#[tokio::test]
async fn the_rights_are_those_of_the_impersonated_user(#[case] flags: &str, #[case] status: i32, #[case] expect: &str) {
    let cluster = Cluster::with_rules(&rules(&[])).await;
    cluster.write_kubeconfig(&cluster.server.kubeconfig());
    let run = cluster.run(format!("explain svc/web -n shop {flags}").trim_end()).await;
    assert_eq!(run.status, status, "{run:?}");
    assert!(run.stderr.lines().any(|line| line.starts_with(expect)) || expect.is_empty(), "{run:?}");
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

/// The rules of the cluster role `edit` that concern the program: everything but Nodes.
pub(crate) const WITHOUT_NODES: [&str; 2] =
    ["get,list,watch services,pods,endpoints", "get,list,watch endpointslices.discovery.k8s.io"];

#[rstest]
#[case::check("check -n shop", "EP501 slices: 1 to create; endpoints: 2 to add")]
#[case::diff("diff -n shop", "+kind: EndpointSlice")]
#[case::explain("explain svc/web -n shop", "EP501 slices: 1 to create; endpoints: 2 to add")]
#[tokio::test]
async fn a_missing_slice_is_found_without_nodes(#[case] line: &str, #[case] expect: &str) {
    let run = Cluster::with_rules(&rules(&WITHOUT_NODES)).await.run(line).await;
    assert!(run.stdout.contains(expect), "{run:?}");
    assert_eq!(run.status, i32::from(!line.starts_with("explain")), "{run:?}");
}

#[tokio::test]
async fn check_ticks_no_topic_that_needs_nodes() {
    let run = Cluster::with_rules(&rules(&WITHOUT_NODES)).await.run("check -n shop").await;
    for line in ["- Addresses and Nodes: not fully checked: may not read Nodes", "✓ Mirroring"] {
        assert!(run.stdout.lines().any(|it| it == line), "no {line:?} in {run:?}");
    }
    assert!(run.stdout.ends_with("; not fully checked: may not read Nodes\n"), "{run:?}");
}

#[rstest]
#[case::check("check -n quiet", "No findings in namespace quiet: 0 Services checked, not fully: may not read Nodes.\n")]
#[case::diff(
    "diff -n quiet",
    "No differences in namespace quiet, but zones and topology hints were not compared: may not read Nodes.\n"
)]
#[tokio::test]
async fn nothing_found_without_nodes_is_no_all_clear(#[case] line: &str, #[case] expect: &str) {
    let run = Cluster::with_rules(&rules(&WITHOUT_NODES)).await.run(line).await;
    assert_eq!((run.status, run.stdout.as_str()), (0, ""), "{run:?}");
    assert!(run.stderr.ends_with(expect), "{run:?}");
}

#[rstest]
#[case::pods("get,list services,endpoints,nodes", "endpointslices", "Pods")]
#[case::slices("get,list services,pods,endpoints,nodes", "configmaps", "EndpointSlices")]
#[tokio::test]
async fn what_cannot_be_compared_exits_with_2(
    #[case] core: &str,
    #[case] discovery: &str,
    #[case] unknown: &str,
    #[values("check -n shop", "diff -n shop", "check -n quiet", "diff -n quiet")] line: &str,
) {
    let discovery = format!("get,list {discovery}.discovery.k8s.io");
    let run = Cluster::with_rules(&rules(&[core, &discovery])).await.run(line).await;
    assert_eq!(run.status, 2, "{run:?}");
    assert!(run.stderr.contains("not compared") && run.stderr.contains(unknown), "{run:?}");
}
