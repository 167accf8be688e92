//! Command-line arguments of the bench.

use std::time::Duration;

use clap::{Args, ValueEnum};
use kube_dev_apiserver::Population;

use super::controller_process::Template;

/// Measures CPU, memory, writes and latencies of the controllers. The controllers and the API server run in separate
/// processes.
#[derive(Debug, Clone, Args)]
pub(crate) struct BenchArgs {
    /// Scenarios to measure, one after the other
    #[arg(value_enum, value_name = "SCENARIO", required_unless_present = "all")]
    pub(crate) scenarios: Vec<Scenario>,
    /// Measure all scenarios
    #[arg(long)]
    pub(crate) all: bool,
    /// Command line of the controllers, in which `{kubeconfig}` and `{batch_period}` are replaced [default: the
    /// controller-manager in the directory of this program]
    #[arg(long, value_name = "COMMAND")]
    pub(crate) controller: Option<Template>,
    /// Measurements of each scenario, of which the table shows minimum, median and maximum
    #[arg(long, value_name = "NUMBER", value_parser = number, default_value = "1")]
    pub(crate) runs: usize,
    /// Number of Pods [default: depends on the scenario]
    #[arg(long, value_name = "NUMBER", value_parser = number)]
    pods: Option<usize>,
    /// Number of Services [default: depends on the scenario]
    #[arg(long, value_name = "NUMBER", value_parser = number)]
    services: Option<usize>,
    /// Number of Nodes [default: depends on the scenario]
    #[arg(long, value_name = "NUMBER", value_parser = number)]
    nodes: Option<usize>,
    /// Total number of readiness changes [default: depends on the scenario]
    #[arg(long, value_name = "NUMBER", value_parser = number)]
    pub(crate) flips: Option<usize>,
    /// Readiness changes per second [default: depends on the scenario]
    #[arg(long, value_name = "NUMBER", value_parser = number)]
    pub(crate) rate: Option<usize>,
    /// Batch period of the controllers for Pod changes [default: 500ms; 0 for latency]
    #[arg(long, value_name = "DURATION", value_parser = duration)]
    pub(crate) batch_period: Option<Duration>,
    /// Timeout of each scenario
    #[arg(long, value_name = "DURATION", value_parser = duration, default_value = "5m")]
    pub(crate) timeout: Duration,
    /// Output format
    #[arg(long, value_name = "FORMAT", value_enum, default_value = "table")]
    pub(crate) output: Output,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, ValueEnum)]
pub(crate) enum Scenario {
    /// Initial sync of a cluster without Endpoints and slices: 20,000 Pods, 1,000 Services, 500 Nodes
    Start,
    /// Restart of the controllers in the same cluster, with all Endpoints and slices up to date
    Resume,
    /// Readiness changes of Pods in the same cluster
    Churn,
    /// Time from the change of a Pod's readiness to the change of its slice, at 20 and at 100 changes per second
    Latency,
    /// One namespace with 3,000 Services and 3,000 Pods: initial sync, then readiness changes
    Namespace,
    /// Initial sync of 150,000 Pods, 10,000 Services, 5,000 Nodes
    Big,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Output {
    /// Measurements and goals as a Markdown table
    Table,
    /// Complete results as JSON
    Json,
}

impl BenchArgs {
    /// Returns the selected scenarios without duplicates, in an order that allows reuse of loaded clusters.
    pub(crate) fn scenarios(&self) -> Vec<Scenario> {
        let mut chosen = self.scenarios.clone();
        if self.all {
            chosen.extend(Scenario::value_variants());
        }
        chosen.sort_unstable();
        chosen.dedup();
        chosen
    }

    /// Returns the size of the cluster; values that are not given are those of `default`.
    pub(crate) fn population(&self, default: Population) -> Population {
        Population {
            pods: self.pods.unwrap_or(default.pods),
            services: self.services.unwrap_or(default.services),
            nodes: self.nodes.unwrap_or(default.nodes),
            ..default
        }
    }
}

fn number(text: &str) -> Result<usize, String> {
    match text.replace([',', '_'], "").parse() {
        Ok(0) => Err("must be at least 1".to_owned()),
        Ok(number) => Ok(number),
        Err(_) => Err("not a number".to_owned()),
    }
}

fn duration(text: &str) -> Result<Duration, String> {
    // As in Go, 0 needs no unit.
    let text = if text == "0" { "0s" } else { text };
    let duration: jiff::SignedDuration = text.parse().map_err(|error: jiff::Error| error.to_string())?;
    duration.try_into().map_err(|_| "must not be negative".to_owned())
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("0", Some(0))]
    #[case("500ms", Some(500))]
    #[case("5m", Some(300_000))]
    #[case("-1s", None)]
    #[case("5", None)]
    fn durations(#[case] text: &str, #[case] milliseconds: Option<u64>) {
        assert_eq!(duration(text).ok(), milliseconds.map(Duration::from_millis));
    }

    #[rstest]
    #[case("20,000", Some(20_000))]
    #[case("0", None)]
    #[case("many", None)]
    fn numbers(#[case] text: &str, #[case] expect: Option<usize>) {
        assert_eq!(number(text).ok(), expect);
    }
}
