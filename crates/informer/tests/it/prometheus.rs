//! The exposition, compared with that of the Go kube-controller-manager, and the values of a running informer.

use std::{collections::BTreeMap, time::Duration};

use ::prometheus::{Registry, TextEncoder};
use kube_endpoints_testing::upstream_metrics;
use kube_informer::{GuardOutcome, HandlerOptions, Informer, InformerMetricsProvider as _, PrometheusMetrics};
use kube_wire::Resource;

use crate::{server::client, thing::Thing};

const RESOURCES: [Resource; 5] = [
    Resource::namespaced("", "v1", "pods", "Pod"),
    Resource::namespaced("", "v1", "services", "Service"),
    Resource::namespaced("", "v1", "endpoints", "Endpoints"),
    Resource::cluster("", "v1", "nodes", "Node"),
    Resource::namespaced("discovery.k8s.io", "v1", "endpointslices", "EndpointSlice"),
];

fn print(registry: &Registry) -> String {
    TextEncoder::new().encode_to_string(&registry.gather()).expect("text")
}

/// Returns help lines, type lines, and series without their values, of the metrics that upstream has.
fn schema(exposition: &str) -> Vec<String> {
    let is_upstream = |line: &&str| !line.contains("kube_informer_");
    let series = |line: &str| match line.strip_prefix('#') {
        Some(_) => line.to_owned(),
        None => line.rsplit_once(' ').expect("a series and its value").0.to_owned(),
    };
    let mut lines: Vec<_> = exposition.lines().filter(is_upstream).map(series).collect();
    lines.sort();
    lines
}

#[tokio::test]
async fn names_help_types_labels_and_buckets_match_upstream() {
    let registry = Registry::new();
    let metrics = PrometheusMetrics::register(&registry, "kube-controller-manager").expect("an empty registry");
    let client = client("http://127.0.0.1:1");
    for resource in RESOURCES {
        drop(Informer::<Thing>::builder(client.clone()).resource(resource).metrics(metrics.clone()).build());
    }
    assert_eq!(schema(&print(&registry)), schema(&upstream_metrics("informer_")));
    assert!(PrometheusMetrics::register(&registry, "again").is_err(), "the names are registered already");
}

/// Returns the values other than zero, without the labels that all metrics have.
fn values(registry: &Registry) -> BTreeMap<String, String> {
    let labels = [r#",group="""#, r#"name="m","#, r#",name="m""#, r#",resource="manual source""#, r#",version="""#];
    let short =
        |series: &str| labels.iter().fold(series.replace(r#"{group="","#, "{"), |series, it| series.replace(it, ""));
    let text = print(registry);
    let lines =
        text.lines().filter(|line| !line.starts_with('#') && !line.contains("_bucket") && !line.ends_with(" 0"));
    lines
        .map(|line| line.rsplit_once(' ').expect("a series and its value"))
        .map(|(series, value)| (short(series), value.to_owned()))
        .collect()
}

#[test]
fn held_lists_are_counted_and_shown() {
    let registry = Registry::new();
    let metrics = PrometheusMetrics::register(&registry, "m").expect("an empty registry");
    let pods = metrics.informer(&RESOURCES[0]);
    let held = || {
        let text = print(&registry);
        let line = text.lines().find(|line| line.starts_with("kube_informer_list_held{")).expect("a series");
        line.rsplit_once(' ').expect("a value").1.to_owned()
    };
    assert_eq!(held(), "0");
    for (outcome, expected) in [
        (GuardOutcome::Held, "1"),
        (GuardOutcome::Held, "1"),
        (GuardOutcome::Held, "1"),
        (GuardOutcome::Withdrawn, "0"),
        (GuardOutcome::Held, "1"),
        (GuardOutcome::Confirmed, "0"),
    ] {
        pods.guarded(outcome);
        assert_eq!(held(), expected, "{outcome:?}");
    }
    let text = print(&registry);
    let counts: Vec<_> = text.lines().filter(|line| line.starts_with("kube_informer_guarded_lists_total{")).collect();
    let labels = |result| format!(r#"group="",name="m",resource="pods",result="{result}",version="v1""#);
    let line = |result, count| format!("kube_informer_guarded_lists_total{{{}}} {count}", labels(result));
    assert_eq!(counts, [line("confirmed", 1), line("held", 4), line("withdrawn", 1)]);
}

#[tokio::test(start_paused = true)]
async fn queue_length_and_lag_show_a_slow_handler() {
    let registry = Registry::new();
    let metrics = PrometheusMetrics::register(&registry, "m").expect("an empty registry");
    let (informer, source) = Informer::<Thing>::builder(client("http://127.0.0.1:1")).metrics(metrics).build_manual();
    informer.add_handler_with(HandlerOptions::named("slow"), |_| {});
    let thing = |name, version| Thing::new(name, version, "");
    source.replace([thing("a", 1), thing("b", 2)], "1000000000000002");
    source.apply(thing("c", 3));
    let queued = r#"kube_informer_handler_queued_events{handler="slow"}"#;
    let now = values(&registry);
    assert_eq!(now.get(queued).map(String::as_str), Some("3"), "{now:#?}");

    tokio::time::advance(Duration::from_secs(7)).await;
    source.deliver();
    source.apply(thing("d", 4));
    assert_eq!(source.deliver(), 1);
    let now = values(&registry);
    assert_eq!(now.get(queued), None, "{now:#?}");
    assert_eq!(now[r#"kube_informer_handler_lag_seconds_sum{handler="slow"}"#], "7");
    assert_eq!(now[r#"kube_informer_handler_lag_seconds_count{handler="slow"}"#], "2", "one sample a second");
    let find = |name: &str| now.iter().find(|(series, _)| series.starts_with(name)).map(|(_, value)| value.as_str());
    assert_eq!(find("kube_informer_store_objects"), Some("4"));
    assert_eq!(find("kube_informer_last_resource_version"), Some("4"));
    assert_eq!(find("informer_processing_latency_seconds_count"), Some("3"));

    let idle = |registry: &Registry| {
        let now = values(registry);
        now.into_iter().find(|(series, _)| series.starts_with("kube_informer_idle_seconds")).map(|(_, value)| value)
    };
    assert_eq!(idle(&registry), None, "no time has passed since the last event");
    tokio::time::advance(Duration::from_secs(90)).await;
    assert_eq!(idle(&registry).as_deref(), Some("90"));

    source.bookmark("1234567890123456789");
    assert_eq!(idle(&registry), None, "a bookmark is progress");
    let version =
        values(&registry).into_iter().find(|(series, _)| series.starts_with("kube_informer_last_resource_version"));
    assert_eq!(version.expect("a version").1, "567890123456789", "the last 15 digits");
}
