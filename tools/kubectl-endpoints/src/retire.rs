//! `retire`: which Endpoints no program needs any more.

mod audit;
mod facts;
mod plan;
mod writes_of_history;

use std::process::ExitCode;

use crate::args::{GlobalArgs, RetireCommand};

/// Runs a subcommand.
pub(crate) async fn run(global: &GlobalArgs, command: &RetireCommand) -> anyhow::Result<ExitCode> {
    match command {
        RetireCommand::Plan(args) => Box::pin(plan::run(global, args)).await,
    }
}
