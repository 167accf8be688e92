//! The text exposition, compared with that of the Go kube-controller-manager.

use std::collections::BTreeMap;

use ::prometheus::{Registry, TextEncoder};
use kube_workqueue::{PrometheusMetrics, Queue};

/// The lines about the queue `endpoint` in `/metrics` of kube-controller-manager 1.36.
const UPSTREAM: &str = include_str!("../fixtures/upstream-metrics.txt");

/// Returns the help and type lines, and the series without values. `le` is parsed, since Go formats `1e-08` where Rust
/// formats `0.00000001`.
fn schema(exposition: &str) -> Vec<String> {
    let mut lines: Vec<String> = exposition
        .lines()
        .map(|line| {
            if line.starts_with('#') {
                return line.to_owned();
            }
            let (series, _value) = line.rsplit_once(' ').expect("a series and its value");
            match series.split_once("le=\"") {
                None => series.to_owned(),
                Some((start, bound)) => {
                    let bound: f64 = bound.trim_end_matches("\"}").parse().expect("a number");
                    format!("{start}le={bound:e}")
                }
            }
        })
        .collect();
    lines.sort();
    lines
}

fn values(registry: &Registry) -> BTreeMap<String, String> {
    TextEncoder::new()
        .encode_to_string(&registry.gather())
        .expect("text")
        .lines()
        .filter(|line| !line.starts_with('#'))
        .map(|line| line.rsplit_once(' ').expect("a series and its value"))
        .map(|(series, value)| (series.to_owned(), value.to_owned()))
        .collect()
}

#[test]
fn names_help_types_labels_and_buckets_match_upstream() {
    let registry = Registry::new();
    let metrics = PrometheusMetrics::register(&registry).expect("an empty registry");
    let (_queue, _timer) = Queue::<u32>::builder().name("endpoint").metrics(metrics).build();
    let ours = TextEncoder::new().encode_to_string(&registry.gather()).expect("text");
    assert_eq!(schema(&ours), schema(UPSTREAM));
}

#[tokio::test(start_paused = true)]
async fn one_key_through_the_queue() {
    let registry = Registry::new();
    let metrics = PrometheusMetrics::register(&registry).expect("an empty registry");
    let (queue, _timer) = Queue::builder().name("q").metrics(metrics.clone()).build();
    let (unnamed, _unnamed_timer) = Queue::builder().metrics(metrics).build();
    unnamed.add("foo");
    queue.add("foo");
    let item = queue.get().await.expect("a key");
    queue.add_after("foo", std::time::Duration::ZERO);
    let values = values(&registry);
    assert_eq!(values["workqueue_adds_total{name=\"q\"}"], "2");
    assert_eq!(values["workqueue_depth{name=\"q\"}"], "1");
    assert_eq!(values["workqueue_retries_total{name=\"q\"}"], "1");
    assert_eq!(values["workqueue_queue_duration_seconds_count{name=\"q\"}"], "1");
    assert_eq!(values["workqueue_work_duration_seconds_count{name=\"q\"}"], "0");
    drop(item);
}
