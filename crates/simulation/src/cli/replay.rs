//! `replay`: one run, in detail.

use std::io::Write as _;

use anyhow::{Result, bail};
use clap::Args;
use kube_simulation::endpoints::scenario;
use kube_simulation::{Outcome, Plan, Simulation, reduced, shrink};

/// Arguments of `replay`.
#[derive(Debug, Args)]
pub(crate) struct Replay {
    /// The seed.
    seed: u64,
    /// Steps of the history that are played, counted from 0; all by default.
    #[arg(long, value_delimiter = ',')]
    steps: Option<Vec<usize>>,
    /// Faults, as printed by a reduced failure; by default those that the seed draws.
    #[arg(long)]
    faults: Option<Plan>,
    /// Prints every request and event, reads and bookmarks included.
    #[arg(long)]
    full: bool,
    /// Does not reduce a failure.
    #[arg(long)]
    no_shrink: bool,
}

impl Replay {
    pub(super) fn run(self) -> Result<bool> {
        let Replay { seed, steps, faults, full, no_shrink } = self;
        let whole = scenario::random(seed);
        let is_part = steps.is_some() || faults.is_some();
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
            bail!("two runs of seed {seed} differ: the simulation is not deterministic");
        }
        if outcome.violations.is_empty() || no_shrink || is_part {
            return print(&outcome, full);
        }
        smallest(seed, &simulation, &outcome, full)
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

fn smallest(seed: u64, simulation: &Simulation, outcome: &Outcome, full: bool) -> Result<bool> {
    let Some(shrunk) = shrink(simulation, outcome) else {
        bail!("seed {seed} passes with exactly the faults that it failed with: the simulation is not deterministic");
    };
    print(&shrunk.outcome, full)?;
    let steps: Vec<String> = shrunk.steps.iter().map(ToString::to_string).collect();
    let before = (simulation.steps.len(), outcome.plan.len());
    writeln!(
        std::io::stdout(),
        "reduced from {} steps and {} faults to {} and {}, in {} runs; to replay it:\n  cargo run --release -p \
         kube-simulation -- replay {seed} --steps '{}' --faults '{}'",
        before.0,
        before.1,
        shrunk.steps.len(),
        shrunk.plan.len(),
        shrunk.runs,
        steps.join(","),
        shrunk.plan,
    )?;
    Ok(false)
}
