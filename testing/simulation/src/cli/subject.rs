//! Selection of one run on the command line.

use std::fmt;
use std::path::PathBuf;

use anyhow::{Context as _, Result};
use clap::Args;
use kube_simulation::endpoints::{Histories, RecordedScenario, builtin_recordings, read_recordings, scenario};
use kube_simulation::{Outcome, Shrunk, Simulation, shrink, shrink_faults};

/// Default of `--length`: number of changes of a walk before they are reverted.
pub(super) const WALK_LENGTH: usize = 20;

/// Location of the recordings.
#[derive(Clone, Debug, Args)]
pub(super) struct Directory {
    /// Directory of recordings of a real cluster; by default, those that are built in.
    #[arg(long, value_name = "DIR")]
    recordings: Option<PathBuf>,
}

impl Directory {
    pub(super) fn read(&self) -> Result<Vec<RecordedScenario>> {
        match &self.recordings {
            Some(directory) => {
                read_recordings(directory).with_context(|| format!("cannot read {}", directory.display()))
            }
            None => builtin_recordings().context("cannot read the built-in recordings"),
        }
    }
}

/// One run: exactly one of the fields is set.
#[derive(Clone, Debug, Args)]
#[group(required = true, multiple = false)]
pub(super) struct Subject {
    /// Seed of a random run.
    seed: Option<u64>,
    /// Seed of a walk.
    #[arg(long, value_name = "SEED")]
    walk: Option<u64>,
    /// Name of a recorded scenario, such as core/rolling-update.
    #[arg(long, value_name = "NAME")]
    recording: Option<String>,
    /// Seed of a random history, run without faults.
    #[arg(long, value_name = "SEED")]
    history: Option<u64>,
    /// Number of a short history, in the order of `kube-simulation --exhaustive`, run without faults.
    #[arg(long, value_name = "NUMBER")]
    exhaustive: Option<usize>,
}

impl Subject {
    const NONE: Subject = Subject { seed: None, walk: None, recording: None, history: None, exhaustive: None };

    pub(super) fn walk(seed: u64) -> Subject {
        Subject { walk: Some(seed), ..Subject::NONE }
    }

    pub(super) fn recording(name: &str) -> Subject {
        Subject { recording: Some(name.to_owned()), ..Subject::NONE }
    }

    pub(super) fn history(seed: u64) -> Subject {
        Subject { history: Some(seed), ..Subject::NONE }
    }

    pub(super) fn exhaustive(number: usize) -> Subject {
        Subject { exhaustive: Some(number), ..Subject::NONE }
    }

    pub(super) fn simulation(&self, directory: &Directory, walk_length: usize) -> Result<Simulation> {
        Ok(match self {
            Subject { walk: Some(seed), .. } => scenario::walk(*seed, walk_length),
            Subject { history: Some(seed), .. } => scenario::history(*seed),
            Subject { exhaustive: Some(number), .. } => {
                // The number of a history does not depend on the maximum length.
                let acts = Histories::up_to(usize::MAX).nth(*number).unwrap_or_default();
                scenario::exhaustive(&acts)
            }
            Subject { recording: Some(name), .. } => {
                let scenarios = directory.read()?;
                let found = scenarios.iter().find(|scenario| scenario.name == *name);
                scenario::recorded(found.with_context(|| format!("there is no recorded scenario {name}"))?)
            }
            Subject { seed, .. } => scenario::random(seed.unwrap_or_default()),
        })
    }

    /// Reduces a failure of this run; of a walk, only the faults. `None` if the run is not deterministic.
    pub(super) fn shrink(&self, simulation: &Simulation, outcome: &Outcome) -> Option<Shrunk> {
        if self.walk.is_some() { shrink_faults(simulation, outcome) } else { shrink(simulation, outcome) }
    }
}

/// Formats the arguments of `replay` that select this run.
impl fmt::Display for Subject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Subject { walk: Some(seed), .. } => write!(f, "--walk {seed}"),
            Subject { history: Some(seed), .. } => write!(f, "--history {seed}"),
            Subject { exhaustive: Some(number), .. } => write!(f, "--exhaustive {number}"),
            Subject { recording: Some(name), .. } => write!(f, "--recording {name}"),
            Subject { seed, .. } => write!(f, "{}", seed.unwrap_or_default()),
        }
    }
}
