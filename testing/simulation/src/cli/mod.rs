//! Command-line arguments and subcommands.

mod batch;
mod planned;
mod replay;
mod report;
mod seeds;
mod sieve;
mod subject;

use anyhow::Result;
use clap::{Parser, Subcommand};
use kube_simulation::endpoints::scenario;

use self::batch::Batch;
use self::replay::Replay;
use self::seeds::Seeds;
use self::sieve::Sieve;

/// Simulates the endpoint controllers against an API server, with faults, in virtual time.
///
/// The exit status is 0 if every run passed, 1 if a run failed, and 2 on errors such as invalid arguments.
#[derive(Debug, Parser)]
#[command(version, args_conflicts_with_subcommands = true)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    command: Option<Command>,
    /// Seeds to run, as a half-open range.
    #[arg(long, value_name = "FROM..TO", default_value = "0..10000")]
    seeds: Seeds,
    #[command(flatten)]
    batch: Batch,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Repeats one run, prints its timeline, and reduces a failure to few steps and faults.
    Replay(Replay),
    /// Repeats recorded histories with one fault at each point (after Sieve, OSDI 2022).
    Sieve(Sieve),
}

impl Arguments {
    /// Executes the command. Returns whether every run passed.
    pub(crate) fn run(self) -> Result<bool> {
        match self.command {
            Some(Command::Replay(replay)) => replay.run(),
            Some(Command::Sieve(sieve)) => sieve.run(self.batch),
            None => {
                let Seeds { from, to } = self.seeds;
                let job = |index: u64| (format!("replay {}", from + index), scenario::random(from + index));
                batch::run(self.batch, to - from, job, |_, _| {})
            }
        }
    }
}
