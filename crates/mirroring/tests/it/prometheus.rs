//! Names, types, help texts and buckets of the metrics are those of upstream.

use kube_endpoint_model::AddressType;
use kube_endpointslice::metrics::SliceMetrics as _;
use kube_endpointslice::{Plan, TypePlan};
use kube_endpointslice_mirroring::{MirroringMetrics as _, PrometheusMetrics};
use prometheus::Registry;
use prometheus::proto::MetricType;

const PREFIX: &str = "endpoint_slice_mirroring_controller_";

#[test]
fn metrics_have_the_names_types_and_buckets_of_upstream() {
    let registry = Registry::new();
    let metrics = PrometheusMetrics::register(&registry).expect("unused names");
    metrics.wrote("create");
    metrics.skipped(3);
    metrics.sync_duration(std::time::Duration::from_micros(2_700));
    let (mut ipv4, mut ipv6) = (TypePlan::empty(AddressType::IPv4), TypePlan::empty(AddressType::IPv6));
    (ipv4.added, ipv4.updated) = (1, 2);
    ipv6.removed = 3;
    let mut plan = Plan::delete(Vec::new());
    plan.types = vec![ipv4, ipv6];
    metrics.planned(&plan);

    let shown: Vec<String> = registry
        .gather()
        .iter()
        .map(|family| {
            let kind = match family.get_field_type() {
                MetricType::COUNTER => "counter",
                MetricType::GAUGE => "gauge",
                MetricType::HISTOGRAM => "histogram",
                _ => "other",
            };
            assert!(family.help().starts_with("[ALPHA] "), "{}", family.help());
            let name = family.name().strip_prefix(PREFIX).expect("prefix");
            let histogram = family.get_metric()[0].get_histogram();
            let bounds: Vec<f64> = histogram.get_bucket().iter().map(prometheus::proto::Bucket::upper_bound).collect();
            let bounds = bounds.first().zip(bounds.last()).map(|(first, last)| format!(" {first}..{last}"));
            format!("{name} {kind}{}", bounds.filter(|_| kind == "histogram").unwrap_or_default())
        })
        .collect();
    assert_eq!(
        shown,
        [
            "addresses_skipped_per_sync histogram 2..32768",
            "changes counter",
            "desired_endpoint_slices gauge",
            "endpoints_added_per_sync histogram 2..32768",
            "endpoints_desired gauge",
            "endpoints_removed_per_sync histogram 2..32768",
            "endpoints_sync_duration histogram 0.001..16.384",
            "endpoints_updated_per_sync histogram 2..32768",
            "num_endpoint_slices gauge",
        ]
    );
    let help = "[ALPHA] Number of endpoints updated on each Endpoints sync";
    assert!(registry.gather().iter().any(|family| family.help() == help));
    let sums: Vec<f64> = registry
        .gather()
        .iter()
        .filter(|it| it.get_field_type() == MetricType::HISTOGRAM)
        .map(|it| it.get_metric()[0].get_histogram().get_sample_sum())
        .collect();
    assert_eq!(sums, [3.0, 1.0, 3.0, 0.002, 2.0], "durations in whole milliseconds (MI-5)");
}
