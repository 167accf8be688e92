//! `--exhaustive`: runs all short histories.

use anyhow::Result;
use clap::Args;
use kube_simulation::endpoints::{Histories, scenario};

use super::batch::{self, Batch};
use super::planned;
use super::subject::Subject;

/// Arguments of `--exhaustive`.
#[derive(Clone, Copy, Debug, Args)]
pub(crate) struct ShortHistories {
    /// Runs all short histories of a small cluster instead of seeds: two Services, three Pods, two endpoints per slice.
    #[arg(long, conflicts_with = "seeds")]
    pub(super) exhaustive: bool,
    /// Maximum length of a history, in changes.
    #[arg(long, default_value_t = 5, requires = "exhaustive")]
    depth: usize,
    /// Does not repeat the histories of up to three changes with faults.
    #[arg(long, requires = "exhaustive")]
    no_faults: bool,
}

/// Maximum length, in changes, of the histories that are repeated with faults.
const DEPTH_WITH_FAULTS: usize = 3;

impl ShortHistories {
    pub(super) fn run(self, batch: Batch) -> Result<bool> {
        let histories: Vec<_> = Histories::up_to(self.depth).collect();
        let short = histories.iter().take_while(|acts| acts.len() <= DEPTH_WITH_FAULTS && !self.no_faults).count();
        let runs: Vec<_> = histories[..short]
            .iter()
            .enumerate()
            .map(|(number, acts)| (Subject::exhaustive(number), scenario::exhaustive(acts)))
            .collect();
        let first = if runs.is_empty() { true } else { planned::run(batch, &runs, false)? };
        let long = &histories[short..];
        let job = |index: u64| {
            let index = usize::try_from(index).unwrap_or_default();
            (format!("replay {}", Subject::exhaustive(short + index)), scenario::exhaustive(&long[index]))
        };
        let count = u64::try_from(long.len()).unwrap_or(u64::MAX);
        Ok(batch::run(batch, count, job, |_, _| {})? && first)
    }
}
