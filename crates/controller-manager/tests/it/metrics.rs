//! `/metrics` against what the Go kube-controller-manager shows, so that dashboards and alerts work unchanged.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::json;

use crate::cluster::{Cluster, eventually};
use crate::serving::start;

/// A metric, whatever its values.
#[derive(Debug, Default, PartialEq, Eq)]
struct Family {
    help: String,
    kind: String,
    /// The names of the labels, each combination once.
    labels: BTreeSet<Vec<String>>,
    /// Upper bounds, as they are written.
    buckets: BTreeSet<String>,
}

/// Reads the text format; anything that is not in it ends the test.
fn families(text: &str) -> BTreeMap<String, Family> {
    let mut families: BTreeMap<String, Family> = BTreeMap::new();
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

/// Upstream's metrics that its output shows only once there is something to show, by the tables of its source: name, type,
/// labels.
const SHOWN_LATER: &[(&str, &str, &[&str])] = &[
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
];
/// Upstream's metrics that may not be seen in this test: nothing fails in it.
const SELDOM: [&str; 2] = ["leader_election_slowpath_total", "rest_client_request_retries_total"];
/// How metrics begin that upstream does not have.
const OURS: [&str; 2] = ["endpoint_controllers_", "kube_informer_"];

#[tokio::test]
async fn metrics_are_those_of_upstream_and_a_few_of_ours() {
    let cluster = Cluster::start().await;
    let served = start(&cluster, &[]);
    cluster.node().await;
    cluster.service("default", "web").await;
    cluster.ready_pod("default", "web-0", "web", "10.1.0.1").await;
    // Something to mirror, and a Service with a preference.
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
    cluster.settles(&[one("web"), one("mine"), one("close")].into()).await;

    let master = served.master(&cluster).await;
    let upstreams = families(include_str!("../fixtures/kcm-metrics.txt"));
    let scrape = async || families(&master.get("/metrics").await.text);
    // What was written is counted when the answer has come.
    let missing = async || {
        let ours = scrape().await;
        let all = upstreams.keys().map(String::as_str).chain(SHOWN_LATER.iter().map(|it| it.0));
        all.filter(|name| !ours.contains_key(*name)).map(str::to_owned).collect::<Vec<_>>()
    };
    eventually("metrics that are missing", &Vec::new(), missing).await;
    let ours = scrape().await;
    for (name, upstream) in &upstreams {
        assert_eq!(&ours[name], upstream, "{name}");
    }
    for (name, kind, labels) in SHOWN_LATER {
        let family = &ours[*name];
        let labels: Vec<String> = labels.iter().map(|label| (*label).to_owned()).collect();
        assert_eq!((family.kind.as_str(), &family.labels), (*kind, &[labels].into()), "{name}");
        assert!(["[ALPHA] ", "[BETA] "].iter().any(|stage| family.help.starts_with(stage)), "{name}");
    }
    let known = |name: &str| {
        upstreams.contains_key(name) || SHOWN_LATER.iter().any(|it| it.0 == name) || SELDOM.contains(&name)
    };
    for (name, family) in ours.iter().filter(|(name, _)| !known(name)) {
        assert!(OURS.iter().any(|prefix| name.starts_with(prefix)), "{name}: neither upstream's nor with our prefix");
        // What promtool asks of a name.
        assert_eq!(family.kind == "counter", name.ends_with("_total"), "{name}");
        assert!(name.chars().all(|it| it.is_ascii_lowercase() || it == '_') && !name.contains("__"), "{name}");
        assert!(!family.help.is_empty() && !name.contains("milli"), "{name}");
    }
    cluster.server.shutdown().await;
}
