//! Exposition of the metrics, compared with that of the Go kube-controller-manager, and the values after syncs.

use std::collections::BTreeMap;
use std::sync::Arc;

use kube_endpoint_model::{AddressType, ObjectMeta};
use kube_endpoints_testing::upstream_metrics;
use kube_endpointslice::metrics::{PrometheusMetrics, SliceMetrics};
use kube_endpointslice::{DesiredGroup, Input, Owner, Reconciler};
use kube_topology::{HintPolicy, TrafficDistribution};
use prometheus::{Registry, TextEncoder};

use crate::cluster::Cluster;
use crate::world::{group, options};

fn exposition(registry: &Registry) -> String {
    TextEncoder::new().encode_to_string(&registry.gather()).expect("text")
}

/// Returns the sorted help and type lines, and the series without their values.
fn schema(exposition: &str) -> Vec<String> {
    let series = |line: &str| match line.rsplit_once(' ') {
        Some((series, _)) if !line.starts_with('#') => series.to_owned(),
        _ => line.to_owned(),
    };
    let mut lines: Vec<String> = exposition.lines().map(series).collect();
    lines.sort();
    lines
}

fn values(registry: &Registry) -> BTreeMap<String, String> {
    let text = exposition(registry);
    let series = text.lines().filter(|line| !line.starts_with('#')).filter_map(|line| line.rsplit_once(' '));
    series.map(|(series, value)| (series.to_owned(), value.to_owned())).collect()
}

async fn sync(reconciler: &Reconciler, types: &[AddressType], desired: Vec<DesiredGroup>, policy: HintPolicy) {
    let metadata =
        ObjectMeta { namespace: "default".into(), name: "web".into(), uid: "u".into(), ..ObjectMeta::default() };
    let owner = Owner::new("v1", "Service", &metadata);
    let existing = reconciler.live_slices(&owner.key()).await.expect("a list");
    reconciler.reconcile(Input::new(&owner, types, desired, &existing), Some(policy)).await.expect("no failure");
}

const V4: &[AddressType] = &[AddressType::IPv4];

// upstream: TestReconcileEndpointSlicesMetrics and the three tests named below
#[tokio::test]
async fn names_help_types_labels_and_buckets_match_upstream() {
    let registry = Registry::new();
    let metrics = Arc::new(PrometheusMetrics::register(&registry).expect("an empty registry"));
    let cluster = Cluster::start().await;
    let reconciler = Reconciler::builder(cluster.client.clone(), options(100)).metrics(metrics.clone()).build();
    metrics.synced(true);
    sync(&reconciler, V4, vec![group(0..3, 80, true)], HintPolicy::None).await;
    sync(&reconciler, V4, vec![group(0..3, 80, false)], HintPolicy::None).await;
    let without_create: String = exposition(&registry)
        .lines()
        .filter(|line| !line.contains("\"create\""))
        .flat_map(|line| [line, "\n"])
        .collect();
    assert_eq!(schema(&without_create), schema(&upstream_metrics("endpoint_slice_controller_")));
    assert!(PrometheusMetrics::register(&registry).is_err(), "the names are registered already");
}

// upstream: TestReconcileEndpointSlicesMetrics, ..._EndpointsAddedPerSync_CollectAndCompare,
// ..._EndpointsRemovedPerSync_CollectAndCompare, ..._GaugeUpdates
#[tokio::test]
async fn what_counts_as_what() {
    let registry = Registry::new();
    let metrics = Arc::new(PrometheusMetrics::register(&registry).expect("an empty registry"));
    let cluster = Cluster::start().await;
    let reconciler = Reconciler::builder(cluster.client.clone(), options(2)).metrics(metrics).build();
    let close = HintPolicy::Traffic(TrafficDistribution::PreferClose);
    sync(&reconciler, V4, vec![group(0..5, 80, true)], close).await;
    sync(&reconciler, V4, vec![group(0..1, 80, true)], close).await;

    let values = values(&registry);
    let value = |name: &str| values.get(&format!("endpoint_slice_controller_{name}")).map_or("-", String::as_str);
    assert_eq!(value("endpoints_added_per_sync_sum"), "5");
    assert_eq!(value("endpoints_removed_per_sync_sum"), "4");
    assert_eq!(value("endpoints_added_per_sync_count"), "2", "MT-2: zeros count");
    assert_eq!(value("endpoints_desired"), "1");
    assert_eq!(value("num_endpoint_slices"), "1");
    assert_eq!(value("desired_endpoint_slices"), "1");
    assert_eq!(value("changes{operation=\"create\"}"), "3");
    assert_eq!(value("changes{operation=\"update\"}"), "1");
    assert_eq!(value("changes{operation=\"delete\"}"), "2");
    let changed = "{topology=\"Disabled\",traffic_distribution=\"PreferClose\"}";
    assert_eq!(value(&format!("endpointslices_changed_per_sync_sum{changed}")), "6");
    assert_eq!(value("services_count_by_traffic_distribution{traffic_distribution=\"PreferClose\"}"), "1");

    reconciler.forget(&kube_endpoint_model::ObjectKey::new("default", "web"));
    let values = self::values(&registry);
    assert_eq!(values["endpoint_slice_controller_endpoints_desired"], "0");
    let count =
        "endpoint_slice_controller_services_count_by_traffic_distribution{traffic_distribution=\"PreferClose\"}";
    assert_eq!(values[count], "0", "MT-6");
}

// kubernetes/kubernetes#140447
#[test]
fn changes_have_two_names_since_1_38() {
    let written = |metrics: &PrometheusMetrics, registry: &Registry| {
        metrics.wrote("create");
        let text = exposition(registry);
        let lines = text.lines().filter(|line| line.contains("endpoint_slice_controller_changes"));
        lines.filter(|line| !line.starts_with("# TYPE")).map(str::to_owned).collect::<Vec<_>>()
    };
    let registry = Registry::new();
    let metrics = PrometheusMetrics::register(&registry).expect("an empty registry");
    let expect = [
        "# HELP endpoint_slice_controller_changes [ALPHA] Number of EndpointSlice changes",
        "endpoint_slice_controller_changes{operation=\"create\"} 1",
    ];
    assert_eq!(written(&metrics, &registry), expect);

    let registry = Registry::new();
    let metrics = PrometheusMetrics::register_with_changes_total(&registry).expect("an empty registry");
    let expect = [
        "# HELP endpoint_slice_controller_changes [ALPHA] (Deprecated since 1.38.0) Number of EndpointSlice changes",
        "endpoint_slice_controller_changes{operation=\"create\"} 1",
        "# HELP endpoint_slice_controller_changes_total [ALPHA] Number of EndpointSlice changes",
        "endpoint_slice_controller_changes_total{operation=\"create\"} 1",
    ];
    assert_eq!(written(&metrics, &registry), expect);
}

/// The controllers of two authors and that of Kubernetes on one registry.
#[test]
fn each_controller_of_a_process_chooses_its_prefix() {
    let registry = Registry::new();
    PrometheusMetrics::register(&registry).expect("an empty registry");
    let suffixes = |prefix: &str| -> Vec<String> {
        let of_prefix = registry.gather().into_iter().map(|family| family.name().to_owned());
        of_prefix.filter_map(|name| Some(name.strip_prefix(prefix)?.to_owned())).collect()
    };
    for prefix in ["pools", "secondary_network"] {
        let metrics = PrometheusMetrics::register_with_prefix(&registry, prefix).expect("another prefix");
        metrics.wrote("create");
        assert_eq!(
            suffixes(&format!("{prefix}_")),
            [
                "changes",
                "desired_endpoint_slices",
                "endpoints_added_per_sync",
                "endpoints_desired",
                "endpoints_removed_per_sync",
                "num_endpoint_slices",
            ]
        );
    }
    let text = exposition(&registry);
    for line in [
        "# HELP pools_endpoints_added_per_sync Number of endpoints added on each owner sync",
        "# HELP endpoint_slice_controller_endpoints_added_per_sync [BETA] Number of endpoints added on each Service sync",
        "pools_changes{operation=\"create\"} 1",
    ] {
        assert!(text.contains(line), "{line}\n{text}");
    }
    assert!(PrometheusMetrics::register_with_prefix(&registry, "pools").is_err(), "the names are registered already");
    assert!(PrometheusMetrics::register_with_prefix(&registry, "a b").is_err(), "no name");
}
