//! `sieve`: one fault at each point of a history.

use std::io::Write as _;

use anyhow::Result;
use clap::Args;
use kube_simulation::endpoints::scenario;

use super::planned;
use super::subject::{Directory, Subject};
use super::{Batch, Seeds};

/// Arguments of `sieve`.
#[derive(Debug, Args)]
pub(crate) struct Sieve {
    #[command(flatten)]
    directory: Directory,
    /// Random histories in place of the recordings, as a half-open range of seeds.
    #[arg(long, value_name = "FROM..TO", conflicts_with = "recordings")]
    histories: Option<Seeds>,
    /// Runs the plans that pruning removes too.
    #[arg(long)]
    all: bool,
}

impl Sieve {
    pub(super) fn run(self, batch: Batch) -> Result<bool> {
        let mut runs = Vec::new();
        if let Some(Seeds { from, to }) = self.histories {
            runs.extend((from..to).map(|seed| (Subject::history(seed), scenario::history(seed))));
        } else {
            for recording in self.directory.read()? {
                match recording.unnoticed {
                    Some(reason) => writeln!(std::io::stdout(), "left out: {}: {reason}", recording.name)?,
                    None => runs.push((Subject::recording(&recording.name), scenario::recorded(&recording))),
                }
            }
        }
        planned::run(batch, &runs, self.all)
    }
}
