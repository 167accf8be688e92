//! Metrics as text: Prometheus' own format, or `OpenMetrics` where it is asked for.

use std::fmt::Write as _;

use http::StatusCode;
use prometheus::proto::{LabelPair, MetricFamily, MetricType};
use prometheus::{Encoder as _, TextEncoder};

use super::answer::{self, Answer};

const PLAIN: &str = "text/plain; version=0.0.4; charset=utf-8";
const OPEN: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// All metrics, in the form that the client prefers.
pub(super) fn answer(families: &[MetricFamily], accept: &str) -> Answer {
    if accept.split(',').any(|range| range.trim_start().starts_with("application/openmetrics-text")) {
        return answer::of(StatusCode::OK, OPEN, open_metrics(families));
    }
    let mut text = Vec::new();
    match TextEncoder::new().encode(families, &mut text) {
        Ok(()) => answer::of(StatusCode::OK, PLAIN, text),
        Err(error) => answer::text(StatusCode::INTERNAL_SERVER_ERROR, format!("cannot encode metrics: {error}\n")),
    }
}

/// The `prometheus` crate writes only its own format; they differ in the names of counters, in numbers, and in the end.
fn open_metrics(families: &[MetricFamily]) -> String {
    let mut out = String::new();
    for family in families {
        let name = family.name();
        let kind = family.get_field_type();
        // A counter is named without its suffix, its sample with it.
        let base = if kind == MetricType::COUNTER { name.strip_suffix("_total").unwrap_or(name) } else { name };
        let type_name = match kind {
            MetricType::COUNTER => "counter",
            MetricType::GAUGE => "gauge",
            MetricType::HISTOGRAM => "histogram",
            MetricType::SUMMARY => "summary",
            MetricType::UNTYPED => "unknown",
        };
        // Writing to a string cannot fail.
        let _ = writeln!(out, "# HELP {base} {}\n# TYPE {base} {type_name}", escaped(family.help()));
        for metric in family.get_metric() {
            let labels = metric.get_label();
            match kind {
                MetricType::COUNTER => {
                    sample(&mut out, base, "_total", labels, None, metric.get_counter().get_value());
                }
                MetricType::GAUGE => sample(&mut out, base, "", labels, None, metric.get_gauge().get_value()),
                MetricType::HISTOGRAM => {
                    let histogram = metric.get_histogram();
                    for bucket in histogram.get_bucket() {
                        let bound = number(bucket.upper_bound());
                        count(&mut out, base, "_bucket", labels, Some(&bound), bucket.cumulative_count());
                    }
                    // The last bucket is not among those of the crate.
                    if histogram.get_bucket().last().is_none_or(|bucket| bucket.upper_bound().is_finite()) {
                        count(&mut out, base, "_bucket", labels, Some("+Inf"), histogram.get_sample_count());
                    }
                    count(&mut out, base, "_count", labels, None, histogram.get_sample_count());
                    sample(&mut out, base, "_sum", labels, None, histogram.get_sample_sum());
                }
                // None of ours.
                MetricType::SUMMARY | MetricType::UNTYPED => {}
            }
        }
    }
    out.push_str("# EOF\n");
    out
}

fn count(out: &mut String, name: &str, suffix: &str, labels: &[LabelPair], bound: Option<&str>, value: u64) {
    let _ = writeln!(out, "{name}{suffix}{} {value}", braces(labels, bound));
}

fn sample(out: &mut String, name: &str, suffix: &str, labels: &[LabelPair], bound: Option<&str>, value: f64) {
    let _ = writeln!(out, "{name}{suffix}{} {}", braces(labels, bound), number(value));
}

fn braces(labels: &[LabelPair], bound: Option<&str>) -> String {
    let mut pairs: Vec<String> =
        labels.iter().map(|label| format!("{}=\"{}\"", label.name(), escaped(label.value()))).collect();
    pairs.extend(bound.map(|bound| format!("le=\"{bound}\"")));
    if pairs.is_empty() { String::new() } else { format!("{{{}}}", pairs.join(",")) }
}

/// Whole numbers with a point, as `OpenMetrics` wants bounds.
fn number(value: f64) -> String {
    match value {
        f64::INFINITY => "+Inf".to_owned(),
        f64::NEG_INFINITY => "-Inf".to_owned(),
        value if value.is_nan() => "NaN".to_owned(),
        value => format!("{value:?}"),
    }
}

fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('\n', "\\n").replace('"', "\\\"")
}

#[cfg(test)]
mod tests {
    use prometheus::{HistogramOpts, HistogramVec, IntCounterVec, IntGauge, Opts, Registry};

    use super::*;

    fn registry() -> Registry {
        let registry = Registry::new();
        let counter = IntCounterVec::new(Opts::new("adds_total", "Adds of \"q\"."), &["name"]).unwrap();
        counter.with_label_values(&["a\\b"]).inc_by(3);
        let gauge = IntGauge::new("depth", "Depth.").unwrap();
        gauge.set(7);
        let options = HistogramOpts::new("seconds", "Time.").buckets(vec![0.5, 1.0]);
        let histogram = HistogramVec::new(options, &["name"]).unwrap();
        histogram.with_label_values(&["x"]).observe(0.75);
        registry.register(Box::new(counter)).unwrap();
        registry.register(Box::new(gauge)).unwrap();
        registry.register(Box::new(histogram)).unwrap();
        registry
    }

    #[test]
    fn open_metrics_as_specified() {
        let expect = r#"# HELP adds Adds of \"q\".
# TYPE adds counter
adds_total{name="a\\b"} 3.0
# HELP depth Depth.
# TYPE depth gauge
depth 7.0
# HELP seconds Time.
# TYPE seconds histogram
seconds_bucket{name="x",le="0.5"} 0
seconds_bucket{name="x",le="1.0"} 1
seconds_bucket{name="x",le="+Inf"} 1
seconds_count{name="x"} 1
seconds_sum{name="x"} 0.75
# EOF
"#;
        assert_eq!(open_metrics(&registry().gather()), expect);
    }

    #[test]
    fn the_client_chooses() {
        let families = registry().gather();
        let kind = |accept| answer(&families, accept).headers()["content-type"].to_str().unwrap().to_owned();
        assert_eq!(kind(""), PLAIN);
        assert_eq!(kind("text/plain"), PLAIN);
        assert_eq!(kind("application/openmetrics-text;version=1.0.0;q=0.5,text/plain;q=0.1"), OPEN);
    }
}
