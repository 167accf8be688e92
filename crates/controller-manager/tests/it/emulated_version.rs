//! `--emulated-version`: what the controllers of later versions of Kubernetes do differently, and what not.

use std::collections::BTreeSet;

use kube_dev_apiserver::{Fault, On};
use kube_endpoints_testing::{eventually, until};
use rstest::rstest;
use serde_json::json;

use crate::cluster::{Cluster, text};
use crate::serving::start;

/// Namespaces of the Events `FailedToCreateEndpoint`.
async fn namespaces_of_events(cluster: &Cluster) -> Vec<String> {
    let events = cluster.list("/api/v1/events").await;
    let failed = events.iter().filter(|it| it["reason"] == "FailedToCreateEndpoint");
    failed.map(|it| text(&it["metadata"]["namespace"])).collect()
}

#[rstest]
#[case::default(None, "1.36", "default", false)]
#[case::of_1_37(Some("kube=1.37"), "1.37", "default", false)]
#[case::of_1_38(Some("1.38"), "1.38", "shop", true)]
#[tokio::test]
async fn events_and_metrics_follow_the_version(
    #[case] flag: Option<&str>,
    #[case] version: &str,
    #[case] namespace: &str,
    #[case] changes_total: bool,
) {
    let cluster = Cluster::start().await;
    cluster.create("/api/v1/namespaces", &json!({"metadata": {"name": "shop"}})).await;
    cluster.node().await;
    let creates = On::any().verb("create").resource("endpoints").namespace("shop");
    cluster.server.faults().inject(Fault::reject(500).on(creates).times(1));
    let flag = flag.map(|version| format!("--emulated-version={version}"));
    let arguments: Vec<&str> = std::iter::once("--leader-elect=false").chain(flag.as_deref()).collect();
    let process = start(&cluster, &arguments);
    cluster.service("shop", "web").await;
    cluster.ready_pod("shop", "web-0", "web", "10.1.0.1").await;
    cluster.wait_for_web().await;
    eventually("events", &vec![namespace.to_owned()], || namespaces_of_events(&cluster)).await;

    let master = process.master(&cluster).await;
    let counted = |metrics: &String| metrics.contains("endpoint_slice_controller_changes{operation=\"create\"} ");
    let metrics = until("writes that are counted", async || master.get("/metrics").await.text, counted).await;
    let value = |name: &str| {
        let prefix = format!("endpoint_slice_controller_{name}{{operation=\"create\"}} ");
        metrics.lines().find_map(|line| line.strip_prefix(&prefix)).map(str::to_owned)
    };
    assert_eq!(value("changes_total"), value("changes").filter(|_| changes_total));
    let deprecated = metrics.contains("endpoint_slice_controller_changes [ALPHA] (Deprecated since 1.38.0) ");
    assert_eq!(deprecated, changes_total);
    let informers = metrics.lines().filter(|line| line.contains("informer_"));
    let resources = informers.filter_map(|line| line.split_once("resource=\"")?.1.split('"').next());
    let plurals: BTreeSet<&str> = resources.filter(|it| ["endpoints", "endpointss"].contains(it)).collect();
    assert_eq!(plurals, [if changes_total { "endpoints" } else { "endpointss" }].into());
    let minimum = match version {
        "1.36" => "1.35",
        "1.37" => "1.36",
        _ => "1.37",
    };
    let info = format!(
        "version_info{{binary=\"{version}\",component=\"kube\",emulation=\"{version}\",min_compat=\"{minimum}\"}} 1\n"
    );
    assert!(metrics.contains(&info), "{metrics}");
    let flags = master.get("/flagz").await.text;
    assert!(flags.contains("\nemulated-version="), "{flags}");
    cluster.server.shutdown().await;
}

/// The rows of the book without a switch.
#[rstest]
#[case("1.36")]
#[case("1.38")]
#[tokio::test]
async fn deleted_slices_and_addresses_with_leading_zeros_are_the_same_in_every_version(#[case] version: &str) {
    let cluster = Cluster::start().await;
    let process = start(&cluster, &["--leader-elect=false", &format!("--emulated-version={version}")]);
    // Mirrored: the API server accepts them in stored objects only.
    let ports = json!([{"name": "http", "port": 80}]);
    let service = json!({"metadata": {"name": "custom"}, "spec": {"ports": ports}});
    cluster.create("/api/v1/namespaces/default/services", &service).await;
    let subsets = json!([{"addresses": [{"ip": "010.000.0.1"}], "ports": ports}]);
    let metadata = json!({"namespace": "default", "name": "custom"});
    let custom = json!({"apiVersion": "v1", "kind": "Endpoints", "metadata": metadata, "subsets": subsets});
    cluster.server.load([custom]).expect("an object of an earlier version");
    // Selected: slices of both controllers are deleted below.
    cluster.web().await;
    let expected = [("custom".to_owned(), 1), ("web".to_owned(), 1)].into();
    cluster.wait_for_addresses(&expected).await;
    let slices = cluster.list("/apis/discovery.k8s.io/v1/endpointslices").await;
    let mirrored = slices.iter().find(|it| it["metadata"]["labels"]["kubernetes.io/service-name"] == "custom");
    assert_eq!(mirrored.expect("a slice")["endpoints"][0]["addresses"], json!(["10.0.0.1"]));

    // 404 for a delete: the slice stays in this test, as if another client had created one of the same name.
    let deletes = On::any().verb("delete").resource("endpointslices");
    cluster.server.faults().inject(Fault::reject(404).on(deletes.clone()).times(1));
    let path = "/api/v1/namespaces/default/endpoints/custom";
    cluster.call(http::Method::PATCH, path, &json!({"subsets": null})).await;
    eventually("deletes", &1, async || cluster.server.requests().count(&deletes)).await;
    let master = process.master(&cluster).await;
    let synced = |metrics: &String| metrics.contains("\nworkqueue_adds_total{name=\"endpoint_slice_mirroring\"} ");
    let metrics = until("metrics", async || master.get("/metrics").await.text, synced).await;
    let retries = "\nworkqueue_retries_total{name=\"endpoint_slice_mirroring\"} 0\n";
    assert!(metrics.contains(retries), "the delete is not retried: {metrics}");
    assert!(!metrics.contains("endpoint_slice_mirroring_controller_changes{operation=\"delete\"}"), "{metrics}");
    cluster.server.shutdown().await;
}
