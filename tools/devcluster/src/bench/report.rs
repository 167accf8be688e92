//! Report of the measurements: a Markdown table, with the goals and the figures of the Go controllers, or JSON.

use std::fmt::Write as _;

use indicatif::HumanCount;
use jiff::Timestamp;
use serde::Serialize;

use super::{
    figure::{Figure, cpu, cpu_of_a_flip, latest, memory, p50, p99, writes},
    outcome::Outcome,
};

/// Results of all measurements.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Report {
    pub(crate) date: Timestamp,
    pub(crate) machine: String,
    pub(crate) controller: String,
    pub(crate) outcomes: Vec<Outcome>,
}

/// What is known about a measurement.
struct Goal {
    name: &'static str,
    work: &'static str,
    /// Measurement of kube-controller-manager 1.36.2, see `docs/src/scale.md`.
    go: &'static str,
    figures: &'static [Figure],
}

const GOALS: &[Goal] = &[
    Goal {
        name: "start",
        work: "start to everything written",
        go: "4.9 s CPU, 482 MiB",
        figures: &[cpu(0.5), memory(30.0)],
    },
    Goal {
        name: "resume",
        work: "start with everything in place",
        go: "4.2 s CPU, 550 MiB, 0 writes",
        figures: &[cpu(0.25), memory(25.0), writes(0.0)],
    },
    Goal { name: "churn", work: "readiness churn, 160 flips a second", go: "1.70 ms", figures: &[cpu_of_a_flip(0.17)] },
    Goal {
        name: "namespace",
        work: "start in one namespace",
        go: "40.2 s CPU, 750 MiB",
        figures: &[cpu(1.5), memory(40.0)],
    },
    Goal {
        name: "namespace-churn",
        work: "readiness churn in one namespace",
        go: "4.1 ms",
        figures: &[cpu_of_a_flip(0.17)],
    },
    Goal {
        name: "big",
        work: "start in the largest cluster",
        go: "about 3 GiB (extrapolated)",
        figures: &[memory(200.0)],
    },
    Goal {
        name: "latency-20",
        work: "readiness acknowledged to slice seen, 20 a second",
        go: "5.5 / 12.5 / 22 ms",
        figures: &[p50(3.3), p99(7.0), latest(10.0)],
    },
    Goal {
        name: "latency-100",
        work: "the same, 100 a second",
        go: "9.2 / 67 / 96 ms",
        figures: &[p50(3.3), p99(15.0), latest(30.0)],
    },
];

const HEADER: [&str; 7] = ["Work", "Cluster", "Go", "Goal", "Measured", "Met", "Scenario"];

impl Report {
    /// Returns date and machine, and a Markdown table with one row per measurement.
    pub(crate) fn table(&self) -> String {
        let Self { date, machine, controller, outcomes } = self;
        let date = date.strftime("%Y-%m-%d");
        let mut text = format!("Measured on {date} on {machine}; {controller}.\n\n");
        let rows = GOALS.iter().filter_map(|goal| row(goal, outcomes));
        let rule = HEADER.map(|_| "---".to_owned());
        for cells in [HEADER.map(str::to_owned), rule].into_iter().chain(rows) {
            // Writing to a string cannot fail.
            let _ = writeln!(text, "| {} |", cells.join(" | "));
        }
        text
    }

    pub(crate) fn json(&self) -> anyhow::Result<String> {
        Ok(serde_json::to_string_pretty(self)?)
    }
}

/// Returns the row of a measurement; `None` if it was not measured.
fn row(goal: &Goal, outcomes: &[Outcome]) -> Option<[String; 7]> {
    let runs: Vec<&Outcome> = outcomes.iter().filter(|it| it.name == goal.name).collect();
    let population = runs.first()?.population;
    let [pods, services, nodes] =
        [population.pods, population.services, population.nodes].map(|it| HumanCount(it as u64));
    let cell = |text: &dyn Fn(&Figure) -> String| goal.figures.iter().map(text).collect::<Vec<_>>().join("; ");
    let scenario = goal.name.split('-').next().unwrap_or_default();
    Some([
        goal.work.to_owned(),
        format!("{pods} Pods, {services} Services, {nodes} Nodes"),
        goal.go.to_owned(),
        cell(&Figure::limit),
        cell(&|it| it.range(&runs)),
        met(goal, &runs),
        format!("`{scenario}`"),
    ])
}

/// Returns in how many of the runs all figures are within their limits.
fn met(goal: &Goal, runs: &[&Outcome]) -> String {
    let met = runs.iter().filter(|run| goal.figures.iter().all(|it| it.is_met(run))).count();
    match (met, runs.len()) {
        (0, _) => "no".to_owned(),
        (met, all) if met == all => "yes".to_owned(),
        (met, all) => format!("{met} of {all}"),
    }
}
