//! The command line of the bench.

use std::{path::PathBuf, time::Duration};

use clap::{Args, ValueEnum};

use super::{
    settings::{Settings, Sizes},
    subject::Template,
};

/// Measures CPU, memory, bytes, writes and latencies of the controllers, in a process of their own, against this program's
/// API server in another.
#[derive(Debug, Args)]
pub(crate) struct BenchArgs {
    /// What to measure; several are measured one after the other
    #[arg(value_enum, value_name = "SCENARIO", required_unless_present = "all")]
    pub(crate) scenarios: Vec<Scenario>,
    /// Measure everything
    #[arg(long, conflicts_with = "scenarios")]
    pub(crate) all: bool,
    /// The controllers to measure, by default the controller-manager beside this program. `{kubeconfig}`, `{batch_period}`,
    /// `{qps}`, `{burst}` and `{content_type}` are filled in
    #[arg(long, value_name = "COMMAND")]
    controller: Option<Template>,
    /// Have the controllers read JSON instead of protobuf
    #[arg(long)]
    json: bool,
    /// Pods, instead of what the scenario has
    #[arg(long, value_name = "NUMBER", value_parser = number)]
    pods: Option<usize>,
    /// Services, instead of what the scenario has
    #[arg(long, value_name = "NUMBER", value_parser = number)]
    services: Option<usize>,
    /// Nodes, instead of what the scenario has
    #[arg(long, value_name = "NUMBER", value_parser = number)]
    nodes: Option<usize>,
    /// How often the readiness of a Pod changes where that is measured
    #[arg(long, value_name = "NUMBER", value_parser = number)]
    flips: Option<usize>,
    /// Changes of Pods a second, instead of what the scenario has
    #[arg(long, value_name = "NUMBER", value_parser = number)]
    rate: Option<usize>,
    /// How long the controllers gather changes of Pods; `latency` gathers none unless this is given [default: 500ms]
    #[arg(long, value_name = "DURATION", value_parser = duration)]
    batch_period: Option<Duration>,
    /// Requests a second that each controller may make
    #[arg(long, value_name = "NUMBER", default_value_t = 2_000)]
    qps: u32,
    /// Requests that each controller may make at once
    #[arg(long, value_name = "NUMBER", default_value_t = 4_000)]
    burst: u32,
    /// Which Pods change, and in what order
    #[arg(long, value_name = "NUMBER", default_value_t = 1)]
    seed: u64,
    /// How long each measurement may take
    #[arg(long, value_name = "DURATION", default_value = "5m", value_parser = duration)]
    timeout: Duration,
    /// What to print
    #[arg(long, value_name = "FORMAT", value_enum, default_value = "table")]
    pub(crate) output: Output,
    /// A folder for results.md, results.json and plots
    #[arg(long, value_name = "FOLDER")]
    pub(crate) report: Option<PathBuf>,
}

/// What can be measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, ValueEnum)]
pub(crate) enum Scenario {
    /// From nothing to everything written: 20,000 Pods, 1,000 Services, 500 Nodes
    Start,
    /// The same with everything in place
    Resume,
    /// Pods of these become unready and ready again
    Churn,
    /// How soon a slice tells that a Pod's readiness has changed, at 20 and at 100 changes a second
    Latency,
    /// One namespace of 3,000 Services and 3,000 Pods: filling it, then churn
    Namespace,
    /// 150,000 Pods, 10,000 Services, 5,000 Nodes
    Big,
    /// A rolling update of a Service of 5,000 Pods, 100 a second
    Rollout,
    /// What a change of a Pod costs, and a Pod that does nothing, in clusters from small to large
    Growth,
}

/// What is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Output {
    /// A table to look at
    Table,
    /// All figures
    Json,
}

impl BenchArgs {
    /// What is measured, each thing once, in an order in which clusters are used again.
    pub(crate) fn scenarios(&self) -> Vec<Scenario> {
        let mut chosen = if self.all { Scenario::value_variants().to_vec() } else { self.scenarios.clone() };
        chosen.sort_unstable();
        chosen.dedup();
        chosen
    }

    /// How it is measured.
    pub(crate) fn settings(&self) -> Settings {
        Settings {
            controller: self.controller.clone(),
            json: self.json,
            sizes: Sizes { pods: self.pods, services: self.services, nodes: self.nodes },
            flips: self.flips,
            rate: self.rate,
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
    // A lone 0 has no unit, as in Go.
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
