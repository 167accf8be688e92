//! `sieve`: repeats histories with one fault at each point.

use std::io::Write as _;

use anyhow::Result;
use clap::Args;
use kube_simulation::endpoints::scenario;

use super::batch::Batch;
use super::planned;
use super::seeds::Seeds;
use super::subject::{Directory, Subject};

/// Arguments of `sieve`.
#[derive(Debug, Args)]
pub(crate) struct Sieve {
    #[command(flatten)]
    directory: Directory,
    /// Runs random histories of these seeds, a half-open range, instead of the recordings.
    #[arg(long, value_name = "FROM..TO", conflicts_with = "recordings")]
    histories: Option<Seeds>,
    /// Also runs the plans that pruning removes.
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
                    Some(reason) => writeln!(std::io::stdout(), "skipped {}: {reason}", recording.name)?,
                    None => runs.push((Subject::recording(&recording.name), scenario::recorded(&recording))),
                }
            }
        }
        planned::run(batch, &runs, self.all)
    }
}
