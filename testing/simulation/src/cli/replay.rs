//! `replay`: repeats one run and prints its timeline.

use std::io::Write as _;

use anyhow::{Result, bail};
use clap::Args;
use kube_simulation::{Outcome, Plan, Simulation, reduced, shrink};

use super::subject::Subject;

/// Arguments of `replay`.
#[derive(Debug, Args)]
pub(crate) struct Replay {
    #[command(flatten)]
    subject: Subject,
    /// Steps of the history to run, as comma-separated numbers starting at 0; all by default.
    #[arg(long, value_delimiter = ',')]
    steps: Option<Vec<usize>>,
    /// Faults to inject, in the format in which a reduced failure is printed; by default those of the original run.
    #[arg(long)]
    faults: Option<Plan>,
    /// Prints every request and event in full, including successful reads and bookmarks.
    #[arg(long)]
    full: bool,
    /// Does not reduce a failure.
    #[arg(long)]
    no_shrink: bool,
}

impl Replay {
    pub(super) fn run(self) -> Result<bool> {
        let Replay { subject, steps, faults, full, no_shrink } = self;
        let whole = subject.simulation()?;
        let is_part = steps.is_some();
        let simulation = match (steps, faults) {
            (None, None) => whole,
            (steps, faults) => {
                let steps = steps.unwrap_or_else(|| (0..whole.steps.len()).collect());
                let plan = match faults {
                    Some(plan) => plan,
                    None => whole.run().plan,
                };
                reduced(&whole, &steps, &plan)
            }
        };
        let outcome = simulation.run();
        if simulation.run() != outcome {
            bail!("two runs of {subject} differ: the simulation is not deterministic");
        }
        if outcome.violations.is_empty() || no_shrink || is_part {
            return print(&outcome, full);
        }
        smallest(&subject, &simulation, &outcome, full)
    }
}

fn print(outcome: &Outcome, full: bool) -> Result<bool> {
    let mut out = std::io::stdout().lock();
    let text = if full { outcome.log.text() } else { outcome.log.timeline() };
    writeln!(out, "{text}")?;
    for violation in &outcome.violations {
        writeln!(out, "VIOLATION {violation}")?;
    }
    if let Some(after) = outcome.settled_after {
        writeln!(out, "settled {:.1} s after the last step or fault", after.as_secs_f64())?;
    }
    Ok(outcome.violations.is_empty())
}

fn smallest(subject: &Subject, simulation: &Simulation, outcome: &Outcome, full: bool) -> Result<bool> {
    let Some(shrunk) = shrink(simulation, outcome) else {
        bail!("{subject} passes with exactly the faults that it failed with: the simulation is not deterministic");
    };
    print(&shrunk.outcome, full)?;
    let steps: Vec<String> = shrunk.steps.iter().map(ToString::to_string).collect();
    let is_whole = shrunk.steps.len() == simulation.steps.len();
    let steps = if is_whole { String::new() } else { format!(" --steps '{}'", steps.join(",")) };
    let before = (simulation.steps.len(), outcome.plan.len());
    writeln!(
        std::io::stdout(),
        "reduced from {} steps and {} faults to {} and {}, in {} runs; to replay it:\n  cargo run --release -p \
         kube-simulation -- replay {subject}{steps} --faults '{}'",
        before.0,
        before.1,
        shrunk.steps.len(),
        shrunk.plan.len(),
        shrunk.runs,
        shrunk.plan,
    )?;
    Ok(false)
}
