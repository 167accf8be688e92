//! `sieve`: repeats the recordings with one fault at each point.

use std::io::Write as _;

use anyhow::Result;
use clap::Args;
use kube_simulation::endpoints::{builtin_recordings, scenario};

use super::batch::Batch;
use super::planned;
use super::subject::Subject;

/// Arguments of `sieve`.
#[derive(Debug, Args)]
pub(crate) struct Sieve {
    /// Also runs the plans that pruning removes.
    #[arg(long)]
    all: bool,
}

impl Sieve {
    pub(super) fn run(self, batch: Batch) -> Result<bool> {
        let mut runs = Vec::new();
        for recording in builtin_recordings()? {
            match recording.unnoticed {
                Some(reason) => writeln!(std::io::stdout(), "skipped {}: {reason}", recording.name)?,
                None => runs.push((Subject::recording(&recording.name), scenario::recorded(&recording))),
            }
        }
        planned::run(batch, &runs, self.all)
    }
}
