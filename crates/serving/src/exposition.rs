//! Encodes metrics in Prometheus' text format, or as `OpenMetrics` if the client accepts it.

use std::fmt::Write as _;

use http::StatusCode;
use prometheus::proto::{LabelPair, Metric, MetricFamily, MetricType};

use crate::response::{self, Response};

/// The two formats. They differ in the names of counters, in numbers, in escaping, and in the final `# EOF`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Format {
    /// Prometheus' text format 0.0.4.
    Text,
    /// `OpenMetrics` 1.0.0.
    OpenMetrics,
}

impl Format {
    /// Returns `OpenMetrics` if the `Accept` header lists it, at any quality.
    fn negotiate(accept: &str) -> Format {
        let accepts_open_metrics =
            accept.split(',').any(|range| range.trim_start().starts_with("application/openmetrics-text"));
        if accepts_open_metrics { Format::OpenMetrics } else { Format::Text }
    }

    fn content_type(self) -> &'static str {
        match self {
            Format::Text => "text/plain; version=0.0.4; charset=utf-8",
            Format::OpenMetrics => "application/openmetrics-text; version=1.0.0; charset=utf-8",
        }
    }

    fn number(self, value: f64) -> String {
        let mut text = go_float(value);
        if self == Format::OpenMetrics && value.is_finite() && !text.contains(['.', 'e']) {
            text.push_str(".0");
        }
        text
    }
}

/// Returns the response with all metrics, in the format that the `Accept` header selects.
pub(crate) fn respond(families: &[MetricFamily], accept: &str) -> Response {
    let format = Format::negotiate(accept);
    response::of(StatusCode::OK, format.content_type(), encode(families, format))
}

/// Encodes metric families as Prometheus' Go library does.
///
/// The encoder of the `prometheus` crate has no `OpenMetrics` and formats numbers as Rust does: the bucket that Go
/// writes as `le="1.048576e+06"` would become a different series.
fn encode(families: &[MetricFamily], format: Format) -> String {
    let mut out = String::new();
    for family in families {
        let kind = family.get_field_type();
        let (base, total) = match (kind, format) {
            // In OpenMetrics, the family of a counter is named without `_total`, its samples with it.
            (MetricType::COUNTER, Format::OpenMetrics) => {
                (family.name().strip_suffix("_total").unwrap_or(family.name()), "_total")
            }
            _ => (family.name(), ""),
        };
        let type_name = match kind {
            MetricType::COUNTER => "counter",
            MetricType::GAUGE => "gauge",
            MetricType::HISTOGRAM => "histogram",
            // Not used by this program.
            MetricType::SUMMARY | MetricType::UNTYPED => continue,
        };
        let help = escape(family.help(), format == Format::OpenMetrics);
        // Writing to a string cannot fail.
        let _ = writeln!(out, "# HELP {base} {help}\n# TYPE {base} {type_name}");
        let mut samples = SampleWriter { out: &mut out, base, format };
        for metric in family.get_metric() {
            let labels = metric.get_label();
            match kind {
                MetricType::COUNTER => samples.sample(total, labels, metric.get_counter().get_value()),
                MetricType::GAUGE => samples.sample("", labels, metric.get_gauge().get_value()),
                _ => samples.histogram(metric),
            }
        }
    }
    if format == Format::OpenMetrics {
        out.push_str("# EOF\n");
    }
    out
}

/// Writes the samples of one metric family.
struct SampleWriter<'a> {
    out: &'a mut String,
    base: &'a str,
    format: Format,
}

impl SampleWriter<'_> {
    fn sample(&mut self, suffix: &str, labels: &[LabelPair], value: f64) {
        let (base, labels, value) = (self.base, label_set(labels, None), self.format.number(value));
        let _ = writeln!(self.out, "{base}{suffix}{labels} {value}");
    }

    fn count(&mut self, suffix: &str, labels: &[LabelPair], bound: Option<&str>, count: u64) {
        let (base, labels) = (self.base, label_set(labels, bound));
        let _ = writeln!(self.out, "{base}{suffix}{labels} {count}");
    }

    fn histogram(&mut self, metric: &Metric) {
        let (histogram, labels) = (metric.get_histogram(), metric.get_label());
        for bucket in histogram.get_bucket().iter().filter(|bucket| bucket.upper_bound().is_finite()) {
            let bound = self.format.number(bucket.upper_bound());
            self.count("_bucket", labels, Some(&bound), bucket.cumulative_count());
        }
        self.count("_bucket", labels, Some("+Inf"), histogram.get_sample_count());
        self.sample("_sum", labels, histogram.get_sample_sum());
        self.count("_count", labels, None, histogram.get_sample_count());
    }
}

fn label_set(labels: &[LabelPair], bound: Option<&str>) -> String {
    let mut pairs: Vec<String> =
        labels.iter().map(|label| format!("{}=\"{}\"", label.name(), escape(label.value(), true))).collect();
    pairs.extend(bound.map(|bound| format!("le=\"{bound}\"")));
    if pairs.is_empty() { String::new() } else { format!("{{{}}}", pairs.join(",")) }
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
        assert_eq!(encode(&registry().gather(), Format::Text), expect);
    }

    #[test]
    fn open_metrics_format_matches_the_specification() {
        let expect = r#"# HELP adds Adds of \"q\".
# TYPE adds counter
adds_total{name="a\\b\"c"} 3.0
# HELP depth Depth.
# TYPE depth gauge
depth 1.2345678e+07
# HELP seconds Time.
# TYPE seconds histogram
seconds_bucket{name="x",le="1e-05"} 0
seconds_bucket{name="x",le="1.0"} 1
seconds_bucket{name="x",le="1.048576e+06"} 1
seconds_bucket{name="x",le="+Inf"} 1
seconds_sum{name="x"} 0.75
seconds_count{name="x"} 1
# EOF
"#;
        assert_eq!(encode(&registry().gather(), Format::OpenMetrics), expect);
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

    #[test]
    fn accept_header_selects_the_format() {
        assert_eq!(Format::negotiate(""), Format::Text);
        assert_eq!(Format::negotiate("text/plain"), Format::Text);
        assert_eq!(
            Format::negotiate("application/openmetrics-text;version=1.0.0;q=0.5,text/plain;q=0.1"),
            Format::OpenMetrics
        );
    }
}
