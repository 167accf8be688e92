//! Selection of one run on the command line.

use std::fmt;

use anyhow::{Context as _, Result};
use clap::Args;
use kube_simulation::Simulation;
use kube_simulation::endpoints::{builtin_recordings, scenario};

/// One run: exactly one of the fields is set.
#[derive(Clone, Debug, Args)]
#[group(required = true, multiple = false)]
pub(super) struct Subject {
    /// Seed of a random run.
    seed: Option<u64>,
    /// Name of a recorded scenario, such as core/rolling-update.
    #[arg(long, value_name = "NAME")]
    recording: Option<String>,
}

impl Subject {
    pub(super) fn recording(name: &str) -> Subject {
        Subject { seed: None, recording: Some(name.to_owned()) }
    }

    pub(super) fn simulation(&self) -> Result<Simulation> {
        let Some(name) = &self.recording else { return Ok(scenario::random(self.seed.unwrap_or_default())) };
        let scenarios = builtin_recordings()?;
        let found = scenarios.iter().find(|scenario| scenario.name == *name);
        Ok(scenario::recorded(found.with_context(|| format!("there is no recorded scenario {name}"))?))
    }
}

/// Formats the arguments of `replay` that select this run.
impl fmt::Display for Subject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.recording {
            Some(name) => write!(f, "--recording {name}"),
            None => write!(f, "{}", self.seed.unwrap_or_default()),
        }
    }
}
