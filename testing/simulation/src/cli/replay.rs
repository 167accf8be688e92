//! `replay`: repeats one run and prints its timeline.

use std::io::Write as _;

use anyhow::{Context as _, Result, bail};
use clap::Args;
use kube_simulation::endpoints::{builtin_recordings, scenario};
use kube_simulation::{Outcome, Plan, Simulation, reduced, shrink};

/// Arguments of `replay`.
#[derive(Debug, Args)]
pub(crate) struct Replay {
    /// Seed of a random run.
    #[arg(required_unless_present = "recording", conflicts_with = "recording")]
    seed: Option<u64>,
    /// Name of a recorded scenario, such as core/rolling-update.
    #[arg(long, value_name = "NAME")]
    recording: Option<String>,
    /// Steps of the history to run, as comma-separated numbers starting at 0; all by default.
    #[arg(long, value_delimiter = ',')]
    steps: Option<Vec<usize>>,
    /// Faults to inject, in the format in which a reduced failure is printed; by default those of the original run.
    #[arg(long)]
    faults: Option<Plan>,
    /// Prints every request and event in full, including successful reads and bookmarks.
    #[arg(long)]
    full: bool,
}

impl Replay {
    pub(super) fn run(self) -> Result<bool> {
        let Replay { seed, recording, steps, faults, full } = self;
        // The subject, as the arguments that select it.
        let (subject, whole) = match (seed, recording) {
            (Some(seed), _) => (seed.to_string(), scenario::random(seed)),
            (None, recording) => {
                let name = recording.unwrap_or_default();
                let found = builtin_recordings()?.into_iter().find(|it| it.name == name);
                let found = found.with_context(|| format!("there is no recorded scenario {name}"))?;
                (format!("--recording {name}"), scenario::recorded(&found))
            }
        };
        let is_part = steps.is_some();
        let simulation = match (steps, faults) {
            (None, None) => whole,
            (steps, faults) => {
                let steps = steps.unwrap_or_else(|| (0..whole.steps.len()).collect());
                let plan = faults.unwrap_or_else(|| whole.run().plan);
                reduced(&whole, &steps, &plan)
            }
        };
        let outcome = simulation.run();
        if simulation.run() != outcome {
            bail!("two runs of {subject} differ: the simulation is not deterministic");
        }
        if outcome.violations.is_empty() || is_part {
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

fn smallest(subject: &str, simulation: &Simulation, outcome: &Outcome, full: bool) -> Result<bool> {
    let Some(shrunk) = shrink(simulation, outcome) else {
        bail!("{subject} passes with exactly the faults that it failed with: the simulation is not deterministic");
    };
    print(&shrunk.outcome, full)?;
    let steps: Vec<String> = shrunk.steps.iter().map(ToString::to_string).collect();
    let is_whole = shrunk.steps.len() == simulation.steps.len();
    let steps = if is_whole { String::new() } else { format!(" --steps '{}'", steps.join(",")) };
    writeln!(
        std::io::stdout(),
        "reduced from {} steps and {} faults to {} and {}, in {} runs; to replay it:\n  cargo run --release -p \
         kube-simulation -- replay {subject}{steps} --faults '{}'",
        simulation.steps.len(),
        outcome.plan.len(),
        shrunk.steps.len(),
        shrunk.plan.len(),
        shrunk.runs,
        shrunk.plan,
    )?;
    Ok(false)
}
