//! Encodes metrics in Prometheus' text format, version 0.0.4.

use std::fmt::Write as _;

use http::StatusCode;
use prometheus::proto::{LabelPair, Metric, MetricFamily, MetricType};

use crate::response::{self, Response};

const CONTENT_TYPE: &str = "text/plain; version=0.0.4; charset=utf-8";

pub(crate) fn respond(families: &[MetricFamily]) -> Response {
    response::of(StatusCode::OK, CONTENT_TYPE, encode(families))
}

/// Encodes metric families as Prometheus' Go library does.
///
/// The encoder of the `prometheus` crate formats numbers as Rust does: the bucket that Go writes as `le="1.048576e+06"`
/// would become a different series.
fn encode(families: &[MetricFamily]) -> String {
    let mut out = String::new();
    for family in families {
        let (name, kind) = (family.name(), family.get_field_type());
        let type_name = match kind {
            MetricType::COUNTER => "counter",
            MetricType::GAUGE => "gauge",
            MetricType::HISTOGRAM => "histogram",
            // Not used by this program.
            MetricType::SUMMARY | MetricType::UNTYPED => continue,
        };
        // Writing to a string cannot fail.
        let _ = writeln!(out, "# HELP {name} {}\n# TYPE {name} {type_name}", escape(family.help(), false));
        for metric in family.get_metric() {
            let labels = metric.get_label();
            match kind {
                MetricType::COUNTER => sample(&mut out, name, labels, None, metric.get_counter().get_value()),
                MetricType::GAUGE => sample(&mut out, name, labels, None, metric.get_gauge().get_value()),
                _ => histogram(&mut out, name, metric),
            }
        }
    }
    out
}

fn histogram(out: &mut String, name: &str, metric: &Metric) {
    let (histogram, labels) = (metric.get_histogram(), metric.get_label());
    let [bucket, sum, count] = ["bucket", "sum", "count"].map(|suffix| format!("{name}_{suffix}"));
    for it in histogram.get_bucket().iter().filter(|it| it.upper_bound().is_finite()) {
        sample(out, &bucket, labels, Some(it.upper_bound()), float(it.cumulative_count()));
    }
    sample(out, &bucket, labels, Some(f64::INFINITY), float(histogram.get_sample_count()));
    sample(out, &sum, labels, None, histogram.get_sample_sum());
    sample(out, &count, labels, None, float(histogram.get_sample_count()));
}

/// Writes one sample; `bound` is the upper bound of a bucket.
fn sample(out: &mut String, name: &str, labels: &[LabelPair], bound: Option<f64>, value: f64) {
    let mut pairs: Vec<String> =
        labels.iter().map(|label| format!("{}=\"{}\"", label.name(), escape(label.value(), true))).collect();
    pairs.extend(bound.map(|bound| format!("le=\"{}\"", go_float(bound))));
    let labels = if pairs.is_empty() { String::new() } else { format!("{{{}}}", pairs.join(",")) };
    let _ = writeln!(out, "{name}{labels} {}", go_float(value));
}

/// Formats a number as Go's `strconv.FormatFloat(value, 'g', -1, 64)`: the shortest text that parses to the same
/// number, in exponent form below 10^-4 and from 10^6 on.
fn go_float(value: f64) -> String {
    if value.is_nan() {
        return "NaN".to_owned();
    }
    if value.is_infinite() {
        return if value > 0.0 { "+Inf" } else { "-Inf" }.to_owned();
    }
    let scientific = format!("{value:e}");
    let (digits, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or_default();
    if (-4..6).contains(&exponent) {
        return format!("{value}");
    }
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{digits}e{sign}{:02}", exponent.unsigned_abs())
}

/// Returns a count, which is exact below 2^53.
#[expect(clippy::cast_precision_loss)]
fn float(count: u64) -> f64 {
    count as f64
}

fn escape(text: &str, quotes: bool) -> String {
    let text = text.replace('\\', "\\\\").replace('\n', "\\n");
    if quotes { text.replace('"', "\\\"") } else { text }
}

#[cfg(test)]
mod tests {
    use prometheus::{HistogramOpts, HistogramVec, IntCounterVec, IntGauge, Opts, Registry};
    use rstest::rstest;

    use super::*;

    fn registry() -> Registry {
        let registry = Registry::new();
        let counter = IntCounterVec::new(Opts::new("adds_total", "Adds of \"q\"."), &["name"]).unwrap();
        counter.with_label_values(&["a\\b\"c"]).inc_by(3);
        let gauge = IntGauge::new("depth", "Depth.").unwrap();
        gauge.set(12_345_678);
        let options = HistogramOpts::new("seconds", "Time.").buckets(vec![0.00001, 1.0, 1_048_576.0]);
        let histogram = HistogramVec::new(options, &["name"]).unwrap();
        histogram.with_label_values(&["x"]).observe(0.75);
        registry.register(Box::new(counter)).unwrap();
        registry.register(Box::new(gauge)).unwrap();
        registry.register(Box::new(histogram)).unwrap();
        registry
    }

    #[test]
    fn text_format_matches_client_golang() {
        let expect = r#"# HELP adds_total Adds of "q".
# TYPE adds_total counter
adds_total{name="a\\b\"c"} 3
# HELP depth Depth.
# TYPE depth gauge
depth 1.2345678e+07
# HELP seconds Time.
# TYPE seconds histogram
seconds_bucket{name="x",le="1e-05"} 0
seconds_bucket{name="x",le="1"} 1
seconds_bucket{name="x",le="1.048576e+06"} 1
seconds_bucket{name="x",le="+Inf"} 1
seconds_sum{name="x"} 0.75
seconds_count{name="x"} 1
"#;
        assert_eq!(encode(&registry().gather()), expect);
    }

    #[rstest]
    #[case(0.0, "0")]
    #[case(-1.5, "-1.5")]
    #[case(0.0001, "0.0001")]
    #[case(0.000_01, "1e-05")]
    #[case(9.999_999_999_999_999e-6, "9.999999999999999e-06")]
    #[case(123_456.0, "123456")]
    #[case(1_000_000.0, "1e+06")]
    #[case(2.949_703_294e9, "2.949703294e+09")]
    #[case(1.844_674_407_370_955_2e19, "1.8446744073709552e+19")]
    #[case(1e100, "1e+100")]
    #[case(f64::NAN, "NaN")]
    #[case(f64::INFINITY, "+Inf")]
    #[case(f64::NEG_INFINITY, "-Inf")]
    fn floats_are_formatted_as_in_go(#[case] value: f64, #[case] expect: &str) {
        assert_eq!(go_float(value), expect);
    }
}
