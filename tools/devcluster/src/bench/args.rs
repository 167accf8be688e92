//! Command-line arguments of the bench.

use std::{path::PathBuf, time::Duration};

use clap::{Args, ValueEnum};

use super::{
    controller_process::Template,
    settings::{Settings, Sizes},
};

/// Measures CPU, memory, traffic, writes and latencies of the controllers. The controllers and the API server run in
/// separate processes.
#[derive(Debug, Args)]
pub(crate) struct BenchArgs {
    /// Scenarios to measure, one after the other
    #[arg(value_enum, value_name = "SCENARIO", required_unless_present = "all")]
    pub(crate) scenarios: Vec<Scenario>,
    /// Measure all scenarios except `million`, and those that are named
    #[arg(long)]
    pub(crate) all: bool,
    /// Command line of the controllers, in which `{kubeconfig}`, `{batch_period}`, `{batching}`, `{qps}`, `{burst}` and
    /// `{content_type}` are replaced [default: the controller-manager in the directory of this program]
    #[arg(long, value_name = "COMMAND")]
    controller: Option<Template>,
    /// Let the controllers request JSON instead of protobuf
    #[arg(long)]
    json: bool,
    /// Connect over plain HTTP/1.1 instead of TLS and HTTP/2, which clusters use
    #[arg(long)]
    plain: bool,
    /// Measurements of each scenario, of which the table of goals shows minimum, median and maximum; growth is measured
    /// once
    #[arg(long, value_name = "NUMBER", value_parser = number, default_value = "1")]
    runs: usize,
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
    flips: Option<usize>,
    /// Pod changes, or handshakes, per second [default: depends on the scenario]
    #[arg(long, value_name = "NUMBER", value_parser = number)]
    rate: Option<usize>,
    /// Number of slow connections of serving
    #[arg(long, value_name = "NUMBER", value_parser = number)]
    connections: Option<usize>,
    /// Duration of each kind of load of serving
    #[arg(long, value_name = "DURATION", value_parser = duration)]
    load: Option<Duration>,
    /// Batch period of the controllers for Pod changes [default: 500ms; 0 for latency, growth, storm, rollouts and recreation]
    #[arg(long, value_name = "DURATION", value_parser = duration)]
    batch_period: Option<Duration>,
    /// Requests per second of each controller (--kube-api-qps)
    #[arg(long, value_name = "NUMBER", default_value_t = 2_000)]
    qps: u32,
    /// Burst of requests of each controller (--kube-api-burst)
    #[arg(long, value_name = "NUMBER", default_value_t = 4_000)]
    burst: u32,
    /// Seed of the random selection and order of the Pods that change
    #[arg(long, value_name = "NUMBER", default_value_t = 1)]
    seed: u64,
    /// Timeout of each scenario [default: 5m; 30m for million]
    #[arg(long, value_name = "DURATION", value_parser = duration)]
    timeout: Option<Duration>,
    /// Output format
    #[arg(long, value_name = "FORMAT", value_enum, default_value = "table")]
    pub(crate) output: Output,
    /// Directory for results.md, results.json and plots
    #[arg(long, value_name = "FOLDER")]
    pub(crate) report: Option<PathBuf>,
}

/// Scenarios.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, ValueEnum)]
pub(crate) enum Scenario {
    /// Initial sync of a cluster without Endpoints and slices: 20,000 Pods, 1,000 Services, 500 Nodes
    Start,
    /// Restart of the controllers in the same cluster, with all Endpoints and slices up to date
    Resume,
    /// Readiness changes of Pods in the same cluster
    Churn,
    /// Shadow mode beside another instance in the same cluster
    Shadow,
    /// Switch from one instance to another in the same cluster, without and with readiness changes
    Switch,
    /// Time from the change of a Pod's readiness to the change of its slice, at 20 and at 100 changes per second
    Latency,
    /// The same at 60 changes per second, with 20 requests per second and with --kube-api-qps=auto
    Limits,
    /// The HTTPS server while it is scraped and probed, under 5,000 handshakes per second, 10,000 slow connections, and a
    /// flood of unknown tokens
    Serving,
    /// One namespace with 3,000 Services and 3,000 Pods: initial sync, then readiness changes
    Namespace,
    /// Initial sync and restart with 150,000 Pods, 10,000 Services, 5,000 Nodes
    Big,
    /// Rolling update of a Service with 5,000 Pods, 100 Pods per second
    Rollout,
    /// Readiness changes of all 60 Pods of a Service, 100 per second, with and without adaptive batching
    Storm,
    /// Rolling updates of a Service with 60 and one with 5,000 Pods, with and without adaptive batching
    Rollouts,
    /// Recreation of all 600 Pods of a Service, 20 per second, with and without adaptive batching
    Recreation,
    /// CPU per Pod change and memory per Pod, for several sizes of clusters and namespaces
    Growth,
    /// Initial sync with 1,000,000 Pods, 50,000 Services, 5,000 Nodes, then 1,000 readiness changes per second. Needs 14
    /// GiB of memory; only measured if named
    Million,
}

impl Scenario {
    /// Returns whether `--all` includes the scenario.
    fn is_part_of_all(self) -> bool {
        self != Scenario::Million
    }

    /// Returns the default of `--timeout`.
    pub(crate) fn timeout(self) -> Duration {
        Duration::from_secs(if self == Scenario::Million { 30 * 60 } else { 5 * 60 })
    }
}

/// Output formats.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Output {
    /// Summary as a Markdown table
    Table,
    /// Complete results as JSON
    Json,
}

impl BenchArgs {
    /// Returns the selected scenarios without duplicates, in an order that allows reuse of loaded clusters.
    pub(crate) fn scenarios(&self) -> Vec<Scenario> {
        let mut chosen = self.scenarios.clone();
        if self.all {
            chosen.extend(Scenario::value_variants().iter().filter(|it| it.is_part_of_all()));
        }
        chosen.sort_unstable();
        chosen.dedup();
        chosen
    }

    /// Returns how often to measure a scenario. One measurement of `growth` compares many clusters already.
    pub(crate) fn runs(&self, scenario: Scenario) -> usize {
        if scenario == Scenario::Growth { 1 } else { self.runs }
    }

    /// Returns the settings of the measurements.
    pub(crate) fn settings(&self) -> Settings {
        Settings {
            controller: self.controller.clone(),
            json: self.json,
            plain: self.plain,
            sizes: Sizes { pods: self.pods, services: self.services, nodes: self.nodes },
            flips: self.flips,
            rate: self.rate,
            connections: self.connections,
            load: self.load,
            batch_period: self.batch_period,
            qps: self.qps,
            burst: self.burst,
            seed: self.seed,
            timeout: self.timeout,
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
