//! Compares `/metrics` with that of the Go kube-controller-manager, so that dashboards and alerts work unchanged.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::time::Duration;

use http::Method;
use kube_dev_apiserver::{Fault, On};
use kube_endpoints_testing::book::assert_table;
use kube_endpoints_testing::eventually;
use serde_json::json;
use tokio::sync::OnceCell;

use crate::cluster::Cluster;
use crate::serving::start;

/// A metric family without its values.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Family {
    pub(crate) help: String,
    pub(crate) kind: String,
    /// Every combination of label names among the series.
    pub(crate) labels: BTreeSet<Vec<String>>,
    /// Upper bounds of the buckets, as text.
    buckets: BTreeSet<String>,
}

/// Metric families by name.
pub(crate) type Families = BTreeMap<String, Family>;

/// Parses Prometheus' text format; panics if it is malformed.
pub(crate) fn families(text: &str) -> Families {
    let mut families = Families::new();
    let mut current = "";
    for line in text.lines() {
        if let Some(rest) = line.strip_prefix("# HELP ") {
            let (name, help) = rest.split_once(' ').expect("a help text");
            assert!(!families.contains_key(name), "{name} twice");
            current = name;
            let family = Family { help: help.to_owned(), ..Family::default() };
            families.insert(name.to_owned(), family);
        } else if let Some(rest) = line.strip_prefix("# TYPE ") {
            let (name, kind) = rest.split_once(' ').expect("a type");
            assert_eq!(name, current, "{line}");
            let family = families.get_mut(name).expect("a help text before the type");
            kind.clone_into(&mut family.kind);
        } else {
            let (series, value) = line.rsplit_once(' ').expect("a value");
            let _: f64 = value.replace("Inf", "inf").parse().unwrap_or_else(|_| panic!("{line}"));
            let (name, labels) = series.split_once('{').unwrap_or((series, ""));
            let family = families.get_mut(current).expect("a family");
            let suffixes: &[&str] = if family.kind == "histogram" { &["_bucket", "_sum", "_count"] } else { &[""] };
            assert!(suffixes.iter().any(|suffix| name == format!("{current}{suffix}")), "{line} under {current}");
            let mut names = Vec::new();
            for pair in labels.trim_end_matches('}').split("\",").filter(|pair| !pair.is_empty()) {
                let (name, value) = pair.split_once("=\"").expect("a label");
                if name == "le" {
                    family.buckets.insert(value.trim_end_matches('"').to_owned());
                } else {
                    names.push(name.to_owned());
                }
            }
            family.labels.insert(names);
        }
    }
    families
}

pub(crate) const UPSTREAM_METRICS: &str = include_str!("../../../../testing/conformance/fixtures/kcm-metrics.txt");
/// Upstream's metrics that are missing in the recording, since they have no series until they are first set: name,
/// type, labels (from upstream's source).
const EXPORTED_LATER: &[(&str, &str, &[&str])] = &[
    ("endpoint_slice_controller_services_count_by_traffic_distribution", "gauge", &["traffic_distribution"]),
    ("endpoint_slice_mirroring_controller_addresses_skipped_per_sync", "histogram", &[]),
    ("endpoint_slice_mirroring_controller_changes", "counter", &["operation"]),
    ("endpoint_slice_mirroring_controller_desired_endpoint_slices", "gauge", &[]),
    ("endpoint_slice_mirroring_controller_endpoints_added_per_sync", "histogram", &[]),
    ("endpoint_slice_mirroring_controller_endpoints_desired", "gauge", &[]),
    ("endpoint_slice_mirroring_controller_endpoints_removed_per_sync", "histogram", &[]),
    ("endpoint_slice_mirroring_controller_endpoints_updated_per_sync", "histogram", &[]),
    ("endpoint_slice_mirroring_controller_num_endpoint_slices", "gauge", &[]),
    ("leader_election_master_status", "gauge", &["name"]),
    ("leader_election_slowpath_total", "counter", &["name"]),
    ("rest_client_request_retries_total", "counter", &["code", "host", "verb"]),
];
/// Prefixes of metrics that upstream does not have.
pub(crate) const OWN_PREFIXES: [&str; 3] = ["endpoint_controllers_", "kube_client_", "kube_informer_"];
/// Metrics with these prefixes that have no series until a fault, or a change, occurs.
const OWN_EXPORTED_LATER: [&str; 4] = [
    "endpoint_controllers_foreign_writes_total",
    "endpoint_controllers_propagation_duration_seconds",
    "endpoint_controllers_propagation_stage_duration_seconds",
    "kube_informer_relists_total",
];

/// Returns the families of `/metrics` and `/metrics/slis` without flags. The program runs once for all tests.
pub(crate) async fn exported_metrics() -> &'static (Families, Families) {
    static EXPORTED: OnceCell<(Families, Families)> = OnceCell::const_new();
    EXPORTED.get_or_init(|| exported_metrics_with(&[])).await
}

/// Runs the program with `arguments` until every metric has a series; returns the families of `/metrics` and
/// `/metrics/slis`.
pub(crate) async fn exported_metrics_with(arguments: &[&str]) -> (Families, Families) {
    let cluster = Cluster::start().await;
    let arguments: Vec<&str> = std::iter::once("--kube-api-qps=auto").chain(arguments.iter().copied()).collect();
    let process = start(&cluster, &arguments);
    cluster.web().await;
    // Endpoints to mirror, and Services with a traffic distribution.
    let ports = json!([{"name": "http", "port": 80}]);
    for name in ["mine", "near"] {
        let spec = json!({"ports": ports, "trafficDistribution": "PreferClose"});
        cluster.create("/api/v1/namespaces/default/services", &json!({"metadata": {"name": name}, "spec": spec})).await;
    }
    let selected = json!({"selector": {"app": "web"}, "ports": ports, "trafficDistribution": "PreferClose"});
    let close = json!({"metadata": {"name": "close"}, "spec": selected});
    cluster.create("/api/v1/namespaces/default/services", &close).await;
    let subsets = json!([{"addresses": [{"ip": "192.0.2.1"}], "ports": ports}]);
    let mine = json!({"metadata": {"name": "mine"}, "subsets": subsets});
    cluster.create("/api/v1/namespaces/default/endpoints", &mine).await;
    let one = |name: &str| (name.to_owned(), 1);
    cluster.wait_for_addresses(&[one("web"), one("mine"), one("close")].into()).await;
    cluster.readiness("default", "web-0", "False", "2026-01-01T00:00:01Z").await;
    let labels = json!({"endpoints.kubernetes.io/managed-by": "endpoint-controller"});
    let foreign = json!({"metadata": {"name": "foreign", "labels": labels}});
    cluster.create("/api/v1/namespaces/default/endpoints", &foreign).await;
    // Faults that are counted: a renewal answered with 429, a renewal with a conflict, an expired watch.
    let leases = On::any().verb("update").resource("leases");
    cluster.server.faults().inject(Fault::too_many_requests(Duration::from_secs(1)).on(leases).times(1));
    let lease = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/endpoint-controller-manager";
    cluster.try_call(Method::PATCH, lease, &json!({"metadata": {"labels": {"touched": "yes"}}})).await;
    let watches = On::any().verb("watch").resource("nodes");
    cluster.server.faults().inject(Fault::expired().on(watches.clone()).times(1));
    cluster.server.faults().cut_watches(&watches);

    let master = process.master(&cluster).await;
    let upstream_families = families(UPSTREAM_METRICS);
    let scrape = async || families(&master.get("/metrics").await.text);
    // A write is counted once its response has arrived, after the object is visible.
    let missing = async || {
        let own_families = scrape().await;
        let all = upstream_families
            .keys()
            .map(String::as_str)
            .chain(EXPORTED_LATER.iter().map(|it| it.0))
            .chain(OWN_EXPORTED_LATER);
        all.filter(|name| !own_families.contains_key(*name)).map(str::to_owned).collect::<Vec<_>>()
    };
    eventually("metrics that are missing", &Vec::new(), missing).await;
    master.get("/healthz").await;
    let (own_families, health) = (scrape().await, families(&master.get("/metrics/slis").await.text));
    #[cfg(feature = "shadow")]
    let own_families = own_families.into_iter().chain(shadow_metrics(&cluster).await).collect();
    cluster.server.shutdown().await;
    (own_families, health)
}

#[cfg(feature = "shadow")]
async fn shadow_metrics(cluster: &Cluster) -> Families {
    let process = start(cluster, &["--mode=shadow"]);
    let master = process.master(cluster).await;
    let scrape = async || {
        let mut families = families(&master.get("/metrics").await.text);
        families.retain(|name, _| name.starts_with("endpoint_controllers_shadow_"));
        families
    };
    // The mismatches have series once a controller has compared a Service.
    let is_complete = |families: &Families| families.len() == 6;
    kube_endpoints_testing::until("complete metrics", scrape, is_complete).await
}

#[tokio::test]
async fn metrics_match_upstream_and_own_ones_are_prefixed() {
    let (own_families, _) = exported_metrics().await;
    let upstream_families = families(UPSTREAM_METRICS);
    for (name, upstream) in &upstream_families {
        assert_eq!(&own_families[name], upstream, "{name}");
    }
    for (name, kind, labels) in EXPORTED_LATER {
        let family = &own_families[*name];
        let labels: Vec<String> = labels.iter().map(|label| (*label).to_owned()).collect();
        assert_eq!((family.kind.as_str(), &family.labels), (*kind, &[labels].into()), "{name}");
        assert!(["[ALPHA] ", "[BETA] "].iter().any(|stage| family.help.starts_with(stage)), "{name}");
    }
    let is_upstream = |name: &str| upstream_families.contains_key(name) || EXPORTED_LATER.iter().any(|it| it.0 == name);
    for (name, family) in own_families.iter().filter(|(name, _)| !is_upstream(name)) {
        assert!(
            OWN_PREFIXES.iter().any(|prefix| name.starts_with(prefix)),
            "{name}: neither upstream's nor with our prefix"
        );
        // The rules of `promtool check metrics`.
        assert_eq!(family.kind == "counter", name.ends_with("_total"), "{name}");
        assert!(name.chars().all(|it| it.is_ascii_lowercase() || it == '_') && !name.contains("__"), "{name}");
        assert!(!family.help.is_empty() && !name.contains("milli"), "{name}");
    }
    for name in NOT_IMPLEMENTED {
        assert!(!own_families.contains_key(*name), "{name} is here");
    }
    assert_table("metrics", "metrics", &reference(own_families));
}

/// Metrics of kube-controller-manager that concern these controllers, or seem to, and that this program does not have.
pub(crate) const NOT_IMPLEMENTED: &[&str] = &[
    "disabled_metrics_total",
    "hidden_metrics_total",
    "informer_store_resource_version",
    "registered_metrics_total",
    "rest_client_dns_resolution_duration_seconds",
    "rest_client_exec_plugin_call_total",
    "rest_client_exec_plugin_policy_call_total",
    "rest_client_transport_ca_reload_total",
    "rest_client_transport_cache_gc_calls_total",
    "running_managed_controllers",
];

/// Returns the table of the page: the metrics that Kubernetes does not have.
fn reference(metrics: &Families) -> String {
    let mut page =
        "| Metric | Type | Labels | Help | Upper bounds of the buckets |\n|---|---|---|---|---|\n".to_owned();
    let is_own = |name: &str| OWN_PREFIXES.iter().any(|prefix| name.starts_with(prefix));
    for (name, family) in metrics.iter().filter(|(name, _)| is_own(name)) {
        let labels: BTreeSet<&str> = family.labels.iter().flatten().map(String::as_str).collect();
        let mut buckets: Vec<&String> = family.buckets.iter().filter(|bound| *bound != "+Inf").collect();
        buckets.sort_by(|a, b| f64::total_cmp(&a.parse().expect("a number"), &b.parse().expect("a number")));
        let _ = writeln!(
            page,
            "| `{name}` | {} | {} | {} | {} |",
            family.kind,
            labels.iter().map(|it| format!("`{it}`")).collect::<Vec<_>>().join(" "),
            family.help.replace(['*', '|', '<'], " "),
            buckets.iter().map(|it| it.as_str()).collect::<Vec<_>>().join(" "),
        );
    }
    page
}
