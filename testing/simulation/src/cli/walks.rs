//! `walks`: changes the configuration of a small cluster and reverts the changes.

use anyhow::Result;
use clap::Args;
use kube_simulation::endpoints::scenario;

use super::batch::{self, Batch};
use super::seeds::Seeds;
use super::subject::{Subject, WALK_LENGTH};

/// Arguments of `walks`.
#[derive(Debug, Args)]
pub(crate) struct Walks {
    /// Seeds to run, as a half-open range.
    #[arg(long, value_name = "FROM..TO", default_value = "0..1000")]
    seeds: Seeds,
    /// Number of changes before they are reverted.
    #[arg(long, default_value_t = WALK_LENGTH)]
    length: usize,
}

impl Walks {
    pub(super) fn run(self, batch: Batch) -> Result<bool> {
        let Walks { seeds: Seeds { from, to }, length } = self;
        let name = |seed: u64| {
            let subject = Subject::walk(seed);
            if length == WALK_LENGTH {
                format!("replay {subject}")
            } else {
                format!("replay {subject} --length {length}")
            }
        };
        let job = |index: u64| (name(from + index), scenario::walk(from + index, length));
        batch::run(batch, to - from, job, |_, _| {})
    }
}
