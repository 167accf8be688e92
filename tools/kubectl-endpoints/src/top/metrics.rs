//! Metrics of the controllers: queue depth and the time from the event of a change to its write.

use std::collections::BTreeMap;
use std::time::Duration;

use super::duration::short;

const QUEUE_DEPTH: &str = "workqueue_depth";
const PROPAGATION: &str = "endpoint_controllers_propagation_duration_seconds_bucket";

/// Values of one response.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Reading {
    /// Depth of the work queues by name.
    queues: BTreeMap<String, f64>,
    /// Histogram of the propagation, summed over its labels: upper bounds in seconds, ascending, with the cumulative
    /// numbers of observations.
    buckets: Vec<(f64, f64)>,
}

impl Reading {
    /// Parses the Prometheus text format. Lines that do not belong to the two metrics, or that are malformed, are
    /// ignored.
    pub(crate) fn parse(text: &str) -> Self {
        let mut reading = Self::default();
        for (name, labels, value) in text.lines().filter_map(sample) {
            match name {
                QUEUE_DEPTH => {
                    if let Some(queue) = label(labels, "name") {
                        reading.queues.insert(queue.to_owned(), value);
                    }
                }
                PROPAGATION => {
                    let bound = label(labels, "le").and_then(|le| le.parse::<f64>().ok());
                    if let Some(bound) = bound {
                        reading.add(bound, value);
                    }
                }
                _ => {}
            }
        }
        reading.buckets.sort_by(|a, b| a.0.total_cmp(&b.0));
        reading
    }

    fn add(&mut self, bound: f64, count: f64) {
        match self.buckets.iter_mut().find(|(other, _)| other.total_cmp(&bound).is_eq()) {
            Some((_, sum)) => *sum += count,
            None => self.buckets.push((bound, count)),
        }
    }

    /// Returns the number of observations.
    fn observations(&self) -> f64 {
        self.buckets.last().map_or(0.0, |(_, count)| *count)
    }

    /// Returns the bucket of a quantile of the observations after `base`, as an upper bound; `None` without an
    /// observation.
    fn quantile(&self, base: &Reading, quantile: f64) -> Option<String> {
        let before = |at: usize| base.buckets.get(at).map_or(0.0, |(_, count)| *count);
        let counts: Vec<_> = self.buckets.iter().enumerate().map(|(at, (le, n))| (*le, n - before(at))).collect();
        let total = counts.last().map(|(_, count)| *count).filter(|total| *total > 0.0)?;
        let at = counts.iter().position(|(_, count)| *count >= quantile * total)?;
        match counts[at].0 {
            bound if bound.is_finite() => Some(format!("<= {}", short(Duration::try_from_secs_f64(bound).ok()?))),
            _ => {
                let bound = at.checked_sub(1).map_or(0.0, |at| counts[at].0);
                Some(format!("> {}", short(Duration::try_from_secs_f64(bound).ok()?)))
            }
        }
    }
}

/// Splits a line into the name of the metric, its labels, and the value; `None` for comments and malformed lines.
fn sample(line: &str) -> Option<(&str, &str, f64)> {
    let (name, rest) = line.split_once('{')?;
    let (labels, value) = rest.rsplit_once("} ")?;
    Some((name, labels, value.split(' ').next()?.parse().ok()?))
}

/// Returns the value of a label. No value of the two metrics contains a comma or a quotation mark.
fn label<'a>(labels: &'a str, name: &str) -> Option<&'a str> {
    labels.split(',').find_map(|pair| pair.strip_prefix(name)?.strip_prefix("=\"")?.strip_suffix('"'))
}

/// Metrics since the start of the program.
#[derive(Clone, Debug, Default)]
pub(crate) struct Metrics {
    /// Reading from which observations are counted: the first one of this process of the controllers.
    base: Option<Reading>,
    /// Last successful reading; `None` before the first one.
    last: Option<Reading>,
    /// Whether the last reading failed.
    failed: bool,
}

impl Metrics {
    /// Applies a reading; `None` if the metrics could not be read.
    pub(crate) fn update(&mut self, reading: Option<Reading>) {
        self.failed = reading.is_none();
        let Some(reading) = reading else { return };
        match &self.base {
            None => self.base = Some(reading.clone()),
            // The controllers were restarted: all their observations are new.
            Some(base) if reading.observations() < base.observations() => self.base = Some(Reading::default()),
            Some(_) => {}
        }
        self.last = Some(reading);
    }

    /// Returns the line of the header.
    pub(crate) fn line(&self) -> String {
        if self.failed {
            return "metrics: unreachable".to_owned();
        }
        let (Some(last), Some(base)) = (&self.last, &self.base) else { return "metrics: loading".to_owned() };
        let depth: f64 = last.queues.values().sum();
        let busy = last.queues.iter().filter(|(_, depth)| **depth > 0.0).map(|(name, depth)| format!("{name} {depth}"));
        let busy: Vec<_> = busy.collect();
        let busy = if busy.is_empty() { String::new() } else { format!(" ({})", busy.join(", ")) };
        let latency = match (last.quantile(base, 0.5), last.quantile(base, 0.99)) {
            (Some(p50), Some(p99)) => format!("p50 {p50}, p99 {p99}"),
            _ => "-".to_owned(),
        };
        format!("metrics: queue depth {depth}{busy}, event to write {latency}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    /// Returns a response with the numbers of observations below 1 ms, below 1 s, and in total, in two series.
    fn response(depth: u8, [low, high, all]: [u32; 3]) -> String {
        let bucket = |cause: &str, le: &str, count: u32| {
            format!(
                "endpoint_controllers_propagation_duration_seconds_bucket{{cause=\"{cause}\",\
                 controller=\"endpointslice-controller\",le=\"{le}\"}} {count}\n"
            )
        };
        format!(
            "# HELP workqueue_depth Current depth of workqueue\n# TYPE workqueue_depth gauge\n\
             workqueue_depth{{name=\"endpoint\"}} 0\nworkqueue_depth{{name=\"endpoint_slice\"}} {depth}\n\
             workqueue_adds_total{{name=\"endpoint\"}} 5\nprocess_start_time_seconds 7\n{}{}{}{}{}{}",
            bucket("pods", "0.001", low),
            bucket("pods", "1", high),
            bucket("pods", "+Inf", all),
            bucket("nodes", "0.001", 0),
            bucket("nodes", "1", 0),
            bucket("nodes", "+Inf", 0),
        )
    }

    #[rstest]
    #[case::no_observation(0, &[[3, 5, 5]], "metrics: queue depth 0, event to write -")]
    #[case::since_the_start(
        2, &[[3, 5, 5], [4, 7, 7]],
        "metrics: queue depth 2 (endpoint_slice 2), event to write p50 <= 1 ms, p99 <= 1.00 s")]
    #[case::beyond_the_last_bound(
        0, &[[3, 5, 5], [3, 5, 6]], "metrics: queue depth 0, event to write p50 > 1.00 s, p99 > 1.00 s")]
    #[case::restarted(
        0, &[[3, 5, 5], [1, 1, 1]], "metrics: queue depth 0, event to write p50 <= 1 ms, p99 <= 1 ms")]
    fn lines(#[case] depth: u8, #[case] readings: &[[u32; 3]], #[case] expected: &str) {
        let mut metrics = Metrics::default();
        for counts in readings {
            metrics.update(Some(Reading::parse(&response(depth, *counts))));
        }
        assert_eq!(metrics.line(), expected);
    }

    #[test]
    fn unreachable_until_the_next_reading() {
        let mut metrics = Metrics::default();
        assert_eq!(metrics.line(), "metrics: loading");
        metrics.update(Some(Reading::parse(&response(0, [1, 1, 1]))));
        metrics.update(None);
        assert_eq!(metrics.line(), "metrics: unreachable");
        metrics.update(Some(Reading::parse(&response(0, [2, 2, 2]))));
        assert_eq!(metrics.line(), "metrics: queue depth 0, event to write p50 <= 1 ms, p99 <= 1 ms");
    }

    #[rstest]
    #[case::empty("")]
    #[case::comment("# TYPE workqueue_depth gauge")]
    #[case::no_labels("workqueue_depth 3")]
    #[case::no_value("workqueue_depth{name=\"a\"} ")]
    #[case::no_number("workqueue_depth{name=\"a\"} x")]
    #[case::other_label("workqueue_depth{rename=\"a\"} 1")]
    fn other_lines_are_ignored(#[case] text: &str) {
        assert_eq!(Reading::parse(text), Reading::default());
    }
}
