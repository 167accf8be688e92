//! `explain` without `--watch`.

use kube_dev_apiserver::{Fault, On};
use rstest::rstest;
use serde_json::{Value, json};

use crate::cluster::{Cluster, run};

fn names(list: &Value) -> Vec<&str> {
    list.as_array().into_iter().flatten().filter_map(|item| item["name"].as_str()).collect()
}

#[tokio::test]
async fn service_report_has_its_pods() {
    let cluster = Cluster::start().await;
    let run = cluster.run("explain svc/web -n shop -o json").await;
    assert_eq!((run.status, run.stderr.as_str()), (0, ""));
    let report = run.json();
    assert_eq!(report["object"], json!({"kind": "Service", "namespace": "shop", "name": "web"}));
    // The server has no controllers that write slices.
    assert_eq!((report["serving"].as_u64(), report["wouldServe"].as_u64()), (Some(0), Some(1)));
    assert_eq!(names(&report["pods"]), ["web-0", "web-1"]);
    assert_eq!(report["pods"][1]["reasons"][0]["code"], "EP102");
}

#[rstest]
#[case::separate("explain service web -n shop -o json", "Service", "web")]
#[case::pod("explain po/web-1 -n shop -o json", "Pod", "web-1")]
#[tokio::test]
async fn single_object_is_a_document(#[case] line: &str, #[case] kind: &str, #[case] name: &str) {
    let run = Cluster::start().await.run(line).await;
    assert_eq!(run.status, 0, "{run:?}");
    assert_eq!(run.json()["object"], json!({"kind": kind, "namespace": "shop", "name": name}));
}

#[rstest]
#[case::named("explain svc/web po/web-0 -n shop -o name", "pod/web-0\nservice/web\n")]
#[case::selected("explain svc -l team=typo -n shop -o name", "service/typo\n")]
#[case::all("explain pods -n shop -o name", "pod/web-0\npod/web-1\n")]
#[case::none("explain pods -n quiet -o name", "")]
#[tokio::test]
async fn several_objects_are_explained(#[case] line: &str, #[case] expect: &str) {
    let run = Cluster::start().await.run(line).await;
    assert_eq!((run.status, run.stdout.as_str()), (0, expect), "{run:?}");
}

#[tokio::test]
async fn several_reports_are_items() {
    let run = Cluster::start().await.run("explain svc/web svc/typo -n shop -o json").await;
    let kinds: Vec<Value> =
        run.json()["items"].as_array().unwrap().iter().map(|it| it["object"]["name"].clone()).collect();
    assert_eq!(kinds, ["web", "typo"]);
}

#[tokio::test]
async fn yaml_has_the_same_content_as_json() {
    let cluster = Cluster::start().await;
    let yaml = cluster.run("explain svc/web -n shop -o yaml").await;
    let parsed: Value = serde_saphyr::from_str(&yaml.stdout).unwrap();
    assert_eq!(parsed, cluster.run("explain svc/web -n shop -o json").await.json());
}

#[tokio::test]
async fn text_names_the_service_and_its_pods() {
    let cluster = Cluster::start().await;
    let run = cluster.run("explain svc/web -n shop").await;
    assert!(run.stdout.starts_with("✗ web  1 of 2 Pods would serve, no slice\n"), "{run:?}");
    for part in ["web-0", "web-1", "EP102"] {
        assert!(run.stdout.contains(part), "no {part} in {run:?}");
    }
    assert!(!run.stdout.contains('\x1b'), "not a terminal: {run:?}");
}

#[tokio::test]
async fn pod_in_no_slice_is_not_marked_as_good() {
    let run = Cluster::start().await.run("explain po/web-0 -n shop").await;
    let lines: Vec<&str> = run.stdout.lines().collect();
    assert_eq!(lines[0], "web-0: endpoint of 1 of 1 Services that select it, serving in 0", "{run:?}");
    assert!(lines[1].starts_with("  ! web ") && lines[1].contains("EP508"), "{run:?}");
}

#[tokio::test]
async fn name_without_a_kind_is_an_error_that_names_the_form() {
    let run = Cluster::start().await.run("explain web -n shop").await;
    assert_eq!(run.status, 2, "{run:?}");
    assert!(run.stderr.contains("use svc/web or pod/web"), "{run:?}");
}

#[rstest]
#[case::service("explain svc/nope -n shop", "error: services \"nope\" not found\n")]
#[case::pod("explain po/nope -n shop", "error: pods \"nope\" not found\n")]
#[case::slice("explain eps/nope -n shop", "error: endpointslices.discovery.k8s.io \"nope\" not found\n")]
#[case::endpoints("explain ep/nope -n shop", "error: endpoints \"nope\" not found\n")]
#[case::other_namespace("explain svc/web", "error: services \"web\" not found\n")]
#[tokio::test]
async fn missing_object_is_an_error(#[case] line: &str, #[case] expect: &str) {
    let run = Cluster::start().await.run(line).await;
    assert_eq!((run.status, run.stdout.as_str(), run.stderr.as_str()), (1, "", expect));
}

#[tokio::test]
async fn others_are_explained_if_one_object_is_missing() {
    let run = Cluster::start().await.run("explain svc/nope svc/web -n shop -o name").await;
    assert_eq!((run.status, run.stdout.as_str()), (1, "service/web\n"));
    assert_eq!(run.stderr, "error: services \"nope\" not found\n");
}

#[tokio::test]
async fn namespace_and_kubeconfig_of_the_arguments_are_used() {
    let cluster = Cluster::start().await;
    let path = cluster.folder().join("other");
    let kubeconfig = cluster.server.kubeconfig();
    std::fs::write(&path, kubeconfig).unwrap();
    let mut command = cluster.command("explain svc/web --namespace=shop -o name");
    command.env("KUBECONFIG", "/nowhere").arg("--kubeconfig").arg(&path);
    let run = run(command).await;
    assert_eq!((run.status, run.stdout.as_str()), (0, "service/web\n"), "{run:?}");
}

#[tokio::test]
async fn unknown_context_is_an_error_with_the_path() {
    let cluster = Cluster::start().await;
    let run = cluster.run("explain svc/web --context=prod").await;
    let path = cluster.kubeconfig();
    let expect = format!("error: kubeconfig {}: context \"prod\" does not exist\n", path.display());
    assert_eq!((run.status, run.stderr), (1, expect));
}

#[tokio::test]
async fn disabled_slice_api_is_a_warning() {
    let cluster = Cluster::start().await;
    cluster.server.faults().inject(Fault::reject(404).on(On::any().resource("endpointslices")));
    let run = cluster.run("explain svc/web -n shop -o json").await;
    assert_eq!(run.status, 0, "{run:?}");
    assert!(run.stderr.starts_with("warning: the server does not serve endpointslices.discovery.k8s.io: "), "{run:?}");
    assert_eq!(run.json()["unknown"], json!(["EndpointSlice"]));
}

#[tokio::test]
async fn expired_pages_are_read_again_without_pages() {
    let cluster = Cluster::start().await;
    let pods = (0..600).map(|at| crate::cluster::pod(&format!("many-{at:03}"), "10.0.1.1", true));
    cluster.server.load(pods).unwrap();
    // The first page succeeds; the second one expires.
    cluster.server.faults().inject(Fault::expired().on(On::any().verb("list").resource("pods")).after(1).times(1));
    let run = cluster.run("explain svc/web -n shop -o json").await;
    assert_eq!((run.status, run.json()["pods"].as_array().map(Vec::len)), (0, Some(602)));
    assert_eq!(cluster.server.requests().count(&On::any().verb("list").resource("pods")), 3);
}

#[tokio::test]
async fn only_what_the_service_needs_is_read() {
    let cluster = Cluster::start().await;
    cluster.run("explain svc/web -n shop").await;
    let requests = cluster.server.requests().all();
    let path = |part: &str| requests.iter().filter(|request| request.path.contains(part)).count();
    assert_eq!(path("/namespaces/shop/pods?"), 1, "{requests:#?}");
    assert_eq!(path("labelSelector=kubernetes.io%2Fservice-name%3Dweb"), 1, "{requests:#?}");
    assert_eq!(path("fieldSelector=metadata.name%3Dweb"), 1, "{requests:#?}");
    assert!(requests.iter().all(|request| ["get", "list"].contains(&request.verb.as_str())), "{requests:#?}");
}
