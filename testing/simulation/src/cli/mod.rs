//! Command-line arguments and subcommands.

mod batch;
mod replay;

use std::io::Write as _;
use std::ops::Range;

use anyhow::Result;
use clap::{Parser, Subcommand};
use kube_simulation::endpoints::{builtin_recordings, scenario};
use kube_simulation::sieve::{Pattern, plans};
use kube_simulation::{Faults, Simulation};

use self::replay::Replay;

/// Simulates the endpoint controllers against an API server, with faults, in virtual time.
///
/// The exit status is 0 if every run passed, 1 if a run failed, and 2 on errors such as invalid arguments.
#[derive(Debug, Parser)]
#[command(version, args_conflicts_with_subcommands = true)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    command: Option<Command>,
    /// Seeds to run, as a half-open range.
    #[arg(long, value_name = "FROM..TO", default_value = "0..10000", value_parser = seeds)]
    seeds: Range<u64>,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Repeats one run, prints its timeline, and reduces a failure to few steps and faults.
    Replay(Replay),
    /// Repeats recorded histories with one fault at each point (after Sieve, OSDI 2022).
    Sieve,
}

impl Arguments {
    /// Executes the command. Returns whether every run passed.
    pub(crate) fn run(self) -> Result<bool> {
        match self.command {
            Some(Command::Replay(replay)) => replay.run(),
            Some(Command::Sieve) => sieve(),
            None => batch::run(self.seeds.map(|seed| (format!("replay {seed}"), move || scenario::random(seed)))),
        }
    }
}

fn seeds(text: &str) -> Result<Range<u64>, String> {
    let parse = || {
        let (from, to) = text.split_once("..")?;
        Some(from.parse().ok()?..to.parse().ok()?)
    };
    parse().filter(|it| !it.is_empty()).ok_or_else(|| "expected a range of seeds, such as 0..1000".to_owned())
}

/// Runs each recording without faults, and then under each plan of one fault for its log.
fn sieve() -> Result<bool> {
    let (mut calm, mut planned) = (Vec::new(), Vec::new());
    for recording in builtin_recordings()? {
        if let Some(reason) = recording.unnoticed {
            writeln!(std::io::stdout(), "skipped {}: {reason}", recording.name)?;
            continue;
        }
        let (name, simulation) = (format!("replay --recording {}", recording.name), scenario::recorded(&recording));
        let log = simulation.run().log;
        for plan in Pattern::ALL.iter().flat_map(|pattern| plans(&log, *pattern)) {
            let faults = Faults::Planned(plan.clone());
            planned.push((format!("{name} --faults '{plan}'"), Simulation { faults, ..simulation.clone() }));
        }
        calm.push((name, simulation));
    }
    batch::run(calm.into_iter().chain(planned).map(|(name, simulation)| (name, move || simulation)))
}
