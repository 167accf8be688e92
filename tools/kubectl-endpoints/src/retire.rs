//! `retire`: which Endpoints no program needs any more, their deletion, and the way back.

mod apply;
mod audit;
mod backup_file;
mod cluster;
mod controller;
mod facts;
mod plan;
mod run;
mod undo;
mod watch_audit;
mod writes;
mod writes_of_history;

use std::process::ExitCode;

use crate::args::{GlobalArgs, RetireCommand};

/// Runs a subcommand.
pub(crate) async fn run(global: &GlobalArgs, command: &RetireCommand) -> anyhow::Result<ExitCode> {
    match command {
        RetireCommand::Plan(args) => Box::pin(plan::run(global, args)).await,
        RetireCommand::Apply(args) => Box::pin(apply::run(global, args)).await,
        RetireCommand::Undo(args) => Box::pin(undo::run(global, args)).await,
    }
}
